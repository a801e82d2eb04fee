#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the memory that `wormcube` estimates with its actual use: within a factor of 1.3.

usage: memory_estimates.py PROGRAM [WORD..]     only the commands that contain a WORD

Each command is made to need well over 50 MiB, so that the program itself (some 10 MiB) does not decide.
The estimate is `provenance.memory_estimate_bytes` of the JSON; the measurement the resident set's maximum that
wait4 reports for the finished process. Commands that need more threads than the system has are skipped, with a note.
"""
import os
import struct
import subprocess
import sys
import tempfile

FACTOR = 1.3
MEBIBYTE = 1 << 20


def npy(path, shape, descr, element, count):
    """Writes a .npy file of small whole numbers."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        piece = b"".join(element(i % 100) for i in range(4096))
        for _ in range(count // 4096):  # piece by piece: a child's maximum begins with its parent's memory
            file.write(piece)


def inputs(folder):
    """Files that are widened when they are read, and graphs."""
    npy(f"{folder}/float32.npy", "(1048576,)", "<f4", lambda i: struct.pack("<f", i), 1 << 20)
    npy(f"{folder}/int8.npy", "(1048576,)", "|i1", lambda i: struct.pack("b", i), 1 << 20)
    npy(f"{folder}/matrix.npy", "(4096, 4096)", "<f4", lambda i: struct.pack("<f", i), 1 << 24)
    with open(f"{folder}/series.csv", "w", encoding="utf-8") as file:
        file.write("value\n")
        file.writelines(f"{i * 37 % 1001}\n" for i in range(1 << 19))
    with open(f"{folder}/dense.txt", "w", encoding="utf-8") as file:
        file.writelines(f"{u} {v}\n" for u in range(700) for v in range(u + 1, 700))
    with open(f"{folder}/sparse.txt", "w", encoding="utf-8") as file:
        nodes = 200_000
        file.writelines(f"{v} {(v + step) % nodes}\n" for v in range(nodes) for step in (1, 7, 1000))


def commands(folder):
    runs = [
        # alltoall: 16 nodes, in and out 64 MiB each
        ("alltoall torus:4x4", "suh-torus kim-a1 kim-recursive tseng-diagonal mesh shift bruck naive-direct", "256K"),
        ("alltoall mesh:4x4", "suh-mesh bokhari-quadrant sundar-cyclic scott-direct", "256K"),
        ("alltoall ring:4*line:4", "product product-naive product-multiport-general", "256K"),
        ("alltoall hypercube:4", "hypercube-combine hypercube-pairwise hypercube-all-port", "256K"),
        ("alltoall ring:16", "ring ring-all-port", "256K"),
        ("alltoallv ring:16", "shift", "256K"),
        ("allgather ring:16", "bruck", "512K"),
        ("broadcast torus:4x4", "scatter-allgather", "8M"),
        ("broadcast torus:5x5", "wang-tseng", "5000000"),
        ("reduce ring:16", "halving", "4M"),
        ("reduce torus:4x4", "hypercube mesh", "4M"),
        ("reduce_scatter hypercube:4", "hypercube", "512K"),
        ("allreduce ring:16", "reduce-scatter-allgather ring", "4M"),
        ("scan hypercube:4", "hypercube", "4M"),
        ("scatter ring:16", "halving", "4M"),
        ("gather hypercube:4", "hypercube", "4M"),
    ]
    for what, algorithms, size in runs:
        operation, network = what.split(" ")
        for algorithm in algorithms.split():
            yield f"run {operation} --on {network} --algorithm {algorithm} --bytes {size} --iterations 1 --warmup 0"
    many = "run alltoall --on torus:16x16 --algorithm mesh --bytes 256 --iterations 1 --warmup 0 --executor"
    yield f"{many} threads"
    yield f"{many} fibers"
    yield "run barrier --on torus:64x64 --iterations 1 --warmup 0 --executor fibers"
    yield "check alltoall --on torus:32x32 --algorithm shift"
    yield "check alltoall --on torus:24x24 --algorithm suh-torus"
    yield "check alltoall --on torus:16x16 --algorithm kim-recursive"
    yield "check alltoall --on torus:32x32 --algorithm shift --prove-up-to 1"
    yield "check broadcast --on torus:16x16x16 --algorithm halving"
    yield "check alltoall --on torus:32x32 --algorithm mesh"
    yield "check allgather --on torus:64x64 --algorithm bruck"
    yield "check barrier --on torus:96x96 --prove-up-to 10000"
    yield "check scan --on ring:4096 --algorithm ring"
    # Queues that the flits of the run fill: 72 lanes, 320 KiB each.
    yield ("run alltoall --on torus:4x4 --algorithm shift --bytes 600 --iterations 400 --warmup 0 --no-verify "
           "--transport flits --capacity 4096 --executor fibers")
    yield "show alltoall --on torus:12x12 --algorithm shift"
    yield "fft --shape 1048576 --on torus:4x4"
    yield "fft --shape 524287 --on torus:4x4"
    yield "fft --shape 1024x1024 --on torus:4x4 --algorithm kim-recursive"
    yield "fft --shape 1048576 --on ring:4 --no-verify"
    yield f"fft --input {folder}/float32.npy --on ring:4"
    yield f"fft --input {folder}/int8.npy --on ring:4"
    yield f"fft --input {folder}/series.csv --on ring:4"
    yield "transpose --shape 2048x3072 --on torus:4x4"
    yield "transpose --shape 2048x3072 --on torus:4x4 --algorithm kim-recursive"
    yield f"transpose --input {folder}/matrix.npy --on ring:4"
    yield "sort --on torus:4x4 --count 4000000"
    yield "matvec --on torus:4x4 --shape 4096x4096"
    yield "lookup --on torus:4x4 --entries 1000000 --lookups 2000000"
    yield f"topology graph:{folder}/dense.txt"
    yield f"topology graph:{folder}/sparse.txt"
    yield "reproduce kim --sizes 16"
    yield "deadlock --of channels --on ring:1000 --virtual-channels 2"


class NoThreads(Exception):
    """A container may allow fewer threads than a machine has nodes."""


def measured(program, command, folder):
    """Estimate and measurement in bytes."""
    result = f"{folder}/result.json"
    arguments = [program, *command.split(), "--quiet", "--json", result]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == 2 and "threads: the system started only " in error:
        raise NoThreads(error.strip())
    if process.returncode != 0:
        raise SystemExit(f"wormcube {command}: exit code {process.returncode}: {error}")
    with open(result, encoding="utf-8") as file:  # line by line: what this process holds is counted as its children's
        estimates = [int(line.split(":")[1].rstrip(",\n")) for line in file if '"memory_estimate_bytes"' in line]
    return max(estimates), usage.ru_maxrss * 1024


def main():
    program, words = sys.argv[1], sys.argv[2:]
    wrong = count = 0
    print(f"{'estimate':>9}  {'measured':>9}  ratio  command\n{'(MiB)':>9}  {'(MiB)':>9}")
    with tempfile.TemporaryDirectory() as folder:
        chosen = [command for command in commands(folder)
                  if not words or any(word in command.replace(folder + "/", "") for word in words)]
        if any(folder in command for command in chosen):
            inputs(folder)
        for command in chosen:
            shown = command.replace(folder + "/", "")
            try:
                for _ in range(3):  # the peak depends on how the nodes' calls overlap in time
                    estimate, resident = measured(program, command, folder)
                    ratio = estimate / resident
                    bad = not 1 / FACTOR <= ratio <= FACTOR
                    if not bad:
                        break
            except NoThreads as refusal:
                print(f"{'left out':>29}  {shown}: {refusal}", flush=True)
                continue
            wrong += bad
            count += 1
            mark = "!" if bad else " "
            print(f"{estimate / MEBIBYTE:9.1f}  {resident / MEBIBYTE:9.1f}  {ratio:5.2f}{mark} {shown}",
                  flush=True)
    print(f"{count} commands, {wrong} of them off by more than a factor of {FACTOR}")
    return 1 if wrong or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
