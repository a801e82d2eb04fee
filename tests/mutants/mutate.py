#!/usr/bin/env python3
"""Changes one operator, constant or statement at a time, runs the tests that matter, and lists the survivors.

A survivor is a change that no test notices: a test is missing, or the change is equivalent (the program does the same). What
was found equivalent stands in tests/mutants/equivalent.txt, with the reason, and is not tried again.

It works on a copy of the tracked files, build/mutants/source, with a build tree of its own in it: the first run builds
everything (with CCACHE_BASEDIR above both, ccache has it from build/release), then every file of the changed folders by itself, which
a link puts before the library. All mutants of a file are compiled at once, each chosen at run time (schema.py); what is needed at
compile time is compiled alone. First the near tests run once and say which mutants' places each test reaches: a mutant meets
only those, quick ones first, and what no near test reaches survives without a run. A mutant may take 3 seconds of the processor and five times what
the tests take without it. What survives is compiled as it stands, our warnings being errors, and, with --all, meets all tests, the
program as a process too. Of all that walks the registry the tests see the algorithms of the changed file only, or of its folder
(WORMCUBE_TEST_ONLY). Every verdict goes to build/mutants/results.jsonl, and the next run goes on from there: what was killed is not
tried again until its file changes, nor what survived until a test does.

Default: 10 random mutants of the .cpp files of collectives/, runtime/schedule/ and runtime/dataflow/; a header, which much depends on, is changed only
if it is named. Ends with 1 if any survived. Needs python3.

  ./run mutants                                            10 anywhere
  ./run mutants --sample 50 --seconds 3600 collectives/alltoall/kim_array.cpp
  ./run mutants --sample 0 --seconds 1e9 runtime/schedule  all, from where the last run stopped
  ./run mutants --list runtime/schedule/check.cpp          shows them, builds nothing
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass

import schema

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build/mutants"
BUILD = WORK / "source/build/release"
FOLDERS = ("collectives", "runtime/schedule", "runtime/dataflow")
ELSEWHERE = ("collectives/mpi/", "collectives/core/plugin.cpp")  # other programs test these: tests/mpi, tests/package

RESULTS = WORK / "results.jsonl"
ALONE = WORK / "alone.txt"  # mutants that no schema can hold, as far as known

# The near tests, by where the change is, the first prefix that fits: files of tests, or tags of theirs.
ALL = f"ctest -j{os.cpu_count()} -L unit --stop-on-failure"  # a minute and a half
WALK = "algorithms"  # all algorithms that WORMCUBE_TEST_ONLY leaves
TESTS = (("runtime/schedule/", "check prove record text golden phases harness block_array run_trace faults " + WALK),
         ("runtime/dataflow/", "named mutants written contents msccl mscclpp search"),
         ("collectives/choose/work", "work registry"),
         ("collectives/choose/", "choose registry work options brackets near_winners modelled"),
         ("collectives/harness/weigh", "choose registry work options brackets"),
         ("collectives/harness/memory", "memory_need harness run check"),
         ("collectives/harness/", "harness contract mutants needs call run registry work check " + WALK),
         ("collectives/kit/block_", "block_array torus_core " + WALK),
         ("collectives/kit/sources", "golden k_to_all " + WALK),
         ("collectives/alltoall/product/", "product " + WALK),
         ("collectives/alltoall/mesh", "mesh_order mesh_exchange " + WALK),
         ("collectives/alltoall/suh_mesh", "mesh_order mesh_exchange " + WALK),
         ("collectives/alltoall/", "golden torus_core torus_mutants torus_exchange mesh_exchange alltoall_textbook " + WALK),
         ("collectives/broadcast/", "golden torus_broadcast broadcast broadcast_figure " + WALK),
         ("collectives/all", "golden allgather reductions " + WALK),
         ("collectives/core/reduc", "reduction reductions " + WALK),
         ("collectives/reduc", "golden reduction reductions " + WALK),
         ("collectives/k_", "golden k_to_all " + WALK),
         ("collectives/shift", "golden shift " + WALK),
         ("collectives/scatter", "golden scatter_gather " + WALK),
         ("collectives/", "registry needs options call contract harness block_array pattern_load reductions " + WALK))
# For changes that are no operation's: one algorithm of each kind.
KINDS = ("alltoall/suh-torus alltoall/suh-mesh alltoall/shift alltoall/product broadcast/park allgather/ring allreduce/ring "
         "scan/hypercube scatter/halving barrier k_broadcast/split alltoallv/shift")

# Each is looked for in code, outside of comments, strings and preprocessor lines.
CHANGES = ((r"(?<![<>=!\-])<(?![<=])(?= )", "<="), (r"<=(?!>)", "<"), (r"(?<![>\-])>=", ">"), (r"(?<= )>(?= )", ">="),
           (r"==", "!="), (r"!=", "=="), (r"(?<= )&&(?= |$)", "||"), (r"(?<= )\|\|(?= |$)", "&&"), (r"(?<= )\+(?= )", "-"), (r"(?<= )-(?= )", "+"),
           (r"(?<= )\*(?= )", "+"), (r"(?<= )/(?= )", "*"), (r"(?<= )%(?= )", "/"), (r"\+=", "-="), (r"-=", "+="),
           (r"(?<= )\^(?= )", "|"), (r"<<(?= \w)", ">>"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
           (r"\bmin\(", "max("), (r"\bmax\(", "min("), (r"(?<=\()!(?=\w)", ""), (r"(?<= )!(?=\w)", ""),
           (r"(?<![\w.\"'])(?<!\de-)\d+(?![\w.\"'])", None))  # None: the next number
STATEMENT = re.compile(r"^\s*(?:break|continue|[\w.\->\[\]():]+ (?:[+\-*/|&^]?=) .*|[\w.\->:\[\]]+\(.*\)|\+\+\S+|--\S+);$")


@dataclass(frozen=True)
class Mutant:
    path: str
    line: int  # from 1
    before: str  # the whole line
    after: str
    begin: int  # columns of what is changed
    end: int
    replacement: str

    @property
    def statement(self):
        return self.replacement == ";"

    def key(self):
        return f"{self.path}: {self.before.strip()} => {self.after.strip()}"

    def __str__(self):
        return f"{self.path}:{self.line}: {self.before.strip()}  =>  {self.after.strip()}"


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
    found, begins = [], True
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        begins_here = begins  # a statement may
        if not bare or bare.startswith(("#", "//", "static_assert", "WORMCUBE_ASSERT", "using ", "namespace ", "template")):
            continue
        code = code_columns(line)
        words = "".join(c for c, is_code in zip(line, code) if is_code).strip()
        if words:
            begins = words.endswith((";", "{", "}", ")", ":", "else"))
        for pattern, replacement in changes:
            for match in re.finditer(pattern, line):
                if not all(code[match.start():match.end()]):
                    continue
                new = str(int(match.group()) + 1) if replacement is None else replacement
                found.append(Mutant(path, number, line, line[:match.start()] + new + line[match.end():], *match.span(), new))
        if begins_here and STATEMENT.match(line) and schema.balanced(words):
            blanks = len(line) - len(line.lstrip())
            found.append(Mutant(path, number, line, line[:blanks] + ";", blanks, len(line), ";"))
    return found


def copy_tree():
    """The tracked files as they are now; what has not changed keeps its time."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, encoding="utf-8").stdout.split("\n")
    for name in filter(None, tracked):
        source, target = ROOT / name, WORK / "source" / name
        if source.is_symlink():  # include/wormcube/
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            target.symlink_to(os.readlink(source))
            continue
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


def near_tests(path, arguments):
    """Catch2's specification of the near tests, and WORMCUBE_TEST_ONLY."""
    if arguments.tests:
        return arguments.tests, walked(path)
    files = next(files for prefix, files in TESTS if path.startswith(prefix))
    return ",".join(f"[#{file}_test]~[.]~[stress]" for file in files.split()), walked(path)


class NearBuild:
    """Programs with some files of the library changed: these are compiled alone and linked before the library, whose units are
    not drawn then, as the other files of their folders stand there by themselves, too."""

    def __init__(self, folders, jobs, launcher):
        self.launcher = launcher
        compdb = subprocess.run(["ninja", "-C", str(BUILD), "-t", "compdb"], check=True, capture_output=True, encoding="utf-8").stdout
        compdb = json.loads(compdb)
        unit = next(entry for entry in compdb if "/wormcube.dir/Unity/" in entry["output"] and entry["file"].endswith(".cxx"))
        self.compiler = shlex.split(unit["command"].split(" -MD ")[0].replace(" -O3", " -O1"))
        (WORK / "objects").mkdir(exist_ok=True)
        # Reports what each test reaches; Catch's interface for it is not in the precompiled header.
        test = next(entry for entry in compdb if "/wormcube_tests.dir/Unity/" in entry["output"] and entry["file"].endswith(".cxx"))
        listener = [*shlex.split(re.sub(r" -include \S+", "", test["command"].split(" -MD ")[0])), "-o", WORK / "objects/reached.o", "-c", ROOT / "tests/mutants/reached.cpp"]
        subprocess.run([*launcher, *listener], cwd=BUILD, check=True)
        paths = [str(source.relative_to(WORK / "source")) for folder in folders for source in sorted((WORK / "source" / folder).glob("*.cpp"))]
        self.objects = {path: self.object_of(path, "plain") for path in paths}
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            for path, log in zip(paths, pool.map(lambda path: self.compile(WORK / "source" / path, self.objects[path]), paths)):
                if log:
                    raise RuntimeError(f"{path} does not compile by itself:\n{log}")

    @staticmethod
    def object_of(path, kind):
        return WORK / "objects" / f"{path.replace('/', '_')}.{kind}.o"

    def compile(self, source, target, *options):
        """What the compiler says if it fails."""
        done = subprocess.run([*self.launcher, *self.compiler, *options, "-o", target, "-c", source], cwd=BUILD, capture_output=True, encoding="utf-8")
        return "" if done.returncode == 0 else done.stderr or "killed"

    def link(self, program, output, changed, *more):
        """A program of the tree, with these objects for these files and some more."""
        link = subprocess.run(["ninja", "-C", str(BUILD), "-t", "commands", "-s", program], check=True, capture_output=True,
                              encoding="utf-8").stdout.strip().split("\n")[-1]
        # The library is not linked whole, as it is else (wormcube_link_first): it would define again what the files define.
        link = re.sub(r"-Wl,--whole-archive,\S+libwormcube.a,\S+ ", "", link.removeprefix(": && ").split(" && ")[0])
        link = link.replace(f"-o {program} ", f"-o {shlex.quote(str(output))} ") + (" -fuse-ld=lld" if shutil.which("ld.lld") else "")
        library = next(word for word in link.split() if word.endswith("libwormcube.a"))
        objects = " ".join(str(place) for place in [*more, *({**self.objects, **changed}.values())])
        command = [*self.launcher, "sh", "-c", link.replace(library, f"{objects} {library}", 1)]
        done = subprocess.run(command, cwd=BUILD, capture_output=True, encoding="utf-8")
        if done.returncode != 0:
            raise RuntimeError("does not link:\n" + done.stderr[-2000:])


def changed_text(m, text):
    lines = text.splitlines(keepends=True)
    lines[m.line - 1] = m.after + "\n"
    return "".join(lines)


def compile_schema(near, path, mutants):
    """Compiles a file with all its mutants, {number: mutant}, and returns the object and those that it does not hold."""
    text = (WORK / "source" / path).read_text(encoding="utf-8")
    code = "".join("".join(c if is_code else " " for c, is_code in zip(line, code_columns(line))) + "\n" for line in text.splitlines())
    place, target, alone = WORK / "schema" / path, near.object_of(path, "schema"), set()
    if ALONE.exists():
        known = set(ALONE.read_text(encoding="utf-8").splitlines())
        alone = {number for number, m in mutants.items() if str(m) in known}
    place.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(10):
        held = {number: m for number, m in mutants.items() if number not in alone}
        written, left = schema.schema(text, code, held)
        alone |= left
        place.write_text(written, encoding="utf-8")
        log = near.compile(place, target, "-w")
        if not log:
            return target, alone
        wrong = {int(n) for n in re.findall(rf"/schema/{re.escape(path)}:(\d+)[:,].*(?:error:|required from)", log)}
        found = schema.named(written, wrong) - alone
        if not found:
            break
        alone |= found
        with ALONE.open("a", encoding="utf-8") as file:
            file.write("".join(f"{mutants[number]}\n" for number in found))
    print(f"{path}: no schema:\n{log[:3000]}", file=sys.stderr)
    return near.objects[path], set(mutants)


def limited(seconds):
    """For a process of tests: this many seconds of the processor, and 12 GB of data (stacks that nobody touches among them)."""
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_DATA, (12 << 30, 12 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    return limit


def ends_well(command, seconds, launcher, environment):
    """Whether the tests pass within this many seconds of the processor, or ten minutes, and say so: a fiber that returns to nowhere ends
    the process with 0. What the process has started ends with it."""
    process = subprocess.Popen([*launcher, *command], cwd=BUILD, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
                               preexec_fn=limited(seconds), env={**os.environ, **environment}, encoding="utf-8", errors="replace")
    try:
        said, _ = process.communicate(timeout=600)
        return process.returncode == 0 and re.search("All tests passed|100% tests passed", said) is not None
    except subprocess.TimeoutExpired:
        return False
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def reach(program, tests, only, launcher):
    """Runs the tests: {name: (seconds of the processor, the mutants that it reaches)}; those whose change does not compile."""
    places = WORK / "reached"
    reached = WORK / "reached.txt"
    places.write_bytes(bytes(1 << 16))
    reached.unlink(missing_ok=True)
    done = subprocess.run([*launcher, program, "-#", tests], cwd=BUILD, capture_output=True, encoding="utf-8", preexec_fn=limited(3600),
                          env={**os.environ, "WORMCUBE_TEST_ONLY": only, "WORMCUBE_MUTANTS_REACHED": str(places)})
    if done.returncode != 0:
        raise RuntimeError(f"the unchanged tree fails: WORMCUBE_TEST_ONLY='{only}' {program} -# '{tests}'\n{done.stdout[-3000:]}")
    found, always, invalid = {}, set(), set()
    for line in reached.read_text(encoding="utf-8").splitlines():
        name, seconds, numbers = line.split("\t")
        numbers = [int(n) for n in numbers.split()]
        invalid |= {-n for n in numbers if n < 0}
        if name:
            found[name] = float(seconds), {n for n in numbers if n > 0}
        else:
            always |= {n for n in numbers if n > 0}
    return {name: (seconds, numbers | always) for name, (seconds, numbers) in found.items()}, invalid


def portions(tests):
    """{name: seconds} as lists of names, quick ones first: of a third of a second, of three, and the rest."""
    result, spent = [[], [], []], 0.0
    for name, seconds in sorted(tests.items(), key=lambda test: test[1]):
        spent += seconds
        result[0 if spent < 0.3 else 1 if spent < 3 else 2].append(name)
    return [names for names in result if names]


def survives(program, number, tests, only, launcher):
    """Whether all these tests pass."""
    names = WORK / f"names-{threading.get_ident()}"
    for portion in portions(tests):
        names.write_text("".join(re.sub(r'([\\,\["])', r"\\\1", name) + "\n" for name in portion), encoding="utf-8")
        limit = 3 + 5 * sum(tests[name] for name in portion)
        if not ends_well([program, "--abort", "--input-file", str(names)], limit, launcher, {"WORMCUBE_TEST_ONLY": only, "WORMCUBE_MUTANT": str(number)}):
            return False
    return True


def digest(*paths):
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(paths))).hexdigest()[:16]


class Results:
    """What was found, kept from run to run."""

    def __init__(self):
        self.tests = digest(*(ROOT / "tests").rglob("*.[ch]pp"))
        self.known = {}
        if RESULTS.exists():
            for line in RESULTS.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self.known[entry["path"], entry["line"], entry["after"]] = entry

    def verdict(self, m):
        """Of an earlier run, if it still holds."""
        entry = self.known.get((m.path, m.line, m.after))
        if entry is None or entry["file"] != digest(ROOT / m.path):
            return None
        return entry["verdict"] if not entry["verdict"].startswith("survived") or entry["tests"] == self.tests else None

    def add(self, m, verdict):
        entry = {"path": m.path, "line": m.line, "after": m.after, "verdict": verdict, "file": digest(ROOT / m.path), "tests": self.tests}
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")


class Trial:
    """Tries mutants, a list: all that a schema holds, then the others one by one."""

    def __init__(self, mutants, arguments):
        self.arguments, self.launcher = arguments, shlex.split(arguments.launcher)
        self.numbers = dict(enumerate(mutants, 1))
        self.near = NearBuild(sorted({str(pathlib.Path(m.path).parent) for m in mutants}), arguments.jobs, self.launcher)
        paths = sorted({m.path for m in mutants})
        self.alone, self.objects = set(), {}
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            compiled = pool.map(lambda path: compile_schema(self.near, path, {n: m for n, m in self.numbers.items() if m.path == path}), paths)
            for path, (target, alone) in zip(paths, compiled):
                self.objects[path] = target
                self.alone |= alone
        self.program = WORK / "tests_with_mutants"
        self.near.link("tests/wormcube_tests", self.program, self.objects, WORK / "objects/reached.o")
        self.reached, self.invalid = {}, set()
        for tests in {near_tests(path, arguments) for path in paths}:
            self.reached[tests], invalid = reach(str(self.program), *tests, self.launcher)
            self.invalid |= invalid
            times = {name: seconds for name, (seconds, _) in self.reached[tests].items()}
            if not survives(str(self.program), 0, times, tests[1], self.launcher):
                raise RuntimeError(f"the unchanged tree fails, quick tests first: WORMCUBE_TEST_ONLY='{tests[1]}' {self.program} '{tests[0]}'")

    def try_near(self, number):
        m = self.numbers[number]
        _, only = tests = near_tests(m.path, self.arguments)
        reached = self.reached[tests]
        if number in self.invalid:
            return "does not compile"
        mine = WORK / f"alone-{threading.get_ident()}"
        source, target, program = mine.with_suffix(".cpp"), mine.with_suffix(".o"), str(self.program)
        names = {name: seconds for name, (seconds, numbers) in reached.items() if number in self.alone or number in numbers}
        text = changed_text(m, (WORK / "source" / m.path).read_text(encoding="utf-8"))
        if number in self.alone:
            source.write_text(text, encoding="utf-8")
            if self.near.compile(source, target):
                return "does not compile"
            program = str(mine)
            self.near.link("tests/wormcube_tests", program, {m.path: target})
        if not survives(program, number, names, only, self.launcher):
            return "killed"
        if number not in self.alone:  # our warnings have not seen it yet
            source.write_text(text, encoding="utf-8")
            if self.near.compile(source, target, "-fsyntax-only"):
                return "does not compile"
        return "survived" if names else "survived, and no near test reaches it"

    def try_all(self, numbers):
        """Of these, those that survive all tests, the program as a process among them: it and the tests are linked anew, with the mutants."""
        programs, survivors = ("tests/wormcube_tests", "wormcube"), []
        try:
            for number in [0, *numbers]:
                m = self.numbers.get(number)
                if number in (0, *(self.alone & set(numbers))):
                    changed = self.objects
                    if number in self.alone:
                        source, target = WORK / "alone.cpp", WORK / "alone.o"
                        source.write_text(changed_text(m, (WORK / "source" / m.path).read_text(encoding="utf-8")), encoding="utf-8")
                        self.near.compile(source, target)
                        changed = {m.path: target}
                    for program in programs:
                        self.near.link(program, BUILD / program, changed)
                passes = ends_well(shlex.split(ALL), 3600, self.launcher, {"WORMCUBE_MUTANT": str(number)})
                if number == 0 and not passes:
                    raise RuntimeError("the unchanged tree fails: " + ALL)
                if number != 0 and passes:
                    survivors.append(number)
        finally:
            for program in programs:
                (BUILD / program).unlink(missing_ok=True)
        return survivors


def build(target):
    done = subprocess.run(["ninja", "-C", str(BUILD), target], capture_output=True, encoding="utf-8")
    if done.returncode != 0:
        raise RuntimeError("the unchanged tree does not build:\n" + done.stdout[-2000:])


def configure():
    launcher = ["-D", "CMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    subprocess.run(["cmake", "--preset", "release", "-D", "WORMCUBE_BENCHMARKS=OFF", "-D", "WORMCUBE_MPI=OFF", *launcher],
                   cwd=WORK / "source", check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="files or folders; default: " + " ".join(FOLDERS))
    parser.add_argument("--sample", type=int, default=10, metavar="N", help="mutants to try, chosen at random; 0: all")
    parser.add_argument("--seconds", type=float, default=1800, help="start no mutant after this many seconds")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="seed of the random choice")
    parser.add_argument("--tests", metavar="SPEC", help="a Catch2 test spec instead of the near tests")
    parser.add_argument("--all", action="store_true", help="what survives the near tests meets all: minutes each")
    parser.add_argument("--again", action="store_true", help="forget what earlier runs found")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="trials at a time")
    parser.add_argument("--launcher", default="", metavar="COMMAND", help="put before each process, such as `nice`")
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
    order = [str(path.relative_to(ROOT)) for path in files]
    mutants = sorted(mutants[:arguments.sample or None], key=lambda m: (order.index(m.path), m.line, m.begin, m.after))
    if arguments.list:
        print("\n".join(map(str, mutants)))
        return 0

    start = time.monotonic()
    WORK.mkdir(parents=True, exist_ok=True)
    if arguments.again:
        RESULTS.unlink(missing_ok=True)
    results, counts = Results(), {}

    def tell(m, verdict):
        counts.setdefault(m.path, {}).setdefault(verdict, []).append(m)
        if verdict.startswith("survived"):
            print(f"{verdict}: {m}", flush=True)
        if sys.stderr.isatty():
            done = sum(len(found) for verdicts in counts.values() for found in verdicts.values())
            print(f"\r{done} of {len(mutants)}", end="", file=sys.stderr, flush=True)

    open_ones = []
    for m in mutants:
        verdict = results.verdict(m)
        if verdict is None:
            open_ones.append(m)
        else:
            tell(m, verdict)
    if open_ones:
        copy_tree()
        configure()
        build("wormcube_tests")
        trial, survivors = Trial(open_ones, arguments), []
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            # Mutants that schemas find are quick: they come first.
            numbers = sorted(trial.numbers, key=lambda number: (number in trial.alone, number))
            tries = pool.map(lambda n: trial.try_near(n) if time.monotonic() - start < arguments.seconds else "not tried", numbers)
            for number, verdict in zip(numbers, tries):
                m = trial.numbers[number]
                if verdict.startswith("survived") and arguments.all:
                    survivors.append((number, verdict))
                    continue
                if verdict != "not tried":
                    results.add(m, verdict)
                tell(m, verdict)
        if survivors:
            left = trial.try_all([number for number, _ in survivors])
            for number, verdict in survivors:
                verdict = verdict if number in left else "killed"
                results.add(trial.numbers[number], verdict)
                tell(trial.numbers[number], verdict)
    for path, verdicts in sorted(counts.items()):
        print(f"{path}: " + ", ".join(f"{len(found)} {verdict}" for verdict, found in sorted(verdicts.items())))
    return 1 if any(verdict.startswith("survived") for verdicts in counts.values() for verdict in verdicts) else 0


if __name__ == "__main__":
    sys.exit(main())
