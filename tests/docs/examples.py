#!/usr/bin/env python3
"""Runs the examples of a document and compares their output with the document.

usage: examples.py --prefix PREFIX DOCUMENT..

In a block ```console a line `$ COMMAND` is run in a shell, with PREFIX/bin in the PATH, PREFIX and SOURCE (this project) set, and all of a document's
commands in one new folder, in which `apps` is that of the source tree; the lines below it, up to the next command or the end, are what it must print. A command without
such lines must only succeed; others may fail if the document shows a line `wormcube: ..`. Commands of the source tree (./run .., cmake --.., ctest .., mpirun .., tests/..) are not run.
In a block ```cpp FILE (any language, with a name) the text is written to that file.

  ...            alone in a line: any lines, or none
  .. or ...      at the end of a line: anything may follow
  a number       in a block after the line <!-- times --> : any number
  <!-- not run --> before a block: it is left alone

Blanks are compared as one blank each.
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

OUTSIDE = ("./run", "cmake --preset", "cmake --workflow", "ctest", "mpirun", "srun", "tests/", "OMPI_")
NUMBER = re.compile(r"(?<![A-Za-z_:])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![A-Za-z_])")


class Example:
    """One command, and the lines that it must print."""

    def __init__(self, line, command, masked):
        self.line, self.command, self.masked, self.output = line, command, masked, []


def parse(text):
    """The examples and files of a document, in order: Example, or (file name, text)."""
    items, block, mark = [], None, ""
    for number, line in enumerate(text.splitlines(), 1):
        if block is None:
            if line.startswith("```"):
                words = line[3:].split()
                block = {"words": words, "mark": mark, "lines": [], "start": number}
            mark = line.strip() if line.startswith("<!--") else mark if not line.strip() else ""
            continue
        if line.strip() != "```":
            block["lines"].append(line)
            continue
        words, lines, masked = block["words"], block["lines"], block["mark"] == "<!-- times -->"
        if block["mark"] != "<!-- not run -->":
            if words[:1] == ["console"]:
                for offset, shown in enumerate(lines):
                    at = block["start"] + 1 + offset
                    if shown.startswith("$ "):
                        # A comment stands two blanks or more behind the command.
                        items.append(Example(at, re.split(r"\s{2,}#", shown[2:])[0].strip(), masked))
                    elif items and isinstance(items[-1], Example) and (shown.strip() or items[-1].output):
                        items[-1].output.append(shown)
            elif len(words) > 1:
                items.append((words[1], "\n".join(lines) + "\n"))
        block, mark = None, ""
    return items


def times_without_machine(name, text):
    """Console blocks that show measured times, where the lines before do not say on what machine."""
    wrong, lines = [], text.splitlines()
    for number, line in enumerate(lines):
        if line.strip() != "```console":
            continue
        end = lines.index("```", number)
        before = " ".join(lines[max(0, number - 6):number])
        if any(re.search(r"\bmedian\b|\bwall time\b", shown) for shown in lines[number:end]) and "Measured on" not in before:
            wrong.append(f"{name}:{number + 1}: shows times; say before it what they were \"Measured on\"")
    return wrong


def same_line(wanted, found, masked):
    wanted, found = " ".join(wanted.split()), " ".join(found.split())
    open_end = re.search(r"\s?\.\.\.?$", wanted)
    if masked:
        wanted, found = NUMBER.sub("#", wanted), NUMBER.sub("#", found)
    if open_end:
        return found.startswith(re.sub(r"\s?\.\.\.?$", "", wanted))
    return wanted == found


def same(wanted, found, masked):
    """Whether the lines match; `...` stands for any lines."""
    if not wanted:
        return not found
    if wanted[0].strip() == "...":
        return any(same(wanted[1:], found[i:], masked) for i in range(len(found) + 1))
    return bool(found) and same_line(wanted[0], found[0], masked) and same(wanted[1:], found[1:], masked)


def run(document, prefix):
    """Runs a document's examples; returns the texts of what is wrong."""
    wrong, count = times_without_machine(document.name, document.read_text(encoding="utf-8")), 0
    source = pathlib.Path(__file__).resolve().parents[2]
    environment = dict(os.environ, PREFIX=str(prefix), SOURCE=str(source), PATH=f"{prefix}/bin:{os.environ['PATH']}", LC_ALL="C.UTF-8")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "apps").symlink_to(source / "apps")
        for item in parse(document.read_text(encoding="utf-8")):
            if isinstance(item, tuple):
                path = pathlib.Path(folder, item[0])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(item[1], encoding="utf-8")
                continue
            if item.command.startswith(OUTSIDE):
                continue
            count += 1
            done = subprocess.run(item.command, shell=True, cwd=folder, env=environment, encoding="utf-8", timeout=300,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  executable="/bin/bash")
            wanted = [line for line in item.output if line.strip()]
            found = [line for line in done.stdout.splitlines() if line.strip()]
            where = f"{document.name}:{item.line}: $ {item.command}"
            if done.returncode != 0 and not any(line.startswith("wormcube: ") for line in wanted):
                wrong.append(f"{where}\nended with {done.returncode}:\n{done.stdout}")
            if wanted and not same(wanted, found, item.masked):
                wrong.append("\n".join([where, "the document says:", *wanted, "it prints:", *found]))
    if count == 0:
        wrong.append(f"{document}: no example was found")
    print(f"{document.name}: {count} examples")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prefix", type=pathlib.Path, required=True)
    parser.add_argument("documents", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    wrong = [text for document in arguments.documents for text in run(document, arguments.prefix.resolve())]
    print("\n\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
