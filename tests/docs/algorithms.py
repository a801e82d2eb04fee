#!/usr/bin/env python3
"""Compares the lists of algorithms in README.md and docs/algorithms.md with the registry, and
README's sample with its file, or with
--write written.

usage: algorithms.py [--write] PROGRAM
"""
# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- algorithms: written by ./run docs -->\n", "<!-- end of algorithms -->\n"
PREFACE = """# Algorithms

Written by `./run docs` from the registry (`wormcube list --markdown`); a test compares.

*Needs*: what a network must be; empty: any network. *Free of contention*: the source claims that no link carries two
messages in a step, on every network that is admitted; where it says no, `check` counts how many. *Options*: name, values
and [default], given as `--algorithm NAME:option=value`. Costs on a network: `wormcube list OPERATION --on NETWORK`.
"""


def algorithms_page(program):
    return PREFACE + subprocess.run([program, "list", "--markdown"], check=True, capture_output=True, encoding="utf-8").stdout


def readme_table(program):
    listed = subprocess.run([program, "list", "--json", "-"], check=True, capture_output=True, encoding="utf-8").stdout
    algorithms = json.loads(listed)
    names = {}
    for algorithm in algorithms if isinstance(algorithms, list) else [algorithms]:
        mark = "ʳ" if "reconstruction" in (algorithm["remark"] or "") else ""
        names.setdefault(algorithm["operation"], []).append(f"`{algorithm['algorithm']}`{mark}")
    rows = [f"| {operation} | {' '.join(those)} |\n" for operation, those in names.items()]
    return "| operation | algorithms |\n|---|---|\n" + "".join(rows)


def with_table(readme, table):
    before, rest = readme.split(BEGIN)
    return before + BEGIN + "\n" + table + "\n" + END + rest.split(END)[1]


def program_of(source, name):
    """The text of a function: from its first line to the brace that ends it."""
    text = (ROOT / source).read_text(encoding="utf-8")
    begin = text.index(f"void {name}(")
    return text[begin:text.index("\n}\n", begin) + 3]


def with_sample(readme, source, name):
    before, rest = readme.split(f"[{source}]({source}):\n\n```cpp\n")
    return before + f"[{source}]({source}):\n\n```cpp\n" + program_of(source, name) + "```\n" + rest.split("```\n", 1)[1]


def main(arguments):
    write = arguments[:1] == ["--write"]
    program = arguments[-1]
    readme = ROOT / "README.md"
    wanted = {ROOT / "docs/algorithms.md": algorithms_page(program),
              readme: with_sample(with_table(readme.read_text(encoding="utf-8"), readme_table(program)),
                                  "collectives/alltoall/hypercube_pairwise.cpp", "alltoall_hypercube_pairwise")}
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in stale:
        if write:
            path.write_text(wanted[path], encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {'written' if write else 'is not what the registry and its files say; ./run docs writes it'}")
    return 1 if stale and not write else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
