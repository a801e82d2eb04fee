#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Algorithms as schedule files: written, checked with the counts of `check OPERATION`, written again byte for byte, and run.

usage: schedules_test.py PROGRAM [NETWORK..]

Without networks: one algorithm of each operation. With them: every algorithm that applies.
"""
import json
import os
import subprocess
import sys
import tempfile

SAME = "steps startups messages max_hops link_load_max".split()
IN_BYTES = {"transmission_bytes": "transmission_blocks", "link_bytes": "link_blocks", "combined_bytes": "combined_blocks",
            "rearranged_bytes": "rearranged_blocks", "total_bytes": "total_blocks", "byte_hops": "block_hops"}


def require(condition, what, evidence=""):
    if not condition:
        raise SystemExit(f"schedules_test.py: {what}\n{evidence}")


class Program:
    def __init__(self, program, folder):
        self.program = program
        self.folder = folder

    def run(self, words):
        return subprocess.run([self.program, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding="utf-8", check=False)

    def rows(self, words):
        """The results of a command, which must pass."""
        done = self.run([*words, "--quiet", "--json", "-"])
        require(done.returncode == 0, f"{' '.join(words)}: exit code {done.returncode}", done.stderr + done.stdout[-2000:])
        found = json.loads(done.stdout)
        return found if isinstance(found, list) else [found]


def call_of(operation):
    """Arguments other than the defaults."""
    words = []
    if operation.startswith("k_"):
        words += ["--sources", "0,2"]
    if operation.rstrip("v") in ("broadcast", "reduce", "gather", "scatter"):
        words += ["--root", "1"]
    return words


def data_of(operation):
    return ["--type", "int32"] if operation.removeprefix("k_").startswith(("reduce", "allreduce", "scan", "exscan")) else []


def walk(program, counted):
    """An algorithm's schedule, from its check's results. Returns whether it could be written."""
    operation, network = counted["operation"], counted["topology"]
    what = f"{operation} {counted['algorithm']} on {network}"
    file, again = (os.path.join(program.folder, name) for name in ("schedule.txt", "again.txt"))
    words = ["show", operation, "--on", network, "--algorithm", counted["algorithm"], "--bytes", "480", *call_of(operation),
             *data_of(operation), "--quiet", "--write-schedule", file]
    done = program.run(words)
    if done.returncode == 2 and "cannot be named" in done.stderr:
        return False
    require(done.returncode == 0, what, done.stderr)
    checked, = program.rows(["check", "--schedule", file])
    require(checked["operation"] == operation and checked["delivered"] is True and checked["passed"] is True, what, checked)
    for name in SAME:
        require(checked[name] == counted[name], f"{what}: {name} {checked[name]}, without the file {counted[name]}")
    with open(file, "rb") as opened:
        text = opened.read()
    block = next((int(line.split()[1]) for line in text.decode().splitlines() if line.startswith("block ")), None)
    require(block or operation == "barrier" or operation.endswith("v"), f"{what}: no size of a block")
    for name, blocks in IN_BYTES.items() if block else ():
        require(abs(checked[name] / block - counted[blocks]) < 1e-9,
                f"{what}: {name} {checked[name]} in blocks of {block}, without the file {counted[blocks]} blocks")
    done = program.run(["show", "--schedule", file, "--quiet", "--write-schedule", again])
    with open(again, "rb") as opened:
        require(done.returncode == 0 and opened.read() == text, f"{what}: written again, it differs", done.stderr)
    if operation == "alltoallv":  # whose sizes only two nodes know
        return True
    for executor, size in (("threads", "4000"), ("fibers", "44")):
        sizes = [] if operation == "barrier" else ["--bytes", size]
        for row in program.rows(["run", "--schedule", file, "--executor", executor, "--iterations", "1", "--warmup", "0", *sizes,
                                 *data_of(operation)]):
            require(row["algorithm"] == "schedule" and row["wrong"] == 0 and row["passed"] is True, f"{what}: {executor}", row)
    return True


def main():
    networks = sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        program = Program(os.path.abspath(sys.argv[1]), folder)
        listed = program.rows(["list"])
        operations = sorted({row["operation"] for row in listed})
        written, unnamed = 0, []
        for network in networks or ["mesh:2x3"]:
            for operation in operations:
                words = ["check", operation, "--on", network, *call_of(operation), *data_of(operation)]
                for counted in program.rows([*words, "--algorithm", "all"]):
                    if walk(program, counted):
                        written += 1
                        if not networks:
                            break
                    else:
                        unnamed.append(f"{operation} {counted['algorithm']} on {network}")
        require(written >= len(operations), f"{written} schedules of {len(operations)} operations")
    print(f"{written} schedules written, checked, written again and run; cannot be named: {', '.join(unnamed) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
