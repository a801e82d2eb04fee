#!/usr/bin/env python3
"""Measures how often each cost (formula, replay, work) picks the fastest algorithm here.

Formula and replay also run with a profile measured on this computer.

    bench/choices.py [--program build/release/wormcube] [--operations alltoall,allgather,..] [--on torus:4x4,..] [--bytes 64,4K,64K]

Runs `wormcube best --cost measured` for the measured times and `wormcube tune` for the profile. Prints a table over all cells
(operation, network, ports, block size): the share in which the pick is the fastest, the shares in which its time is up to 1.05 and 1.25
times the fastest one's, and the median and the worst of these ratios. A pick without a measured time counts as a miss.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path


def name_of(entry):
    return entry["algorithm"] + "".join(f":{key}={value}" for key, value in sorted(entry["options"].items()))


def cells_of(rows):
    return {(row["operation"], row["topology"], row["ports"], row["block_bytes"]): row["ranking"] for row in rows if row["ranking"]}


def ratios(truth, chosen):
    """For each cell: the pick's time divided by the fastest one's; infinite if the pick was not measured."""
    found = []
    for cell, ranking in truth.items():
        times = {name_of(entry): entry["measured_us"] for entry in ranking if entry["measured_us"] is not None}
        if times and cell in chosen:
            found.append(times.get(name_of(chosen[cell][0]), float("inf")) / min(times.values()))
    return found


def row_of(name, found):
    if not found:
        return f"| {name} | 0 | - | - | - | - | - |"
    share = lambda most: f"{100 * sum(ratio <= most for ratio in found) / len(found):.0f} %"
    return f"| {name} | {len(found)} | {share(1)} | {share(1.05)} | {share(1.25)} | {statistics.median(found):.2f} | {max(found):.2f} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="build/release/wormcube")
    parser.add_argument("--operations", default="alltoall,allgather,allreduce,broadcast,reduce_scatter")
    parser.add_argument("--on", default="torus:4x4,torus:8x8,hypercube:6")
    parser.add_argument("--ports", default="both", choices=["one", "all", "both"])
    parser.add_argument("--bytes", default="64,4K,64K")
    parser.add_argument("--iterations", default="11")
    parser.add_argument("--executor", default="fibers", choices=["threads", "fibers"])
    options = parser.parse_args()

    def run(*arguments):
        done = subprocess.run([options.program, *arguments], capture_output=True, text=True)
        if done.returncode not in (0, 1):
            sys.exit(f"choices: wormcube {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    with tempfile.TemporaryDirectory() as folder:
        profile = str(Path(folder) / "here.json")
        run("tune", "--executor", options.executor, "--save", profile)
        truth, chosen = {}, {"work": {}, "formula": {}, "replay": {}, "formula, profile measured here": {}, "replay, profile measured here": {}}
        for operation in options.operations.split(","):
            call = ["best", operation, "--on", options.on, "--ports", options.ports, "--bytes", options.bytes, "--quiet", "--json", "-"]
            truth |= cells_of(json.loads(run(*call, "--cost", "measured", "--iterations", options.iterations, "--executor", options.executor)))
            for name, cells in chosen.items():
                machine = ["--machine", profile] if "profile" in name else []
                cells |= cells_of(json.loads(run(*call, "--cost", name.split(",")[0], *machine)))
    margins = []
    for ranking in truth.values():
        times = sorted(entry["measured_us"] for entry in ranking if entry["measured_us"] is not None)
        if len(times) > 1:
            margins.append(times[1] / times[0])
    print("| choice by | cells | the fastest | up to 1.05 of it | up to 1.25 | median | worst |\n|---|---|---|---|---|---|---|")
    for name, cells in chosen.items():
        print(row_of(name, ratios(truth, cells)))
    if margins:
        print(f"\nThe runner-up's time is {statistics.median(margins):.2f} times the fastest one's (median), and less than 1.05 times in {sum(m < 1.05 for m in margins)} of {len(margins)} cells.")


if __name__ == "__main__":
    main()
