#!/usr/bin/env python3
"""Changes one operator, constant or statement at a time of what threads share, and reports who
detects it: the explorer, which tries
every execution of its scenarios, or else the tests of that class. Prints a table, and the survivors that
tests/interleavings/equivalent_lines.txt does not explain; ends with 1 if there are any.

Each mutant is a copy of one header that hides the original from the compiler. The scenarios that use the header are compiled with it, those of
its class first, and explored until one fails; then the tests, without those that try at random ([stress]). They are linked with the library of
build/release. An exploration may take six times the states that it takes else: a scenario that fails says so, one of more states
says nothing. Memory orders are weakened by the tests themselves ("what threads share holds in every execution, and each of
its orders is needed or judged").

  tests/interleavings/lines.py                                        all; some ten minutes of processor time
  tests/interleavings/lines.py runtime/machine/executor/gate.hpp --json FILE   one, with every mutant
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/mutants"))
import mutate  # noqa: E402

# Of each header the scenarios (tests/interleavings/scenarios) and the tests.
HEADERS = {"runtime/network/reservation.hpp": (["reservation"], ["network/reservation"]),
           "runtime/network/completion.hpp": (["completion"], ["network/completion"]),
           "runtime/network/lazy_table.hpp": (["lazy_table"], ["network/lazy_table"]),
           "runtime/machine/executor/gate.hpp": (["gate", "completion", "node_threads", "work_place"], ["machine/gate"]),
           "runtime/network/router_turns.hpp": (["router_turns"], []),
           "runtime/network/inbox.hpp": (["inbox", "gate"], ["machine/inbox"]),
           "runtime/machine/executor/work_list.hpp": (["work_list", "work_place"], ["machine/work_list"]),
           "runtime/machine/executor/work_place.hpp": (["work_place"], []),
           "runtime/machine/executor/node_threads.hpp": (["node_threads", "gate", "completion"], ["machine/node_threads"])}
# What is changed besides mutate.CHANGES: conditions, the values that words have, statements in braces, of two lines, or in a cast.
CHANGES = (*mutate.CHANGES, (r"(?<=\bif \()(?=\w)", "!"), (r"(?<=\bwhile \()(?=\w)", "!"), (r"\b(?:held|idle|dozing|closed)\(\)", "nullptr"),
           (r"\bparked\b", "stopped"), (r"\bstopped\b", "called"), (r"\bcalled\b", "parked"), (r"\bProgress::pending", "Progress::watched"),
           (r"\bProgress::awaited", "Progress::pending"), (r"\bProgress::watched", "Progress::awaited"),
           (r"\bProgress::complete", "Progress::pending"), (r"(?<=\{ )(?!return)[^{};]+;(?= \})", ""),
           (r"(?<=    )(?=[\w.]+\([^;]*,$)", "if (false) "), (r"static_cast<void>\(.*\);", ";"), (r"(?<=    )[\w.]+\([^;]*\);(?=  //)", ";"))
EXPLAINED = ROOT / "tests/interleavings/equivalent_lines.txt"
# Explores each scenario, with at most this many states; without arguments it prints the number of scenarios.
RUNNER = """#include "wormcube/tests/interleavings/scenarios.hpp"
#include <cstdio>
#include <cstdlib>
int main(int count, char** states) {
  for (auto each : interleavings::SCENARIOS()) {
    if (each.wide) continue;
    if (count > 1) each.bounds.states = std::strtoull(*++states, nullptr, 10);
    const auto report = each.explore();
    if (!report.failure.empty()) return 1;
    if (!report.complete) return 2;
    std::printf("%zu\\n", report.states);
  }
}
"""
SECONDS = 300  # what takes longer never ends


def status(command, limit):
    """What a process ends with within this many seconds, or None; what it has started ends with it."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        return process.wait(limit)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None


class Bench:
    """Compiles and runs, with a folder that hides headers of the project."""

    def __init__(self, work, scenarios):
        self.work = work
        self.compiler = [os.environ.get("CXX", "g++"), "-std=c++20", "-O1", "-w"]
        self.include = ["-I", ROOT / "include", "-I", ROOT / "build/release/generated", f'-DWORMCUBE_SOURCE_DIR="{ROOT}"']
        self.library = [ROOT / "build/release/libwormcube.a", "-lfmt", "-ltbb", "-lboost_context", "-lz", "-ldl", "-lpthread"]
        (work / "explore.cpp").write_text(RUNNER, encoding="utf-8")
        (work / "main.cpp").write_text("#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n", encoding="utf-8")
        self.compile(ROOT / "tests/interleavings/explorer.cpp", work / "explorer.o", "-O2", check=True)
        self.compile(work / "main.cpp", work / "main.o", check=True)
        self.bounds = {}
        for name in scenarios:
            self.compile(work / "explore.cpp", work / f"explore_{name}.o", f"-DSCENARIOS={name}_scenarios", check=True)
            done = subprocess.run([self.exploration(work, name)], check=True, capture_output=True, encoding="utf-8")
            self.bounds[name] = [str(6 * int(states) + 1000) for states in done.stdout.split()]

    def compile(self, source, target, *options, check=False):
        return subprocess.run([*self.compiler, *options, *self.include, "-c", source, "-o", target], check=check,
                              capture_output=True).returncode == 0

    def link(self, target, *objects):
        subprocess.run([*self.compiler, *objects, *self.library, "-o", target], check=True)
        return target

    def exploration(self, folder, name):
        """The program, or None: it does not compile with what the folder hides."""
        if not self.compile(ROOT / f"tests/interleavings/scenarios/{name}.cpp", folder / f"{name}.o", "-I", folder):
            return None
        return self.link(folder / "explore", self.work / "explorer.o", self.work / f"explore_{name}.o", folder / f"{name}.o")

    def fate(self, mutant):
        """Who finds it: explorer, tests or nobody; or that it does not compile."""
        scenarios, tests = HEADERS[mutant.path]
        with tempfile.TemporaryDirectory(dir=self.work) as name:
            folder = pathlib.Path(name)
            changed = (ROOT / mutant.path).read_text(encoding="utf-8").splitlines(keepends=True)
            changed[mutant.line - 1] = mutant.after + "\n"
            hidden = folder / "wormcube" / mutant.path
            hidden.parent.mkdir(parents=True)
            hidden.write_text("".join(changed), encoding="utf-8")
            for each in scenarios:
                program = self.exploration(folder, each)
                if program is None:
                    return "does not compile"
                if status([program, *self.bounds[each]], SECONDS) not in (0, 2, None):
                    return "explorer"
            for each in tests:
                self.compile(ROOT / f"tests/{each}_test.cpp", folder / "test.o", "-I", folder, check=True)
                if status([self.link(folder / "test", folder / "test.o", self.work / "main.o"), "~[stress]"], SECONDS) != 0:
                    return "tests"
        return "nobody"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="*", default=list(HEADERS), help="default: all")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="mutants at a time (1)")
    parser.add_argument("--json", metavar="FILE", help="what became of each mutant")
    arguments = parser.parse_args()
    explained = {line.split(" ## ")[0] for line in EXPLAINED.read_text(encoding="utf-8").splitlines() if " ## " in line}
    counts, results = collections.defaultdict(collections.Counter), []
    mutants = [each for path in arguments.headers for each in mutate.mutants_of(path, (ROOT / path).read_text(encoding="utf-8"), CHANGES)]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        bench = Bench(pathlib.Path(folder), dict.fromkeys(name for path in arguments.headers for name in HEADERS[path][0]))
        for mutant, fate in zip(mutants, pool.map(bench.fate, mutants)):
            if fate == "nobody":
                fate = "explained" if mutant.key() in explained else "survives"
            counts[mutant.path][fate] += 1
            results.append({"mutant": mutant.key(), "line": mutant.line, "fate": fate})
            if fate == "survives":
                print(f"{mutant.path}:{mutant.line} {mutant.before.strip()} => {mutant.after.strip()}", flush=True)
    fates = ("explorer", "tests", "explained", "survives")
    print("| file | mutants | " + " | ".join(fates) + " |\n|" + "---|" * (2 + len(fates)))
    for path, of in counts.items():
        print(f"| `{path}` | {sum(of[fate] for fate in fates)} | " + " | ".join(str(of[fate]) for fate in fates) + " |")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(results, indent=1), encoding="utf-8")
    sys.exit(1 if any(of["survives"] for of in counts.values()) else 0)


if __name__ == "__main__":
    main()
