#!/usr/bin/env python3
"""Changes one operator, constant or statement at a time, builds, runs the tests that matter, and lists the survivors.

A survivor is a change that no test notices: a test is missing, or the change is equivalent (the program does the same). What
was found equivalent stands in tests/mutants/equivalent.txt, with the reason, and is not tried again.

It works on a copy, build/mutants/source, with a build tree of its own beside it: the first run builds everything. Default:
10 random mutants of collectives/ and runtime/schedule/. Ends with 1 if any survived. Needs python3, and ccache if it is
to be quick.

  ./run mutants                                            10 anywhere
  ./run mutants --sample 50 --seconds 3600 collectives/alltoall/kim_array.cpp
  ./run mutants --list runtime/schedule/check.cpp          shows them, builds nothing
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build/mutants"
FOLDERS = ("collectives", "runtime/schedule")

# The tests that can see a change, by where it is; the first prefix that fits. Catch2 test specs.
TESTS = (("runtime/schedule/", "[schedule],[collectives],[registry],[harness]"),
         ("collectives/harness/", "[harness],[collectives],[contract]"),
         ("collectives/", "[collectives],[registry],[broadcast],[product],[torus],[mesh],[harness]"))

# Each is looked for in code, outside of comments, strings and preprocessor lines.
CHANGES = ((r"(?<![<>=!\-])<(?![<=])(?= )", "<="), (r"<=(?!>)", "<"), (r"(?<![>\-])>=", ">"), (r"(?<= )>(?= )", ">="),
           (r"==", "!="), (r"!=", "=="), (r"&&", "||"), (r"\|\|", "&&"), (r"(?<= )\+(?= )", "-"), (r"(?<= )-(?= )", "+"),
           (r"(?<= )\*(?= )", "+"), (r"(?<= )/(?= )", "*"), (r"(?<= )%(?= )", "/"), (r"\+=", "-="), (r"-=", "+="),
           (r"(?<= )\^(?= )", "|"), (r"<<(?= \w)", ">>"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
           (r"\bmin\(", "max("), (r"\bmax\(", "min("), (r"(?<=\()!(?=\w)", ""), (r"(?<= )!(?=\w)", ""),
           (r"(?<![\w.\"'])\d+(?![\w.\"'])", None))  # None: the next number
STATEMENT = re.compile(r"^\s*(?:break|continue|[\w.\->\[\]():]+ (?:[+\-*/|&^]?=) .*|[\w.\->:\[\]]+\(.*\)|\+\+\S+|--\S+);$")


@dataclass(frozen=True)
class Mutant:
    path: str
    line: int  # from 1
    before: str
    after: str

    def key(self):
        return f"{self.path}: {self.before.strip()} => {self.after.strip()}"


def code_columns(line):
    """For each column whether it is code: not in a string or comment."""
    result, quote, i = [], "", 0
    while i < len(line):
        if not quote and line.startswith("//", i):
            return result + [False] * (len(line) - i)
        if quote and line[i] == "\\":
            result += [False, False]
            i += 2
            continue
        if line[i] in "\"'" and quote in ("", line[i]) and not (line[i] == "'" and i > 0 and line[i - 1].isalnum()):
            quote = "" if quote else line[i]
            result.append(False)
        else:
            result.append(not quote)
        i += 1
    return result[:len(line)]


def mutants_of(path, text):
    """All mutants of one file."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if not bare or bare.startswith(("#", "//", "static_assert", "using ", "namespace ", "template")):
            continue
        code = code_columns(line)
        for pattern, replacement in CHANGES:
            for match in re.finditer(pattern, line):
                if not all(code[match.start():match.end()]):
                    continue
                new = str(int(match.group()) + 1) if replacement is None else replacement
                found.append(Mutant(path, number, line, line[:match.start()] + new + line[match.end():]))
        if STATEMENT.match(line):
            found.append(Mutant(path, number, line, line[:len(line) - len(line.lstrip())] + ";"))
    return found


def copy_tree():
    """The tracked files as they are now; what has not changed keeps its time."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")
    for name in filter(None, tracked):
        source, target = ROOT / name, WORK / "source" / name
        if not source.is_file() or (target.exists() and target.read_bytes() == source.read_bytes()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)


def spec(path, arguments):
    return arguments.tests or next(tests for prefix, tests in TESTS if path.startswith(prefix))


def build(target):
    done = subprocess.run(["ninja", "-C", str(WORK / "build"), target], capture_output=True, text=True)
    return done.returncode == 0, done.stdout[-2000:]


def passes(arguments, path, limit):
    """Whether the tests pass within so many seconds."""
    command = arguments.command or f"tests/wormcube_tests '{spec(path, arguments)}'"
    process = subprocess.Popen(command, shell=True, cwd=WORK / "build", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    try:
        return process.wait(limit) == 0
    except subprocess.TimeoutExpired:
        import os
        import signal
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return False


def configure():
    launcher = ["-D", "CMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    subprocess.run(["cmake", "-S", str(WORK / "source"), "-B", str(WORK / "build"), "-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Debug",
                    # A change may leave a variable unused: no warnings. Invariants that break may end the process: on.
                    "-D", "CMAKE_CXX_FLAGS_DEBUG=-O1 -w", "-D", "WORMCUBE_BENCHMARKS=OFF", "-D", "WORMCUBE_MPI=OFF", *launcher],
                   check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="files or folders; default: " + " ".join(FOLDERS))
    parser.add_argument("--sample", type=int, default=10, metavar="N", help="so many, chosen at random; 0: all")
    parser.add_argument("--seconds", type=float, default=1800, help="start no mutant after so long")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the choice")
    parser.add_argument("--tests", metavar="SPEC", help="a Catch2 test spec instead of the usual one")
    parser.add_argument("--target", default="wormcube_tests", help="what is built")
    parser.add_argument("--command", help="run in the build tree instead of the tests")
    parser.add_argument("--list", action="store_true", help="show the mutants and stop")
    arguments = parser.parse_args()

    files = []
    for name in arguments.files or FOLDERS:
        path = (ROOT / name).resolve()
        files += sorted(p for kind in ("*.cpp", "*.hpp") for p in path.rglob(kind)) if path.is_dir() else [path]
    equivalent = {line.split(" ## ")[0].strip() for line in (ROOT / "tests/mutants/equivalent.txt").read_text().splitlines()}
    mutants = [m for path in files for m in mutants_of(str(path.relative_to(ROOT)), path.read_text()) if m.key() not in equivalent]
    random.Random(arguments.seed).shuffle(mutants)
    print(f"{len(mutants)} mutants of {len(files)} files; seed {arguments.seed}")
    mutants = mutants[:arguments.sample or None]
    if arguments.list:
        for m in sorted(mutants, key=lambda m: (m.path, m.line)):
            print(f"{m.path}:{m.line}: {m.before.strip()}  =>  {m.after.strip()}")
        return 0

    start = time.monotonic()
    copy_tree()
    configure()
    built, log = build(arguments.target)
    if not built:
        print("the unchanged tree does not build:\n" + log)
        return 2
    limits = {}
    counts = {"killed": 0, "does not compile": 0, "survived": 0, "not tried": 0}
    for m in mutants:
        if time.monotonic() - start > arguments.seconds:
            counts["not tried"] += 1
            continue
        if spec(m.path, arguments) not in limits:
            began = time.monotonic()
            if not passes(arguments, m.path, 3600):
                print(f"the unchanged tree fails {arguments.command or spec(m.path, arguments)}")
                return 2
            limits[spec(m.path, arguments)] = 30 + 4 * (time.monotonic() - began)
        file = WORK / "source" / m.path
        text = file.read_text()
        lines = text.splitlines(keepends=True)
        lines[m.line - 1] = m.after + "\n"
        file.write_text("".join(lines))
        try:
            if not build(arguments.target)[0]:
                verdict = "does not compile"
            elif passes(arguments, m.path, limits[spec(m.path, arguments)]):
                verdict = "survived"
            else:
                verdict = "killed"
        finally:
            file.write_text(text)
        counts[verdict] += 1
        print(f"{verdict:16}  {m.path}:{m.line}: {m.before.strip()}  =>  {m.after.strip()}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
