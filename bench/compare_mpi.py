#!/usr/bin/env python3
"""Collectives of 64 nodes beside those of an MPI library on 64 oversubscribed ranks: a table of medians and ratios.

usage: compare_mpi.py [--wormcube PROGRAM] [--peer PROGRAM] [--mpirun COMMAND] [--on NETWORK,..] [--operations A,B,..]
                      [--bytes 8,512,..] [--iterations N]

Operation by operation: nodes as threads, nodes as fibers, the MPI library. Every algorithm that a network admits is run; the
fastest is shown, with its network. Ratios are time of wormcube / time of MPI: below 1 wormcube is faster.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import json
import os
import shlex
import subprocess
import sys

# Baselines, which never win and take long.
SLOW = {"naive", "direct", "neighbours", "product-naive"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wormcube", default="build/release/wormcube")
    parser.add_argument("--peer", default="build/release/bench/mpi_collectives")
    parser.add_argument("--mpirun", default="mpirun --oversubscribe")
    parser.add_argument("--on", default="hypercube:6,ring:64", help="networks of 64 nodes")
    parser.add_argument("--operations", default="allreduce,allgather,broadcast,reduce_scatter,scan,gather,barrier")
    parser.add_argument("--bytes", default="8,512,4096,65536")
    parser.add_argument("--iterations", type=int, default=21)
    return parser.parse_args()


def ours(options, operation, nodes_as):
    """{bytes: (median, "algorithm on network")} of the fastest."""
    best = {}
    for network in options.on.split(","):
        for size, found in ours_on(options, operation, nodes_as, network).items():
            best[size] = min(best.get(size, found), found)
    return best


def ours_on(options, operation, nodes_as, network):
    listed = json.loads(subprocess.run([options.wormcube, "list", operation, "--on", network, "--json", "-"],
                                       check=True, capture_output=True, encoding="utf-8").stdout)
    names = [entry["algorithm"] for entry in listed
             if entry["admitted"] and entry["ports"] == "one" and entry["algorithm"] not in SLOW]
    command = [options.wormcube, "run", operation, "--on", network, "--algorithm", ",".join(names), "--bytes",
               options.bytes, "--nodes-as", nodes_as, "--warmup", "3", "--iterations", str(options.iterations), "--json", "-"]
    results = json.loads(subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout)
    best = {}
    for result in results if isinstance(results, list) else [results]:
        if result["wrong"]:
            sys.exit(f"compare_mpi: {operation} {result['algorithm']} was wrong")
        found = (result["time_median_us"], f"{result['algorithm']} on {network}")
        size = result["block_bytes"]
        best[size] = min(best.get(size, found), found)
    return best


def theirs(options, operation):
    """{bytes: median}"""
    sizes = ["0"] if operation == "barrier" else options.bytes.split(",")
    lines = subprocess.run(shlex.split(options.mpirun) + ["-n", "64", options.peer, operation] + sizes, check=True,
                           capture_output=True, encoding="utf-8").stdout.splitlines()
    medians = {}
    for line in lines:
        _, size, median, _, wrong = line.split()
        if int(wrong):
            sys.exit(f"compare_mpi: MPI {operation} was wrong")
        medians[int(size)] = float(median)
    return medians


def main():
    options = arguments()
    print(f"load average {os.getloadavg()[0]:.1f} at the start\n")
    print("| operation | block | threads | | fibers | | MPI | threads / MPI | fibers / MPI |")
    print("|---|---|---|---|---|---|---|---|---|")
    for operation in options.operations.split(","):
        threads, fibers, mpi = ours(options, operation, "threads"), ours(options, operation, "fibers"), theirs(options, operation)
        for size, (us, name) in sorted(threads.items()):
            fibers_us, fibers_name = fibers[size]
            print(f"| {operation} | {size} B | {us:.0f} us | `{name}` | {fibers_us:.0f} us | `{fibers_name}` | {mpi[size]:.0f} us "
                  f"| {us / mpi[size]:.2f} | {fibers_us / mpi[size]:.2f} |", flush=True)
    print(f"\nload average {os.getloadavg()[0]:.1f} at the end")


if __name__ == "__main__":
    main()
