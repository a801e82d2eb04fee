#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stops commands that take long: they end at once with the signal's exit code, and JSON has what was finished.

usage: stopped.py PROGRAM
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PROVED = pathlib.Path(__file__).resolve().parents[1] / "mpi_programs" / "proved"
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}


def require(condition, what, evidence=""):
    if not condition:
        raise SystemExit(f"stopped.py: {what}\n{evidence}")


def stopped(program, command, file, stop, delay):
    """Exit code, seconds from signal to end, and the JSON or None."""
    process = subprocess.Popen([program, *command.split(), "--json", file], stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, encoding="utf-8")
    try:
        _, err = process.communicate(timeout=delay)
        took = 0.0
    except subprocess.TimeoutExpired:
        start = time.monotonic()
        process.send_signal(stop)
        _, err = process.communicate(timeout=60)
        took = time.monotonic() - start
    require(process.returncode in (0, CODES[stop], -stop), f"{command}: exit code {process.returncode}", err)
    if process.returncode == CODES[stop]:
        require(f"stopped by {stop.name}" in err, f"{command}: no word about the signal", err)
    document = None
    if os.path.exists(file):
        with open(file, encoding="utf-8") as text:
            document = json.load(text)
        os.remove(file)
    return process.returncode, took, document


def reproduce(program, file, command, rows, stop):
    """The rows of the small networks are kept when the large one is stopped."""
    delay = 0.25
    for _ in range(12):  # later and later, until there are rows
        code, _, document = stopped(program, command, file, stop, delay)
        require(code != 0, f"{command}: finished within {delay} s: nothing to stop")
        if document is not None and document[rows]:
            require(document["passed"] is None, f"{command}: a verdict without an end")
            require(document["passed_reason"].startswith("stopped before the end"), f"{command}: no reason")
            require(code == CODES[stop] and "provenance" in document, f"{command}: exit code {code}")
            return len(document[rows])
        delay *= 2
    raise SystemExit(f"stopped.py: {command}: no row was kept")


def begun(program, file, command, stop, reports=True):
    """Seconds from signal to end, and the JSON, of a command that was stopped in its work, if it reports that."""
    delay = 3
    for _ in range(5):  # later and later, until it has begun
        code, took, document = stopped(program, command, file, stop, delay)
        require(code != 0, f"{command}: finished within {delay} s: nothing to stop")
        if code == CODES[stop] and (document is not None or not reports):
            return took, document
        delay *= 2
    raise SystemExit(f"stopped.py: {command}: stopped before it had begun")


def proof(program, folder, stop):
    """A proof reports its progress, and leaves neither its temporary folder nor the processes of single proofs."""
    command = [program, "prove", PROVED / "recursive_doubling.c", "--as", "allreduce", "--ranks", "48..64"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8",
                               env=os.environ | {"TMPDIR": folder, "WORMCUBE_PROGRESS_AFTER": "0"})
    for line in process.stderr:
        if "recursive_doubling.c: MPI_Allreduce on " in line and " of 17" in line:
            break
    for _ in range(1000):  # between two proofs there is none
        begun = list(pathlib.Path(folder).glob("wormcube-prove-*/result-*"))
        if begun or process.poll() is not None:
            break
        time.sleep(0.01)
    process.send_signal(stop)
    _, err = process.communicate(timeout=60)
    require(process.returncode == CODES[stop] and begun, f"prove: exit code {process.returncode}, results {begun}", err)
    left = [name for name in os.listdir(folder) if name.startswith("wormcube-")]
    require(not left, f"prove: left behind after {stop.name}: {left}", err)
    for _ in range(1000):  # they are killed a moment later
        beside = [file for file in pathlib.Path("/proc").glob("[0-9]*/cmdline") if has(file, folder)]
        if not beside:
            return
        time.sleep(0.01)
    raise SystemExit(f"stopped.py: prove: processes left behind after {stop.name}: {beside}")


def has(file, text):
    """Whether a file, which may vanish, has this text."""
    try:
        return text.encode() in file.read_bytes()
    except OSError:
        return False


def main():
    program = sys.argv[1]
    long = ",".join(["torus:4x4"] + ["torus:12x12"] * 60)  # 40 MiB, a second each
    sides = ",".join(["4", "8"] + [str(side) for side in range(32, 49)])  # 90 MiB, 22 seconds
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/result.json"
        kim = reproduce(program, file, "reproduce kim --sizes 4,8,128 --prove-up-to 100000", "rows", signal.SIGINT)
        products = reproduce(program, file, f"reproduce dimakopoulos --on {long}", "rows", signal.SIGTERM)
        figure = reproduce(program, file, f"reproduce wang-tseng --sizes {sides} --count-up-to 2000000", "series",
                           signal.SIGINT)
        hours = "check alltoall --on complete:70000 --algorithm bruck --record-pieces 1000000000000000"
        took, document = begun(program, file, hours, signal.SIGINT, reports=False)
        require(took < 10, f"{hours}: ended {took:.1f} s after the signal")
        require(document in ([], None), f"{hours}: {document}")
        _, document = begun(program, file, "fft --on torus:4x4 --shape 65536 --iterations 1000000", signal.SIGTERM)
        require(document["status"] == "stopped" and document["passed"] is None, f"fft: {document}")
        for stop in CODES:
            with tempfile.TemporaryDirectory() as beside:
                proof(program, beside, stop)
    print(f"kept when stopped: {kim} rows of kim, {products} of dimakopoulos, {figure} series of wang-tseng; "
          f"a dry run of hours ends {took:.2f} s after SIGINT")
    return 0


if __name__ == "__main__":
    sys.exit(main())
