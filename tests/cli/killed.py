#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills a sweep at random moments, with every signal that ends a process: every row of the table must be in the
JSON, JSON lines and CSV, and these whole.

usage: killed.py PROGRAM [TIMES, default 5] [SEED, default 1]
"""
import csv
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

NETWORKS = "torus:4x4,mesh:4x4,hypercube:4,ring:6,ring:4*line:3"
# Those that the program tells of; the others end it where it stands.
TOLD = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU]
DUMPS = [signal.SIGQUIT, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL]  # told, then by the signal
OTHERS = [signal.SIGKILL, signal.SIGALRM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGVTALRM, signal.SIGPROF, signal.SIGSYS,
          signal.SIGTRAP, signal.SIGIO]


def rows_of(table):
    """Network, algorithm and block size of each row; what the last line lacks it was killed in."""
    rows = []
    for line in table.splitlines():
        if line.startswith("  "):
            words = line.split()
            rows.append((words[0], words[1], int(words[2])))
    return rows


def key(result):
    return result["topology"], result["algorithm"], result["block_bytes"]


def shown(cell, value):
    """Long names are cut in the middle in the table, and have options there."""
    if not isinstance(cell, str):
        return cell == value
    head, dots, tail = cell.partition("..")
    return value.split(":")[0].startswith(head.split(":")[0]) and (not dots or ":" in head or ":" in tail or value.endswith(tail))


def require(condition, what, evidence=""):
    if not condition:
        raise SystemExit(f"killed.py: {what}\n{evidence}")


def kill_once(program, folder, number, generator, span):
    files = {kind: f"{folder}/{number}.{kind}" for kind in ("json", "jsonl", "csv")}
    with open(files["jsonl"], "w", encoding="utf-8") as stale:
        stale.write('{"of": "an earlier run"}\n')
    arguments = [program, "run", "alltoall", "--on", NETWORKS, "--algorithm", "all", "--bytes", "64,1K", "--iterations",
                 "2", "--nodes-as", generator.choice(["threads", "fibers"])]
    arguments += [word for kind, file in files.items() for word in (f"--{kind}", file)]
    stop = generator.choice(generator.choice([TOLD, DUMPS, OTHERS]))
    delay = generator.uniform(0, span)
    start = time.monotonic()
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
    try:
        out, err = process.communicate(timeout=delay)
    except subprocess.TimeoutExpired:
        process.send_signal(stop)
        out, err = process.communicate(timeout=60)
    code = process.returncode
    took = time.monotonic() - start
    told = f"run {number}: {stop.name} after {delay:.3f} s: exit code {code}\n{err}\n{out[-2000:]}"
    allowed = (0, -stop, 128 + stop) if stop in TOLD else (0, -stop)
    require(code in allowed, "the exit code is neither 0 nor that of the signal", told)
    printed = rows_of(out)
    if code == -stop and stop in TOLD:  # before the program was there to wait for it
        require(not printed, "killed by the signal itself, with rows printed", told)
    if code == 128 + stop or (code == -signal.SIGQUIT and printed):
        require(f"stopped by {stop.name}" in err, "no word about the signal", told)
    if not os.path.exists(files["json"]):  # the sweep had not begun
        require(not printed, "rows are printed, and there is no JSON", told)
        return 0, took, code
    with open(files["json"], encoding="utf-8") as file:
        results = json.load(file)
    kept = [key(result) for result in results if "status" not in result]
    with open(files["jsonl"], encoding="utf-8") as file:
        text = file.read()
    require(text == "" or text.endswith("\n"), "the last JSON line is not complete", told)
    if "earlier run" in text:
        require(not kept, "the JSON has rows, JSON lines are those of an earlier run", told)
        text = ""
    lines = [key(result) for result in map(json.loads, text.splitlines()) if "status" not in result]
    table = []
    if os.path.exists(files["csv"]):
        with open(files["csv"], newline="", encoding="utf-8") as file:
            table = [row for row in csv.DictReader(file) if not row.get("status")]
    columns = [(row["topology"], row["algorithm"], int(row["block_bytes"])) for row in table]
    require(all(None not in row and None not in row.values() for row in table), "a line of the CSV is cut", told)
    def agree(rows, what):
        """What ends the program at once, or stops the thread that writes, may do so between the table and a file: one row."""
        slack = 1 if code == -stop and stop in OTHERS + DUMPS else 0
        require(len(printed) - slack <= len(rows) <= len(printed),
                f"the table has {len(printed)} rows, {what} {len(rows)}", told)
        require(all(shown(cut, whole) for row, result in zip(printed, rows) for cut, whole in zip(row, result)),
                f"the table and {what} have other rows", told)
    agree(kept, "the JSON")
    agree(lines, "JSON lines")
    agree(columns, "the CSV")
    left = sorted(name for name in os.listdir(folder) if name.startswith(f"{number}.") and ".~" in name)
    require(not left or code == -stop, f"left behind: {left}", told)
    return len(kept), took, code


def refused(program, folder, what, arguments, limit=None):
    """A file that cannot take all: what it has is whole, the other file has every row, and the program says which."""
    json_file, csv_file = f"{folder}/limit.json", f"{folder}/limit.csv"
    process = subprocess.run([program, "run", "barrier", "--on", "ring:2,ring:3,ring:4,ring:5,ring:6,ring:7,ring:8",
                              "--algorithm", "all", "--iterations", "1", "--json", json_file, "--csv", csv_file, *arguments],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False,
                             preexec_fn=(lambda: resource.setrlimit(*limit)) if limit else None)
    told = f"{what}: exit code {process.returncode}\n{process.stderr}\n{process.stdout}"
    require(process.returncode == 2 and "cannot write" in process.stderr, "a file that is full is not told", told)
    with open(json_file, encoding="utf-8") as file:
        kept = json.load(file)
    with open(csv_file, newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    printed = [line for line in process.stdout.splitlines() if line.startswith("  ")]
    require(0 < len(kept) == len(printed) - 1, f"{len(printed)} rows, {len(kept)} results", told)
    require(len(lines) == len(printed), f"{len(printed)} rows, {len(lines)} lines of CSV", told)
    require(all(None not in row.values() for row in lines), "a line of the CSV is cut", told)


def piped(program, folder):
    """Nobody reads on: the files have the whole sweep."""
    file = f"{folder}/piped.json"
    process = subprocess.Popen([program, "run", "barrier", "--on", "ring:2,ring:3,ring:4", "--algorithm", "all", "--json", file],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    process.stdout.readline()
    process.stdout.close()
    err = process.stderr.read()
    code = process.wait(timeout=60)
    with open(file, encoding="utf-8") as text:
        rows = len(json.load(text))
    require(code in (0, 141) and rows == 9, f"a pipe that is closed: exit code {code}, {rows} rows", err)


def main():
    program = sys.argv[1]
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    generator = random.Random(seed)
    span, kept, codes = 4.0, [], {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(times):
            rows, took, code = kill_once(program, folder, number, generator, span)
            if code == 0:  # finished: kill the next ones earlier
                span = max(0.2, 0.9 * took)
            kept.append(rows)
            codes[code] = codes.get(code, 0) + 1
        refused(program, folder, "a file size limit", [], (resource.RLIMIT_FSIZE, (30000, 30000)))
        piped(program, folder)
    print(f"{times} runs, seed {seed}: {sum(kept)} rows kept, at most {max(kept)} in one run; exit codes "
          + ", ".join(f"{code}: {count} times" for code, count in sorted(codes.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
