#!/usr/bin/env python3
"""bench/peers/compare.py with nothing but wormcube: both measures, in table and JSON; what is missing is named; wrong data and faulty peers
are report.

usage: peers_test.py WORMCUBE
"""
# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "bench/peers/compare.py"


def compare(folder, wormcube, *options):
    """(exit code, output, JSON) with programs of that folder only."""
    file = folder / "result.json"
    file.unlink(missing_ok=True)
    done = subprocess.run([sys.executable, str(SCRIPT), "--quick", "--ranks", "4", "--bytes", "8", "--networks", "torus", "--seconds", "0.001",
                           "--wormcube", str(wormcube), "--messages", str(folder / "none"), "--json", str(file), *options],
                          capture_output=True, encoding="utf-8", env=dict(os.environ, PATH=f"{folder}/bin"), check=False)
    return done.returncode, done.stdout + done.stderr, json.loads(file.read_text(encoding="utf-8")) if file.exists() else None


def main():
    wormcube = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        code, output, found = compare(folder, wormcube, "--operations", "broadcast,barrier,halo")
        assert code == 0, output
        for word in ("between barriers", "back to back", "missing: Open MPI: mpicc.openmpi is not installed", "missing: MPICH", "missing: SMPI",
                     "| broadcast | 4 | 8 B |", "| barrier | 4 | 0 B |"):
            assert word in output, (word, output)
        assert {entry["peer"] for entry in found["missing"]} == {"wormcube, messages", "mpirun", "openmpi", "mpich", "smpi", "copying"}, found["missing"]
        rows = {(row["operation"], row["peer"]): row for row in found["results"]}
        assert set(rows) == {(operation, peer) for operation in ("broadcast", "barrier") for peer in ("threads", "fibers")}, rows
        for row in rows.values():
            assert row["between_barriers_us"] > 0 and row["back_to_back_us"] > 0 and row["wrong"] == 0 and row["algorithm"], row

        # Without an assembler in the path wormcube mpicc cannot compile; with one it can.
        for tool in ("cc", "c++", "as", "ld"):
            (folder / "bin" / tool).symlink_to(shutil.which(tool))
        code, output, found = compare(folder, wormcube, "--operations", "allreduce", "--peers", "mpirun")
        assert code == 0 and not [entry for entry in found["missing"] if entry["peer"] == "mpirun"], output
        assert [row["wrong"] for row in found["results"] if row["peer"] == "mpirun"] == [0], found["results"]
        for tool in ("cc", "c++", "as", "ld"):
            (folder / "bin" / tool).unlink()

        # A program that is wrong, and a compiler that does not compile.
        fake = folder / "wrong"
        fake.write_text(f"#!{sys.executable}\nimport json, subprocess, sys\n"
                        f"out = subprocess.run([{str(wormcube)!r}] + sys.argv[1:], capture_output=True, encoding='utf-8').stdout\n"
                        "if sys.argv[1] == 'run':\n    found = json.loads(out)\n    for row in found if isinstance(found, list) else [found]:\n"
                        "        row['wrong'] = 3\n    out = json.dumps(found)\nprint(out)\n", encoding="utf-8")
        fake.chmod(0o755)
        for tool in ("mpicc.openmpi", "mpirun.openmpi"):
            (folder / "bin" / tool).write_text("#!/bin/sh\necho no header >&2\nexit 1\n", encoding="utf-8")
            (folder / "bin" / tool).chmod(0o755)
        code, output, found = compare(folder, fake, "--operations", "barrier", "--peers", "openmpi")
        assert code == 1 and "WRONG: wormcube, threads, barrier" in output, output
        assert "mpicc.openmpi does not compile peer.c: ended with 1: no header" in output, output

        code, output, _ = compare(folder, folder / "nothing")
        assert code != 0 and "does not exist" in output, output
    return 0


if __name__ == "__main__":
    sys.exit(main())
