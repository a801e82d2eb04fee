#!/usr/bin/env python3
"""Changes one operator, constant or statement at a time of what threads share, and looks who notices: the explorer, which tries
every execution of its scenarios, or else the tests of that class. Prints a table, and the survivors that
tests/interleavings/equivalent_lines.txt does not explain; ends with 1 if there are any.

Each mutant is a copy of one header that hides the original from the compiler; nothing else is touched. Both are
linked with the library of build/release. A mutant that never ends is found, too. Memory orders are weakened by the tests
themselves ("what threads share holds in every execution, and each of its orders is needed or judged").

  tests/interleavings/lines.py                                        all; more than an hour
  tests/interleavings/lines.py runtime/machine/gate.hpp --json FILE   one, with every mutant
"""
# SPDX-License-Identifier: Apache-2.0
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/mutants"))
import mutate  # noqa: E402

HEADERS = {"runtime/network/reservation.hpp": ["network/reservation"], "runtime/network/completion.hpp": [],
           "runtime/network/lazy_table.hpp": ["network/lazy_table"], "runtime/machine/gate.hpp": ["machine/gate"],
           "runtime/machine/inbox.hpp": ["machine/inbox"], "runtime/machine/work_list.hpp": ["machine/work_list"],
           "runtime/machine/work_place.hpp": ["machine/work_list", "machine/quiescence"],
           "runtime/machine/node_threads.hpp": ["machine/quiescence"]}
EXPLAINED = ROOT / "tests/interleavings/equivalent_lines.txt"
RUNNER = """#include "wormcube/tests/interleavings/scenarios.hpp"
int main() {
  for (const auto& each : interleavings::scenarios()) {
    if (each.wide) continue;
    const auto report = each.explore();
    if (!report.failure.empty() || !report.complete) return 1;
  }
}
"""


class Bench:
    """Compiles and runs, with a folder that hides headers of the project."""

    def __init__(self, work):
        self.work, self.hiding = work, work / "include"
        self.compiler = [os.environ.get("CXX", "g++"), "-std=c++20", "-O1", "-w", "-I", self.hiding, "-I", ROOT / "include", "-I",
                         ROOT / "build/release/generated", f'-DWORMCUBE_SOURCE_DIR="{ROOT}"']
        self.library = ["-Wl,--whole-archive", ROOT / "build/release/libwormcube.a", "-Wl,--no-whole-archive", "-lfmt", "-ltbb",
                        "-lboost_context", "-lz", "-ldl", "-lpthread"]
        (work / "explore.cpp").write_text(RUNNER, encoding="utf-8")
        (work / "main.cpp").write_text("#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n", encoding="utf-8")
        for source, target in ((ROOT / "tests/interleavings/explorer.cpp", "explorer.o"), (work / "explore.cpp", "explore.o"),
                               (work / "main.cpp", "main.o")):
            self.compile(source, target, check=True)

    def compile(self, source, target, check=False):
        return subprocess.run([*self.compiler, "-c", source, "-o", self.work / target], check=check, capture_output=True).returncode == 0

    def explorer_finds(self):
        """None: it does not compile."""
        if not self.compile(ROOT / "tests/interleavings/scenarios.cpp", "scenarios.o"):
            return None
        objects = [self.work / name for name in ("explorer.o", "explore.o", "scenarios.o")]
        subprocess.run([*self.compiler, *objects, *self.library, "-o", self.work / "explore"], check=True)
        return not mutate.ends_well([self.work / "explore"], 120)

    def tests_find(self, names):
        for name in names:
            if not self.compile(ROOT / f"tests/{name}_test.cpp", "test.o"):
                return None
            subprocess.run([*self.compiler, self.work / "test.o", self.work / "main.o", *self.library, "-o", self.work / "test"], check=True)
            if not mutate.ends_well([self.work / "test"], 120):
                return True
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headers", nargs="*", default=list(HEADERS), help="default: all")
    parser.add_argument("--json", metavar="FILE", help="what became of each mutant")
    arguments = parser.parse_args()
    lines = EXPLAINED.read_text(encoding="utf-8").splitlines() if EXPLAINED.exists() else []
    explained = {line.split(" ## ")[0] for line in lines if " ## " in line}
    counts, survivors, told = collections.defaultdict(collections.Counter), [], []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(pathlib.Path(folder))
        for path in arguments.headers:
            text = (ROOT / path).read_text(encoding="utf-8")
            hidden = bench.hiding / "wormcube" / path
            hidden.parent.mkdir(parents=True, exist_ok=True)
            for mutant in mutate.mutants_of(path, text):
                changed = text.splitlines(keepends=True)
                changed[mutant.line - 1] = mutant.after + "\n"
                hidden.write_text("".join(changed), encoding="utf-8")
                found = bench.explorer_finds()
                fate = "does not compile" if found is None else "explorer" if found else ""
                if not fate:
                    fate = "tests" if bench.tests_find(HEADERS[path]) else "explained" if mutant.key() in explained else "survives"
                counts[path][fate] += 1
                told.append({"mutant": mutant.key(), "line": mutant.line, "fate": fate})
                if fate == "survives":
                    survivors.append(mutant.key())
                    print(f"{path}:{mutant.line} {mutant.before.strip()} => {mutant.after.strip()}", flush=True)
            hidden.unlink()
    fates = ("explorer", "tests", "explained", "survives")
    print("| file | mutants | " + " | ".join(fates) + " |\n|" + "---|" * (2 + len(fates)))
    for path, of in counts.items():
        print(f"| `{path}` | {sum(of[fate] for fate in fates)} | " + " | ".join(str(of[fate]) for fate in fates) + " |")
    if arguments.json:
        pathlib.Path(arguments.json).write_text(json.dumps(told, indent=1), encoding="utf-8")
    sys.exit(1 if survivors else 0)


if __name__ == "__main__":
    main()
