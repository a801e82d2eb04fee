#!/usr/bin/env python3
"""cmake/registry.cmake finds every algorithm of a source, and stops at what looks like one and would not be found.

usage: registered.py CMAKE
"""
# SPDX-License-Identifier: Apache-2.0
import pathlib
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "cmake/registry.cmake"
RIGHT = "// WORMCUBE_ALGORITHM(in_a_comment)\nWORMCUBE_ALGORITHM(alltoall_one){\n};\nWORMCUBE_ALGORITHM(alltoall_2){\n};\n"
WRONG = ("  WORMCUBE_ALGORITHM(indented){\n", "WORMCUBE_ALGORITHM (blank){\n", "WORMCUBE_ALGORITHM(\n    broken){\n",
         "namespace x { WORMCUBE_ALGORITHM(behind){\n", "WORMCUBE_ALGORITHM(Capital){\n")


def scan(cmake, text):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "source.cpp")
        source.write_text(text, encoding="utf-8")
        done = subprocess.run([cmake, "-D", f"SOURCES={source}", "-P", SCRIPT], encoding="utf-8", check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout


def main():
    cmake, wrong = sys.argv[1], []
    code, output = scan(cmake, RIGHT)
    if code != 0 or output.split() != ["alltoall_one", "alltoall_2"]:
        wrong.append(f"{RIGHT!r}: {code}, {output}")
    for text in WRONG:
        code, output = scan(cmake, RIGHT + text)
        if code == 0 or "would not be registered" not in " ".join(output.split()):
            wrong.append(f"{text!r}: {code}, {output}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
