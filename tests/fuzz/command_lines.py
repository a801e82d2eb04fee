#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a program `wormcube` with random command lines and mutated files; exit codes must be the documented ones.

usage: command_lines.py PROGRAM [--count N] [--seed S] [--seconds LIMIT_OF_ONE] [--jobs J]

Complements the fuzz targets, which call the readers and main() in one process: here processes end, write
files, meet limits. Best with a program that was built with sanitizers. Each line is a function of the seed and
its number; a failure is printed with both.
"""
import argparse
import concurrent.futures
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

DOCUMENTED = {0, 1, 2, 3, 4}
OPERATIONS = ("broadcast reduce allgather allgatherv reduce_scatter allreduce scan exscan barrier scatter gather "
              "alltoall alltoallv shift k_broadcast k_alltoall telepathy").split()
NETWORKS = ("ring:4 ring:5 line:3 torus:4x4 torus:3x2 mesh:4x3 hypercube:3 complete:5 tree:4 ghc:3x2 star:5 petersen "
            "ccc:3 butterfly:3 circulant:9+1+2 star-graph:3 bubble-sort:3 cayley:213+132 graph:g.txt ring:4*line:3 "
            "ring:1 line:1 torus:1x1 torus:0 ring: ring:-1 ring:4* blob:3 torus:8,8 torus:4X4 graph: graph:none "
            "hypercube:99 ring:99999999999 torus:2x2x2x2 complete:70000").split()
ALGORITHMS = ("auto all ring mesh shift bruck suh-torus kim-a1 kim-recursive kim-recursive:divisions=1 "
              "suh-mesh:order=parity:ring=folded tseng-diagonal product hypercube halving pipelined:packets=3 "
              "wang-tseng peel park direct naive magic suh-mesh:order=none : , mesh:").split()
NUMBERS = "0 1 2 3 4 7 16 -1 1.5 1e3 999999999999 99999999999999999999 abc inf nan 4K 1..8 8..1 0x10 64,128".split()
VALUES = {
    "--algorithm": ALGORITHMS, "--on": NETWORKS, "--bytes": ["64", "1", "0", "4K", "8..64", "7,,9", "-3", "1G", "64T"],
    "--ports": ["one", "all", "auto", "none"], "--iterations": ["1", "2", "0", "-1", "x"],
    "--warmup": ["0", "1", "-1"], "--seed": ["1", "-1", "x", "18446744073709551615"],
    "--executor": ["threads", "fibers", "mpi", "goblins"], "--capacity": ["1", "4", "0", "1048577"],
    "--transport": ["copy", "flits", "flits", "worms"], "--routers": ["0", "1", "3", "-1"],
    "--fault": ["0-1:flip", "0-1:drop", "1-0:stall", "0-9:flip", "0-1:melt", "x"],
    "--eager-limit": ["0", "1K", "64", "x"], "--virtual-channels": ["1", "2", "3"], "--time-limit": ["0", "1", "-1"],
    "--root": NUMBERS, "--distance": NUMBERS, "--sources": ["1", "3", "0,2", "7,", "0", "x,y", ","],
    "--operator": ["sum", "max", "compose", "xor", "divide"], "--type": ["double", "int32", "affine", "string", "float"],
    "--ts": NUMBERS, "--tw": NUMBERS, "--tr": NUMBERS, "--tc": NUMBERS,
    "--json": ["-", "out.json", "./out.csv", "a.npy", "", "none/x.json", "."], "--csv": ["-", "out.csv", "out.json", "."],
    "--jsonl": ["-", "out.jsonl", "."], "--prove-up-to": ["1", "16", "-1"], "--step": ["0", "1", "99", "-1"],
    "--node": ["0", "1", "99", "-1"], "--dot": ["-", "out.dot"], "--svg": ["-", "out.svg"],
    "--write-schedule": ["-", "out.txt", "s.txt"], "--schedule": ["s.txt", "g.txt", "none"], "--block": ["0,1", "1,0", "0,99", "x", "0,"], "--route": ["0,1", "0,99", "1", "a,b", "0,1,2"],
    "--input": ["a.npy", "b.npy", "c.csv", "none", ".", "m.npy", "m.csv", "-"], "--output": ["out.npy", "a.npy", "-", "."],
    "--column": ["1", "2", "v", "9", ""], "--shape": ["16", "4x4", "97", "1", "0", "4K", "3x5", "x", "2x2x2"],
    "--generate": ["random", "impulse", "tones", "noise", "few", "reverse"], "--method": ["auto", "six-step", "bluestein", "x"],
    "--matrix": ["b.npy", "a.npy", "c.csv", "."], "--vector": ["a.npy", "b.npy", "c.csv"], "--vectors-on": ["edge", "diagonal", "top"],
    "--numbers": ["3,1,4,0,2", "-5", "1,", "x"], "--count": ["0", "1", "1000", "-1", "x"], "--samples": ["1", "16", "0", "x"], "--table": ["a.npy", "m.csv", "c.csv", "."],
    "--values": ["a.npy", "m.csv", "none"], "--keys": ["a.npy", "m.csv", "."], "--table-column": ["v", "9", ""],
    "--values-column": ["1", "v"], "--keys-column": ["v", "0"], "--entries": ["0", "1", "1000", "-1"],
    "--lookups": ["0", "1", "1000", "x"], "--absent": ["0", "0.5", "1", "2", "nan"], "--distribution": ["hash", "block", "heap"],
    "--machine": ["t3d", "bluegene-l", "m.json", "none", "g.txt", "."], "--unit": ["us", "ps", "s"], "--cost": ["formula", "replay", "luck"],
    "--flit": ["1", "8", "0", "x"], "--flit-time": NUMBERS, "--hop": NUMBERS, "--credit": NUMBERS, "--slots": ["1", "4", "0", "x"],
    "--store-and-forward": ["once", "each", "never"], "--explain": ALGORITHMS, "--trace": ["-", "out.json", "."],
    "--trace-nodes": ["0", "0..3", "9..1", "x"], "--trace-steps": ["0", "0..3", "x"], "--html": ["-", "out.html", "out.svg", "."],
    "--pdf": ["out.pdf", "."], "--ratio-to": ["shift", "ring", "x"], "--copy-limit": ["1", "0", "x"],
    "--as": ["broadcast", "reduce", "barrier", "shift", "x"], "--function": ["MPI_Bcast", "f", "main", "no\x7f", ""], "--eager": ["0", "64K", "x"],
    "--ranks": ["1..3", "2", "1,3", "3..2", "0", "x", "1..99999"], "--counts": ["0", "1,5", "3", "-1", "x", "9999999"], "--stall": ["1", "0.5", "x"],
    "--of": ["receives", "channels", "time"], "--sizes": ["4", "3", "0", "x", "4,3"],
}
FLAGS = ["--quiet", "--wide", "--lockstep", "--inverse", "--measure-plans", "--markdown", "--help", "--nonsense", "--rebalance", "--overwrite", "\x1b[31m"]
COMMON = "--on --algorithm --ports --json --csv".split()
MACHINE = "--executor --transport --capacity --routers --fault --eager-limit --virtual-channels --time-limit --iterations --warmup --no-verify --seed".split()
CALL = "--root --distance --sources --operator --type --in-place".split()
COST = "--ts --tw --tr --tc".split()
FILES = "--input --output --column --shape --type".split()
COMMANDS = {
    "run": COMMON + MACHINE + CALL + COST + ["--bytes", "--jsonl"],
    "check": COMMON + CALL + COST + ["--prove-up-to", "--virtual-channels", "--jsonl", "--schedule", "--time-limit"],
    "show": COMMON + CALL + COST + ["--step", "--node", "--dot", "--svg", "--write-schedule", "--schedule", "--block", "--bytes"],
    "list": ["--on", "--bytes", "--json", "--csv", "--time-limit"] + COST,
    "topology": ["--node", "--route", "--virtual-channels", "--json"],
    "fft": COMMON + MACHINE + COST + FILES + ["--generate", "--method"],
    "transpose": COMMON + MACHINE + COST + FILES,
    "matvec": COMMON + MACHINE + COST + ["--matrix", "--vector", "--column", "--shape", "--output", "--vectors-on"],
    "prefix": COMMON + MACHINE + COST + ["--numbers", "--input", "--column", "--count", "--type", "--output"],
    "sort": COMMON + MACHINE + COST + ["--input", "--column", "--count", "--type", "--generate", "--output", "--samples"],
    "lookup": COMMON + MACHINE + COST + ["--table", "--table-column", "--values", "--values-column", "--keys", "--keys-column",
                                         "--entries", "--lookups", "--absent", "--output", "--distribution"],
    "deadlock": ["--on", "--of", "--virtual-channels", "--time-limit"],
    "reproduce": ["--sizes", "--on", "--prove-up-to", "--json", "--time-limit"],
    "replay": ["--on", "--schedule", "--algorithm", "--ports", "--bytes", "--cost", "--machine", "--unit", "--flit", "--flit-time",
               "--hop", "--credit", "--slots", "--store-and-forward", "--virtual-channels", "--explain", "--trace", "--trace-nodes",
               "--trace-steps", "--json", "--csv"] + CALL + COST,
    "best": ["--on", "--bytes", "--ports", "--json", "--csv", "--time-limit"] + COST,
    "draw": ["--on", "--algorithm", "--ports", "--bytes", "--step", "--prove-up-to", "--virtual-channels", "--html", "--svg", "--pdf"] + CALL + COST,
    "plot": ["--html", "--svg", "--ratio-to", "--copy-limit"],
    "machines": ["--json", "--csv"],
    "prove": ["--as", "--function", "--ranks", "--counts", "--root", "--eager", "--stall", "--time-limit", "--write-schedule", "--json", "--csv"],
    "completion": [], "manual": [],
    "help": [], "version": [], "fly": [], "": [],
}
# Compiled and run, so it is not mutated.
FUNCTIONS = b"""#include <mpi.h>
int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (rank != root) return MPI_Recv(data, count, type, root, 1, comm, MPI_STATUS_IGNORE);
  for (int other = 0; other < ranks; ++other)
    if (other != root) MPI_Send(data, count, type, other, 1, comm);
  return MPI_SUCCESS;
}
int f(MPI_Comm comm) { return MPI_SUCCESS; }
"""
LIKELY = ["run", "check", "show", "fft", "transpose", "topology", "sort", "lookup", "replay", "draw", "plot", "prove"]


def seeds():
    """The files that are mutated."""
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (16,), }"
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    vector = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<16d", *range(16))
    matrix = vector.replace(b"(16,), ", b"(4, 4),")
    return {"a.npy": vector, "b.npy": matrix, "c.csv": b"t,v\n0,1.5\n1,2.5\n2,-3e2\n3,7\n",
            "s.txt": b"wormcube schedule 1\ntopology ring:4\nsteps 1\n\nstep 0\nnode 0: send 8 to 1\nnode 1: receive 8 from 0\nend\n",
            "m.json": b'{"name": "mine", "network": "torus:4x4", "year": 1994, "unit": "worm", "ports": "one", "startup_ps": 21000000, "flit_bytes": 2, '
                      b'"flit_ps": 6667, "hop_ps": 15000, "credit_ps": 6667, "depth": 4, "sure": "v v v", "notes": [], "source": "nobody"}',
            "r.json": b'[{"operation": "alltoall", "topology": "ring:4", "nodes": 4, "algorithm": "ring", "block_bytes": 64, "times_us": [1, 2, 3], '
                      b'"time_median_us": 2.0, "time_quartile1_us": 1.5, "time_quartile3_us": 2.5, "busbw_gb_per_s": 0.5, "provenance": {"command": "run"}}]',
            "g.txt": b"# a graph\n0 1\n1 2\n2 3\n3 0\n0 2\n", "m.npy": vector, "m.csv": b"v\n1\n2\n3\n4\n"}


def mutated(data, generator):
    data = bytearray(data)
    for _ in range(generator.randint(1, 4)):
        kind, at = generator.randrange(5), generator.randrange(len(data) + 1)
        if kind == 0 and data:
            data[at % len(data)] = generator.randrange(256)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = bytes(generator.choice(b"0123456789,.-eE()<>\n\r \x00\xff") for _ in range(generator.randint(1, 9)))
        elif kind == 3:
            del data[at:at + generator.randint(1, 9)]
        else:
            data += data[at:at + 40]
    return bytes(data)


def command_line(generator):
    command = generator.choice(LIKELY if generator.random() < 0.8 else list(COMMANDS))
    words = [command] if command else []
    if command == "plot":
        words += generator.sample(["r.json", "r.json", "m.json", "c.csv", "none", "."], generator.randint(0, 2))
    if command == "machines" and generator.random() < 0.7:
        words.append(generator.choice(["t3d", "m.json", "none", "g.txt"]))
    if command in ("completion", "manual") and generator.random() < 0.7:
        words.append(generator.choice(["bash", "zsh", "fish"]))
    if command in ("run", "check", "show", "replay", "draw", "best") or (command == "list" and generator.random() < 0.7):
        words.append(generator.choice(OPERATIONS))
    if command == "topology":
        words.append(generator.choice(NETWORKS))
    if command == "reproduce":
        words += [generator.choice(["kim", "suh", "dimakopoulos", "wang-tseng", "x"]), "--sizes", "4"]
    options = COMMANDS[command]
    if command == "prove":
        words.append(generator.choice(["f.c", "f.c", "f.c", "g.txt", "none.c", "."]))
    # Default networks and sizes are large.
    chosen = [option for option in ("--on", "--iterations", "--as", "--ranks") if option in options and generator.random() < 0.95]
    chosen += generator.sample(options, min(len(options), generator.choice([0, 1, 1, 2, 2, 3])))
    for option in dict.fromkeys(chosen):
        if option in ("--in-place", "--no-verify"):
            words.append(option)
            continue
        values = VALUES[option]
        likely = values[:max(1, len(values) * 2 // 3)]
        words += [option, generator.choice(likely if generator.random() < 0.7 else values)]
    if generator.random() < 0.3:
        words.append(generator.choice(FLAGS))
    if generator.random() < 0.15:
        at = generator.randrange(len(words) + 1)
        words[at:at] = [generator.choice(["", "-", "--", "=", "\u00e9", "%s%n", "x" * 300, "--on=", "a b"])]
    if generator.random() < 0.1 and words:
        del words[generator.randrange(len(words))]
    return words


def run(arguments, number):
    """None, or what was wrong."""
    generator = random.Random(f"{arguments.seed}/{number}")
    with tempfile.TemporaryDirectory() as folder:
        for name, data in seeds().items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(mutated(data, generator) if generator.random() < 0.5 else data)
        with open(os.path.join(folder, "f.c"), "wb") as file:
            file.write(FUNCTIONS)
        words = command_line(generator)
        start = time.monotonic()
        process = subprocess.Popen([arguments.program, *words], cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(timeout=arguments.seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            return f"not finished after {arguments.seconds} s", words, b"", 0
        error = err.decode(errors="replace")
        took = time.monotonic() - start
        beside = [name for name in os.listdir(folder) if ".~" in name]
        if beside:
            return f"left behind: {beside}", words, err, took
        if "\x1b" in error or b"\x1b" in out and "--svg" not in words:
            return "an escape sequence", words, err, took
        if process.returncode not in DOCUMENTED:
            return f"exit code {process.returncode}", words, err, took
        if "Sanitizer" in error or "runtime error:" in error or "std::" in error:
            return "the sanitizer or the C++ library speaks", words, err, took
        if process.returncode == 2 and not error.startswith("wormcube: "):
            return "exit code 2 without a reason", words, err, took
        return None, words, err, process.returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first line")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    arguments.program = os.path.abspath(arguments.program)
    wrong, codes, start = 0, {}, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        numbers = range(arguments.first, arguments.first + arguments.count)
        for number, (problem, words, err, code) in zip(numbers, pool.map(lambda n: run(arguments, n), numbers)):
            if problem is None:
                codes[code] = codes.get(code, 0) + 1
                continue
            wrong += 1
            print(f"{number}: {problem}: wormcube {' '.join(map(repr, words))}\n{err[-1500:].decode(errors='replace')}",
                  flush=True)
    print(f"{arguments.count} command lines from {arguments.first} of seed {arguments.seed} in "
          f"{time.monotonic() - start:.0f} s: {wrong} wrong; exit codes "
          + ", ".join(f"{code}: {codes[code]}" for code in sorted(codes)))
    return 1 if wrong else 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
