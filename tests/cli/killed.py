#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends signals at random moments to commands that write JSON, JSON lines and CSV: every finished row must be in each
file, every file whole, and nothing left beside them. Standard output or standard error may be closed, full, a pipe
whose reader has gone, or a full pipe that nobody reads, in which a write waits.

usage: killed.py PROGRAM [SIGNALS, default 30 or $WORMCUBE_SIGNALS] [SEED, default 1]
"""
import collections
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
SWEEPS = {  # their rows, and how many words of a row of the table name it
    "run": f"run alltoall --on {NETWORKS} --algorithm all --bytes 64,1K --iterations 2 --executor fibers",
    "run on threads": f"run alltoall --on {NETWORKS} --algorithm all --bytes 64,1K --iterations 2 --executor threads",
    "check": f"check alltoall --on {NETWORKS},torus:8x8,torus:12x12,hypercube:7 --algorithm all",
}
OBJECTS = {  # those that give one object
    "fft": "fft --on torus:4x4 --shape 65536 --iterations 60",
    "sort": "sort --on torus:4x4 --count 400000 --iterations 20",
}
# The program ends by itself after these, with 128 + signal.
HANDLED = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF,
           signal.SIGUSR1, signal.SIGUSR2, signal.SIGIO, signal.SIGPWR, signal.SIGSTKFLT]
# These end it, when all is written: they leave a core dump.
DUMPS = [signal.SIGQUIT, signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS]
SIGNALS = [*HANDLED, *DUMPS, signal.SIGKILL]
STREAMS = ["read", "read", "read", "closed", "full", "broken", "stuck"]


def rows_of(table, words):
    """Network, algorithm and block size of each row; what the last line lacks it was killed in."""
    return [tuple(line.split()[:words]) for line in table.splitlines() if line.startswith("  ")]


def key(result, words):
    return tuple(str(result[name]) for name in ("topology", "algorithm", "block_bytes")[:words])


def shown(cell, value):
    """Long names are cut in the middle in the table, and have options there."""
    head, dots, tail = cell.partition("..")
    return value.split(":")[0].startswith(head.split(":")[0]) and (not dots or ":" in head or ":" in tail or value.endswith(tail))


def require(condition, what, evidence=""):
    if not condition:
        raise SystemExit(f"killed.py: {what}\n{evidence}")


def stream(kind):
    """What a standard stream is given, what is to be closed here when the program has it, and what when it has ended."""
    if kind == "read":
        return subprocess.PIPE, [], []
    if kind == "full":
        full = os.open("/dev/full", os.O_WRONLY)
        return full, [full], []
    if kind == "broken":
        end, write = os.pipe()
        os.close(end)
        return write, [write], []
    if kind == "stuck":
        end, write = os.pipe()
        os.set_blocking(write, False)
        try:
            while True:
                os.write(write, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(write, True)
        return write, [write], [end]
    return subprocess.DEVNULL, [], []  # closed in the child


def kill_once(program, folder, number, generator, spans):
    """The signal, whether it has met the program, and how many rows or objects are kept."""
    name = generator.choice([*SWEEPS, *OBJECTS])
    sweeps = name in SWEEPS
    files = {kind: f"{folder}/{number}.{kind}" for kind in ("json", "jsonl", "csv")}
    with open(files["jsonl"], "w", encoding="utf-8") as stale:
        stale.write('{"of": "an earlier run"}\n')
    arguments = [program, *(SWEEPS | OBJECTS)[name].split()]
    arguments += [word for kind, file in files.items() for word in (f"--{kind}", file)]
    stop = generator.choice(SIGNALS)
    kinds = {"stdout": generator.choice(STREAMS), "stderr": "read"}
    if kinds["stdout"] == "read":
        kinds["stderr"] = generator.choice(STREAMS)
    given = {where: stream(kind) for where, kind in kinds.items()}

    def prepare():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it would be ignored
        for descriptor, where in ((1, "stdout"), (2, "stderr")):
            if kinds[where] == "closed":
                os.close(descriptor)

    delay = generator.uniform(0, spans[name])
    start = time.monotonic()
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, encoding="utf-8", preexec_fn=prepare,
                               **{where: end for where, (end, _, _) in given.items()})
    for _, ends, _ in given.values():
        for end in ends:
            os.close(end)
    try:
        out, err = process.communicate(timeout=delay)
    except subprocess.TimeoutExpired:
        process.send_signal(stop)
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise SystemExit(f"killed.py: {name}: goes on 60 s after {stop.name} ({kinds})") from None
    code = process.returncode
    for _, _, ends in given.values():
        for end in ends:
            os.close(end)
    spans[name] = max(0.2, 0.9 * (time.monotonic() - start)) if code in (0, 2, 141) else spans[name]
    out, err = out or "", err or ""
    report = f"{number}: {name}, {stop.name} after {delay:.3f} s, {kinds}: exit code {code}\n{err}\n{out[-2000:]}"
    ends = {0} if kinds["stdout"] in ("read", "broken") else {2}  # without the signal
    if "stuck" in kinds.values():
        ends = {0} if kinds["stdout"] == "read" else set()  # a command may have nothing to say on standard error
    if kinds["stdout"] == "broken":
        ends.add(141)
    require(code in ends | {-stop} | ({128 + stop} if stop in HANDLED else set()), "the exit code is not that of the signal", report)
    met = code == 128 + stop if stop in HANDLED else code == -stop
    left = sorted(file for file in os.listdir(folder) if file.startswith(f"{number}.") and ".~" in file)
    require(not left or stop == signal.SIGKILL, f"left behind: {left}", report)
    words = 2 if name == "check" else 3
    printed = rows_of(out, words) if sweeps and kinds["stdout"] == "read" else None
    if code == -stop and stop in HANDLED:  # before the program was there to wait for it
        require(not printed and not os.path.exists(files["json"]), "ended by the signal itself, with results", report)
    if code == 128 + stop and kinds["stderr"] == "read":
        require(f"stopped by {stop.name.replace('SIGIO', 'SIGPOLL')}" in err or f"stopped by {stop.name}" in err,
                "no word about the signal", report)

    kept = {}
    for kind, file in files.items():
        kept[kind] = None
        if not os.path.exists(file):
            continue
        with open(file, newline="", encoding="utf-8") as opened:
            text = opened.read()
        if kind == "json":
            document = json.loads(text)
            kept[kind] = document if isinstance(document, list) else [document]
        elif kind == "jsonl":
            require(text == "" or text.endswith("\n"), "the last JSON line is not complete", report)
            if "earlier run" not in text:
                kept[kind] = [json.loads(line) for line in text.splitlines()]
        else:
            require(text == "" or text.endswith("\n"), "the last line of the CSV is not complete", report)
            kept[kind] = list(csv.DictReader(text.splitlines()))
            require(all(None not in row and None not in row.values() for row in kept[kind]), "a line of the CSV is cut", report)
    slack = 1 if stop == signal.SIGKILL else 0  # it may come between the table and a file, or between two files
    counts = {}
    for kind, results in kept.items():
        rows = [result for result in results or [] if not result.get("status")]
        counts[kind] = len(rows)
        if printed is None:
            continue
        require(len(printed) - slack <= len(rows) <= len(printed), f"the table has {len(printed)} rows, {kind} {len(rows)}", report)
        require(all(shown(cut, whole) for row, result in zip(printed, rows) for cut, whole in zip(row, key(result, words))),
                f"the table and {kind} have other rows", report)
    most, least = max(counts.values()), min(counts.values())
    require(most - least <= slack, f"files differ: {counts}", report)
    if code in ends:
        require(least > 0, f"ended by itself, with files that lack results: {counts}", report)
    return stop, met, most


def refused(program, folder, what, arguments, limit=None):
    """A file that cannot take all: what it has is whole, the other file has every row, and the program says which."""
    json_file, csv_file = f"{folder}/limit.json", f"{folder}/limit.csv"
    process = subprocess.run([program, "run", "barrier", "--on", "ring:2,ring:3,ring:4,ring:5,ring:6,ring:7,ring:8",
                              "--algorithm", "all", "--iterations", "1", "--json", json_file, "--csv", csv_file, *arguments],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", check=False,
                             preexec_fn=(lambda: resource.setrlimit(*limit)) if limit else None)
    report = f"{what}: exit code {process.returncode}\n{process.stderr}\n{process.stdout}"
    require(process.returncode == 2 and "cannot write" in process.stderr, "a file that is full is not reported", report)
    with open(json_file, encoding="utf-8") as file:
        kept = json.load(file)
    with open(csv_file, newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    printed = [line for line in process.stdout.splitlines() if line.startswith("  ")]
    require(0 < len(kept) == len(printed) - 1, f"{len(printed)} rows, {len(kept)} results", report)
    require(len(lines) == len(printed), f"{len(printed)} rows, {len(lines)} lines of CSV", report)
    require(all(None not in row.values() for row in lines), "a line of the CSV is cut", report)


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
    signals = int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get("WORMCUBE_SIGNALS", "30"))
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    generator = random.Random(seed)
    spans = {name: 4.0 for name in [*SWEEPS, *OBJECTS]}
    hits, kept = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(signals):
            stop, met, rows = kill_once(program, folder, number, generator, spans)
            hits[stop.name] += met
            kept += rows
        refused(program, folder, "a file size limit", [], (resource.RLIMIT_FSIZE, (30000, 30000)))
        piped(program, folder)
    print(f"{signals} runs, seed {seed}: {sum(hits.values())} ended by their signals, {kept} rows and objects kept; "
          + ", ".join(f"{name} {count}" for name, count in sorted(hits.items()) if count > 0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
