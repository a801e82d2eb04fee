#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills a sweep at random moments: every row of the table must be in the JSON, JSON lines and CSV, all complete.

usage: killed.py PROGRAM [TIMES, default 5] [SEED, default 1]
"""
import csv
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

NETWORKS = "torus:4x4,mesh:4x4,hypercube:4,ring:6,ring:4*line:3"
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


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
    """Long names are cut in the table."""
    return value.startswith(cell[:-2]) if isinstance(cell, str) and cell.endswith("..") else cell == value


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
    stop = generator.choice([signal.SIGINT, signal.SIGTERM])
    delay = generator.uniform(0, span)
    start = time.monotonic()
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")
    try:
        out, err = process.communicate(timeout=delay)
    except subprocess.TimeoutExpired:
        process.send_signal(stop)
        out, err = process.communicate(timeout=60)
    code = process.returncode
    took = time.monotonic() - start
    told = f"run {number}: {stop.name} after {delay:.3f} s: exit code {code}\n{err}\n{out[-2000:]}"
    if code in (-stop,):  # before the program was there to wait for it
        require(out == "", "killed by the signal itself, with rows printed", told)
        return 0, took, code
    require(code in (0, CODES[stop]), "the exit code is neither 0 nor that of the signal", told)
    if code != 0:
        require(f"stopped by {stop.name}" in err, "no word about the signal", told)
    printed = rows_of(out)
    if not os.path.exists(files["json"]):  # the sweep had not begun
        require(not printed, "rows are printed, and there is no JSON", told)
        return 0, took, code
    with open(files["json"], encoding="utf-8") as file:
        kept = [key(result) for result in json.load(file)]
    with open(files["jsonl"], encoding="utf-8") as file:
        text = file.read()
    require(text == "" or text.endswith("\n"), "the last JSON line is not complete", told)
    lines = [key(json.loads(line)) for line in text.splitlines()]
    with open(files["csv"], newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    columns = [(row["topology"], row["algorithm"], int(row["block_bytes"])) for row in table]
    require(all(None not in row and None not in row.values() for row in table), "a line of the CSV is cut", told)
    names = [(network, text.split(":")[0], size) for network, text, size in printed]
    alike = len(names) == len(kept) and all(shown(cut, whole) for row, result in zip(names, kept) for cut, whole in zip(row, result))
    require(alike, f"the table has {len(names)} rows, the JSON {len(kept)} results", told)
    require(lines == kept, f"{len(lines)} JSON lines, the JSON has {len(kept)} results", told)
    require(columns == kept, f"{len(columns)} lines of CSV, the JSON has {len(kept)} results", told)
    return len(kept), took, code


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
    print(f"{times} runs, seed {seed}: {sum(kept)} rows kept, at most {max(kept)} in one run; exit codes "
          + ", ".join(f"{code}: {count} times" for code, count in sorted(codes.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
