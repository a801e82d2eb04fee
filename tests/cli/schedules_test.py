#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Algorithms as schedule files: written, checked with the call's own counts, written again byte for byte, run, and replayed
in the call's time: from the file, and as the algorithm `schedule` at its block size.

usage: schedules_test.py PROGRAM [NETWORK..|--random COUNT]

Without networks: one algorithm of each operation, and 30 random calls. With them: every algorithm that applies.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

SAME = "steps startups messages max_hops link_load_max".split()
IN_BYTES = "transmission_bytes link_bytes combined_bytes rearranged_bytes total_bytes byte_hops".split()
BYTES = 484  # no whole number of parts for most algorithms
NETWORKS = """ring:4 ring:6 ring:7 line:3 line:8 torus:2x5 torus:4x4 mesh:3x4 mesh:2x3x2 hypercube:3 hypercube:4 complete:6 ghc:3x2
tree:8 petersen star:5 torus:3x3x2""".split()


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


def written(program, operation, network, algorithm, size, what):
    """The file of a call: its name, whether its messages have the call's sizes, and its check's results, which must have the
    call's counts. None if its values cannot be named, or the algorithm does not take these arguments."""
    file, sizes = (os.path.join(program.folder, name) for name in ("schedule.txt", "sizes.txt"))
    words = ["show", operation, "--on", network, "--algorithm", algorithm, "--bytes", str(size), *call_of(operation),
             *data_of(operation), "--quiet", "--write-schedule"]
    done = program.run([*words, file])
    if done.returncode == 2 and ("cannot name" in done.stderr or "root" in done.stderr):
        return None
    require(done.returncode == 0, what, done.stderr)
    done = program.run([*words, sizes, "--without-names"])
    require(done.returncode == 0, what, done.stderr)
    checked, = program.rows(["check", "--schedule", file])
    counted, = program.rows(["check", "--schedule", sizes])
    with open(file, "rb") as opened:
        lines = opened.read().decode().splitlines()
    block = next((int(line.split()[1]) for line in lines if line.startswith("block ")), None)
    require(block == (None if operation == "barrier" or operation.endswith("v") else size), f"{what}: block {block}, not {size}")
    is_exact = sum(line.startswith("about ") for line in lines) == 1
    for name in [*SAME, *(IN_BYTES if is_exact else ())]:
        require(checked[name] == counted[name], f"{what}: {name} {checked[name]}, without names {counted[name]}")
    if not is_exact:  # parts of parts, each at most an element more or fewer
        require(abs(checked["total_bytes"] - counted["total_bytes"]) <= 64 * counted["messages"], what)
    return file, is_exact, checked


def replayed(program, words):
    row, = program.rows(["replay", *words, "--messages", "off"])
    return row["time_ps"]


def same_times(program, rng):
    """A random call: its replayed time is that of its file, and of the algorithm `schedule` at its block size. Half of the calls
    permute blocks, if they can. Returns None if there is no file of exactly this call, else the bytes that it permutes."""
    network = rng.choice(NETWORKS)
    operation = rng.choice([*program.operations, *["alltoall"] * 10])
    rows = [row for row in program.rows(["list", operation, "--on", network, *data_of(operation)]) if row["admitted"]]
    permuting = [row for row in rows if (row["predicted"]["rearranged_blocks"] or 0) > 0]
    row = rng.choice(permuting if permuting and rng.randrange(2) else rows)
    algorithm = ":".join([row["algorithm"], *(f"{name}={value}" for name, value in row["chosen_options"].items())])
    size = rng.choice((rng.randrange(1, 40), rng.randrange(1, 4000))) * (4 if data_of(operation) else 1)
    what = f"{operation} {algorithm} on {network}, {size} B"
    found = written(program, operation, network, algorithm, size, what)
    if found is None or not found[1]:
        return None
    sized = [] if operation == "barrier" else ["--bytes", str(size)]
    call = [operation, "--on", network, "--algorithm", algorithm, *sized, *call_of(operation), *data_of(operation)]
    time = replayed(program, call)
    ports = ["--ports", row["ports"]]
    of_file = replayed(program, ["--schedule", found[0], *ports])
    require(of_file == time, f"{what}: replayed {time} ps, from its file {of_file} ps")
    if operation not in ("alltoallv", "barrier"):
        as_algorithm = replayed(program, [operation, "--schedule", found[0], "--algorithm", "schedule", *sized, *ports, *call_of(operation),
                                          *data_of(operation)])
        require(as_algorithm == time, f"{what}: replayed {time} ps, as the algorithm `schedule` {as_algorithm} ps")
    return found[2]["rearranged_bytes"]


def walk(program, counted):
    """An algorithm's schedule, from its check's results. Returns whether it could be written."""
    operation, network = counted["operation"], counted["topology"]
    what = f"{operation} {counted['algorithm']} on {network}"
    again = os.path.join(program.folder, "again.txt")
    found = written(program, operation, network, counted["algorithm"], BYTES, what)
    if found is None:
        return False
    file, _, checked = found
    require(checked["operation"] == operation and checked["delivered"] is True and checked["passed"] is True, what, checked)
    for name in SAME:
        require(checked[name] == counted[name], f"{what}: {name} {checked[name]}, without the file {counted[name]}")
    with open(file, "rb") as opened:
        text = opened.read()
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
    arguments = sys.argv[2:]
    is_random = arguments[:1] == ["--random"]
    networks = [] if is_random else arguments
    with tempfile.TemporaryDirectory() as folder:
        program = Program(os.path.abspath(sys.argv[1]), folder)
        program.operations = sorted({row["operation"] for row in program.rows(["list"])})
        written_calls, unnamed, compared = 0, [], 0
        if not networks:
            calls = int(arguments[1]) if is_random else 30
            rng = random.Random(51)
            permuted = [same_times(program, rng) for _ in range(calls)]
            compared = sum(each is not None for each in permuted)
            require(compared >= calls * 2 // 3, f"{compared} of {calls} random calls were compared")
            require(any(permuted), "no random call permutes blocks")
        for network in networks or ["mesh:2x3"] * (not is_random):
            for operation in program.operations:
                sized = [] if operation == "barrier" else ["--bytes", str(BYTES)]
                words = ["check", operation, "--on", network, *sized, *call_of(operation), *data_of(operation)]
                for counted in program.rows([*words, "--algorithm", "all"]):
                    if walk(program, counted):
                        written_calls += 1
                        if not networks:
                            break
                    else:
                        unnamed.append(f"{operation} {counted['algorithm']} on {network}")
        require(is_random or written_calls >= len(program.operations), f"{written_calls} schedules of {len(program.operations)} operations")
    print(f"{written_calls} schedules written, checked, written again and run; {compared} random calls replayed; "
          f"cannot be named: {', '.join(unnamed) or 'none'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
