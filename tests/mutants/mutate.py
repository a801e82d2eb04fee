#!/usr/bin/env python3
"""Changes one operator, constant or statement at a time, builds, runs the tests that matter, and lists the survivors.

A survivor is a change that no test notices: a test is missing, or the change is equivalent (the program does the same). What
was found equivalent stands in tests/mutants/equivalent.txt, with the reason, and is not tried again.

It works on a copy of the tracked files, build/mutants/source, with a build tree of its own in it: the first run builds
everything (with CCACHE_BASEDIR above both, ccache has it from build/release), then every file of the changed folders by itself; each mutant
one file, at -O1, which a link puts before the library. What survives the near tests is built as a whole and meets all tests; with --near
it is not. Our warnings are errors there too. Of all that walks the registry the tests then see the algorithms of the changed file only,
or of its folder (WORMCUBE_TEST_ONLY). Default: 10 random mutants of the .cpp files of collectives/ and runtime/schedule/; a
header, which much depends on, is changed only if it is named. Ends with 1 if any survived. Needs python3.

  ./run mutants                                            10 anywhere
  ./run mutants --sample 50 --seconds 3600 collectives/alltoall/kim_array.cpp
  ./run mutants --list runtime/schedule/check.cpp          shows them, builds nothing
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import functools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build/mutants"
BUILD = WORK / "source/build/release"
FOLDERS = ("collectives", "runtime/schedule")
ELSEWHERE = ("collectives/mpi/", "collectives/plugin.cpp")  # other programs test these: tests/mpi, tests/package

# The tests that can see a change, by where it is, the first prefix that fits: files of tests, near and quick ones first. A
# mutant meets the next group only if it survives the one before, and at last all tests.
ALL = (f"ctest -j{os.cpu_count()} -L unit --stop-on-failure", "")  # a minute and a half
WALK = "algorithms"  # all algorithms that WORMCUBE_TEST_ONLY leaves
TESTS = (("runtime/schedule/text", ["text golden"]),
         ("runtime/schedule/", ["check prove record text golden", "harness block_array", WALK]),
         ("collectives/harness/choose", ["registry", WALK]),
         ("collectives/harness/", ["harness contract", "mutants", "prove registry reductions", WALK]),
         ("collectives/block_array", ["block_array torus_core", WALK]),
         ("collectives/alltoall/product/", [WALK, "product"]),
         ("collectives/alltoall/mesh", ["mesh_order", WALK, "mesh_exchange"]),
         ("collectives/alltoall/suh_mesh", ["mesh_order", WALK, "mesh_exchange"]),
         ("collectives/alltoall/", ["golden torus_core torus_mutants", WALK, "torus_exchange mesh_exchange alltoall_textbook"]),
         ("collectives/broadcast/", ["golden", WALK, "torus_broadcast broadcast broadcast_figure"]),
         ("collectives/all", ["golden", WALK, "allgather reductions"]),
         ("collectives/reduc", ["golden reduction", WALK, "reductions"]),
         ("collectives/k_", ["golden", WALK, "k_to_all"]),
         ("collectives/shift", ["golden", WALK, "shift"]),
         ("collectives/scatter", ["golden", WALK, "scatter_gather"]),
         ("collectives/gather", ["golden", WALK, "scatter_gather"]),
         ("collectives/", ["registry needs options call contract harness block_array pattern_load", WALK, "reductions"]))
# For changes that are no operation's: one algorithm of each kind.
KINDS = ("alltoall/suh-torus alltoall/suh-mesh alltoall/shift alltoall/product broadcast/park allgather/ring allreduce/ring "
         "scan/hypercube scatter/halving barrier k_broadcast/split alltoallv/shift")

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


def mutants_of(path, text, changes=CHANGES):
    """All mutants of one file."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        if not bare or bare.startswith(("#", "//", "static_assert", "WORMCUBE_ASSERT", "using ", "namespace ", "template")):
            continue
        code = code_columns(line)
        for pattern, replacement in changes:
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
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, encoding="utf-8").stdout.split("\n")
    for name in filter(None, tracked):
        source, target = ROOT / name, WORK / "source" / name
        if not source.is_file() or (target.exists() and target.read_bytes() == source.read_bytes()):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)


@functools.cache
def users(path):
    """The file and all that include its header, directly or not."""
    found, new = set(), {path}
    while new:
        found |= new
        headers = {f"wormcube/{name[:-4]}.hpp" for name in new}
        new = {name for name, text in sources().items() if name not in found and any(f'"{h}"' in text for h in headers)}
    return found


@functools.cache
def sources():
    return {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8") for kind in ("*.cpp", "*.hpp") for p in (ROOT / "collectives").rglob(kind)}


def walked(path):
    """WORMCUBE_TEST_ONLY: the algorithms that the file defines or that use it, ten of them if they are many; or KINDS."""
    named = re.compile(r'\.operation = operations::(\w+),\s+\.name = "([\w-]+)"')
    names = sorted({"/".join(match) for name in users(path) for match in named.findall(sources().get(name, ""))})
    return " ".join(names[::(len(names) + 9) // 10]) if names else KINDS


def commands(path, arguments):
    """What must pass for a mutant of this file to survive: (command, WORMCUBE_TEST_ONLY), in order."""
    if arguments.command:
        return [(arguments.command, "")]
    if arguments.tests:
        return [(f"tests/wormcube_tests --abort '{arguments.tests}'", walked(path))]
    groups = next(groups for prefix, groups in TESTS if path.startswith(prefix))
    specs = [",".join(f"[#{file}_test]~[.]~[stress]" for file in group.split()) for group in groups]
    return [*((f"tests/wormcube_tests -# --abort '{tests}'", walked(path)) for tests in specs), ALL]


class NearBuild:
    """The test program with one file of the library changed: that file is compiled alone and linked before the library, whose units are
    not drawn then, as the other files of its folder stand there by themselves, too."""

    def __init__(self, folders):
        commands = subprocess.run(["ninja", "-C", str(BUILD), "-t", "compdb"], check=True, capture_output=True, encoding="utf-8").stdout
        unit = next(entry for entry in json.loads(commands) if "/wormcube.dir/Unity/" in entry["output"] and entry["file"].endswith(".cxx"))
        self.compiler = unit["command"].split(" -MD ")[0].replace(" -O3", " -O1").split()
        link = subprocess.run(["ninja", "-C", str(BUILD), "-t", "commands", "-s", "tests/wormcube_tests"], check=True, capture_output=True,
                              encoding="utf-8").stdout.strip().split("\n")[-1]
        # The library is not linked whole, as it is else (wormcube_link_first): it would define again what the files define.
        link = re.sub(r"-Wl,--whole-archive,\S+ ", "", link.removeprefix(": && ").split(" && ")[0])
        self.linker = link.replace("-o tests/wormcube_tests", "-o tests/wormcube_mutant") + (" -fuse-ld=lld" if shutil.which("ld.lld") else "")
        self.library = next(word for word in link.split() if word.endswith("libwormcube.a"))
        self.objects = {}
        for folder in folders:
            for source in sorted((WORK / "source" / folder).glob("*.cpp")):
                path = str(source.relative_to(WORK / "source"))
                self.objects[path] = BUILD / "mutants" / (path.replace("/", "_") + ".o")
                if not self.compile(path, self.objects[path])[0]:
                    raise RuntimeError(f"{path} does not compile by itself")

    def compile(self, path, target):
        target.parent.mkdir(exist_ok=True)
        done = subprocess.run([*self.compiler, "-o", target, "-c", WORK / "source" / path], cwd=BUILD, capture_output=True, encoding="utf-8")
        return done.returncode == 0, done.stderr[-2000:]

    def build(self, path=None):
        """With this file as it is now."""
        changed = BUILD / "mutants/changed.o"
        if path is not None and not self.compile(path, changed)[0]:
            return False
        objects = [str(changed if name == path else place) for name, place in self.objects.items()]
        command = self.linker.replace(self.library, " ".join([*objects, self.library]), 1)
        return subprocess.run(command, shell=True, cwd=BUILD, capture_output=True).returncode == 0


def build(target):
    done = subprocess.run(["ninja", "-C", str(BUILD), target], capture_output=True, encoding="utf-8")
    return done.returncode == 0, done.stdout[-2000:]


def status(command, limit, **where):
    """What a process ends with within so many seconds, or None; what it has started ends with it."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **where)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


def passes(command, only, limit):
    """Whether the tests pass within so many seconds."""
    return status(command, limit, shell=True, cwd=BUILD, env={**os.environ, **({"WORMCUBE_TEST_ONLY": only} if only else {})}) == 0


def configure():
    launcher = ["-D", "CMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    subprocess.run(["cmake", "--preset", "release", "-D", "WORMCUBE_BENCHMARKS=OFF", "-D", "WORMCUBE_MPI=OFF", *launcher],
                   cwd=WORK / "source", check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="files or folders; default: " + " ".join(FOLDERS))
    parser.add_argument("--sample", type=int, default=10, metavar="N", help="so many, chosen at random; 0: all")
    parser.add_argument("--seconds", type=float, default=1800, help="start no mutant after so long")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the choice")
    parser.add_argument("--tests", metavar="SPEC", help="a Catch2 test spec instead of the usual one")
    parser.add_argument("--target", default="wormcube_tests", help="what is built")
    parser.add_argument("--command", help="run in the build tree instead of the tests")
    parser.add_argument("--near", action="store_true", help="the near tests alone: what survives them is not tried with all")
    parser.add_argument("--list", action="store_true", help="show the mutants and stop")
    arguments = parser.parse_args()

    files = []
    for name in arguments.files or FOLDERS:
        path = (ROOT / name).resolve()
        files += sorted(path.rglob("*.cpp")) if path.is_dir() else [path]
    files = [path for path in files if not str(path.relative_to(ROOT)).startswith(ELSEWHERE)]
    equivalent = {line.split(" ## ")[0].strip() for line in (ROOT / "tests/mutants/equivalent.txt").read_text(encoding="utf-8").splitlines()}
    mutants = [m for path in files for m in mutants_of(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")) if m.key() not in equivalent]
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
    near = None
    if arguments.target == "wormcube_tests" and not arguments.command:
        near = NearBuild(sorted({str(pathlib.Path(m.path).parent) for m in mutants}))
        if not near.build():
            print("the files of the changed folders do not link by themselves")
            return 2

    def tests_of(path):
        """The near ones, with the near build, and the last."""
        tests = commands(path, arguments)
        if near is None:
            return [], tests
        near_tests = [(command.replace("tests/wormcube_tests", "tests/wormcube_mutant"), only) for command, only in tests if command != ALL[0]]
        return near_tests, [] if arguments.near or arguments.tests else [ALL]

    # The unchanged tree must pass; how long it takes says when a mutant hangs.
    limits = {}
    for test in {test for m in mutants for tests in tests_of(m.path) for test in tests}:
        began = time.monotonic()
        if not passes(*test, 3600):
            print(f"the unchanged tree fails: WORMCUBE_TEST_ONLY='{test[1]}' {test[0]}")
            return 2
        limits[test] = 30 + 4 * (time.monotonic() - began)
    counts = {"killed": 0, "does not compile": 0, "survived": 0, "not tried": 0}
    for m in mutants:
        if time.monotonic() - start > arguments.seconds:
            counts["not tried"] += 1
            continue
        file = WORK / "source" / m.path
        text = file.read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        lines[m.line - 1] = m.after + "\n"
        file.write_text("".join(lines), encoding="utf-8")
        try:
            near_tests, last_tests = tests_of(m.path)
            if not (near.build(m.path) if near else build(arguments.target)[0]):
                verdict = "does not compile"
            elif not all(passes(*test, limits[test]) for test in near_tests):
                verdict = "killed"
            elif last_tests and near and not build(arguments.target)[0]:
                verdict = "does not compile"
            elif all(passes(*test, limits[test]) for test in last_tests):
                verdict = "survived"
            else:
                verdict = "killed"
        finally:
            file.write_text(text, encoding="utf-8")
        counts[verdict] += 1
        print(f"{verdict:16}  {m.path}:{m.line}: {m.before.strip()}  =>  {m.after.strip()}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
