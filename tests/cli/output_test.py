#!/usr/bin/env python3
"""The output of all commands: JSON against docs/schemas, tables that fit the line, one line
of progress on a terminal.

usage: output_test.py PROGRAM [Schemas|Tables|Terminal]..
"""
# SPDX-License-Identifier: Apache-2.0
import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
import unittest.mock

try:
    import jsonschema
except ImportError:
    jsonschema = None

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schemas"
PROGRAM = ""  # the first argument
PROVED = pathlib.Path(__file__).resolve().parents[1] / "mpi_programs" / "proved"


def has_terminals():
    """Whether pseudo-terminals are to be had: a chroot or container without /dev/pts has none."""
    try:
        ends = pty.openpty()
    except OSError:
        return False
    for end in ends:
        os.close(end)
    return True


# What is run, by the schema of its JSON. Short ones: all of them together take some seconds.
COMMANDS = {
    "list": ["list", "list alltoall", "list alltoall --on torus:8x8,torus:6x6 --bytes 4K", "list reduce --on tree:4", "list --on ring:4,mesh:2x3 --cost replay --bytes 64", "list allreduce --on torus:4x4 --ports all --operator max --type int32 --algorithm swing,mesh",
             "list alltoall --on hypercube:3 --cost replay --machine t3e"],
    "best": ["best alltoall --on torus:4x4 --bytes 64,4K", "best alltoall --on ring:4,torus:3x4~0-1~11 --cost replay --bytes 64,4K",
             "best scan --on ring:3 --cost measured --iterations 1 --bytes 64 --executor fibers", "best --on petersen,ring:1 --bytes 1K --ports one",
             "best allreduce --on ring:8 --type int64 --algorithm swing,ring --any-bits --bytes 8"],
    "compare": [
        "compare allreduce --on hypercube:3 --algorithm reduce-broadcast,recursive-doubling --bytes 8..1K",
        "compare alltoall --on torus:4x4 --algorithm suh-torus,shift --bytes 64,64K --cost replay --machine t3d",
        "compare broadcast --on ring:4 --algorithm binomial,halving --bytes 64 --cost measured --iterations 1 --executor fibers",
    ],
    "run": [
        "run alltoall --on ring:4 --algorithm shift --bytes 100 --transport flits --fault 0-1:flip --iterations 1",
        "run alltoall --on torus:4x4 --iterations 3",
        "run alltoall --on torus:4x4,ring:5,tree:4 --algorithm suh-torus,shift,ring --bytes 8..32 --iterations 1",
        "run alltoall --on torus:4x4 --algorithm all --iterations 2 --executor fibers --lockstep",
        "run alltoall --on ring:4 --algorithm ring --no-verify --ts 0 --tw 0",
        "run alltoallv --on mesh:2x3 --seed 7 --iterations 1",
        "run allreduce --on hypercube:2 --operator max --type int32 --algorithm all --iterations 1",
        "run allgather --on ring:4 --in-place --algorithm all --iterations 1",
        "run barrier --on petersen --iterations 1 --warmup 0",
        "run broadcast --on hypercube:2 --root 2 --algorithm pipelined:packets=4 --iterations 1",
        "run shift --on ring:6 --distance -2 --iterations 1", "run alltoall --on ring:6 --cost replay --iterations 1",
        "run k_broadcast --on hypercube:3 --sources 0,3,5 --algorithm all --iterations 1",
        "run alltoall --on torus:4x4 --algorithm mesh --bytes 64K --iterations 1000000 --time-limit 0.05",
    ],
    "check": [
        "check alltoall --on torus:4x4",
        "check alltoall --on torus:4x4,mesh:3x5,ring:3*line:2,tree:4 --algorithm all",
        "check alltoall --on torus:4x4,torus:6x6 --algorithm suh-torus,mesh",
        "check alltoall --on ring:6 --prove-up-to 3",
        "check reduce_scatter --on hypercube:3 --algorithm all",
        "check broadcast --on mesh:3x3 --root 4 --algorithm all --virtual-channels 1",
        "check barrier --on star:5",
        "check alltoallv --on ring:4 --seed 3", "check allreduce --on ring:4 --algorithm all --bytes 64,1K",
    ],
    "show": [
        "show alltoall --on torus:4x4 --algorithm suh-torus --step 2",
        "show alltoall --on torus:4x4 --algorithm suh-torus --node 5",
        "show alltoallv --on ring:4",
        "show alltoall --on torus:8x8 --algorithm shift --step 20",
        "show broadcast --on tree:4",
        "show alltoall --on torus:8x8 --algorithm suh-torus --explain",
        "show allgather --on ring:4 --algorithm ring --contents",
    ],
    "replay": [
        "replay alltoall --on torus:4x4 --algorithm shift --bytes 8 --critical-path",
        "replay alltoall --on ring:4,mesh:2x3 --algorithm all --bytes 16,4K --messages off --explain shift",
        "replay broadcast --on hypercube:3 --lockstep --unit ps --ts 10 --tw 1 --tr 0 --tc 0 --slots 1",
        "replay alltoall --on torus:4x4 --machine t3e --cost replay", "replay alltoall --on ring:3 --store-and-forward each",
        "replay alltoallv --on ring:4", "replay barrier --on petersen",
    ],
    "tune": ["tune alltoall reduce --on ring:4 --bytes 8,64 --iterations 1 --executor fibers"],
    "machines": ["machines", "machines t3e", "machines bluegene-l"],
    "topology": [
        "topology torus:6x6", "topology torus:4x4 --route 0,5", "topology torus:4x4 --node 3", "topology tree:8 --node 0",
        "topology ring:4 --virtual-channels 1", "topology torus:4x4 --ring", "topology mesh:3x5", "topology complete:5 --node 1", "topology star-graph:5",
    ],
    "fft": [
        "fft --on torus:4x4", "fft --on ring:4 --shape 256 --machine paragon --flops 0.05", "fft --on ring:3 --shape 12x5 --iterations 3 --warmup 1", "fft --on line:2 --shape 17 --no-verify --inverse",
        "fft --on ring:4 --shape 64 --generate tones --algorithm alltoallv:shift --executor fibers",
        "fft --on torus:4x4 --shape 65536 --iterations 1000000 --time-limit 0.05",
    ],
    "transpose": [
        "transpose --on torus:4x4 --shape 30x40", "transpose --on ring:3 --shape 9x5 --machine bluegene-l --lockstep", "transpose --on ring:3 --shape 7x5 --type int32 --no-verify --iterations 4",
    ],
    "matvec": [
        "matvec --on torus:4x4 --shape 100x70", "matvec --on mesh:2x3 --shape 10x7 --machine t3d --flops 0.15 --memory-rate 1", "matvec --on ring:3 --shape 7x5 --no-verify --iterations 3 --warmup 1",
        "matvec --on mesh:2x3 --shape 20x30 --vectors-on diagonal --executor fibers",
        "matvec --on hypercube:2 --shape 9x8 --algorithm broadcast=binomial,reduce=halving", "matvec --on ring:1 --shape 3x2",
    ],
    "prefix": [
        "prefix --numbers 3,1,4,0,2 --on line:2", "prefix --on torus:4x4 --count 1000 --machine t3d --memory-rate 0.3", "prefix --on ring:3 --count 50 --type double --no-verify --iterations 3",
        "prefix --on mesh:2x3 --count 500 --executor fibers", "prefix --on line:4 --count 0",
        "prefix --on torus:4x4 --count 100000 --iterations 1000000 --time-limit 0.05",
    ],
    "sort": [
        "sort --on torus:4x4 --count 1000", "sort --on ring:3 --count 50 --machine t3d --memory-rate 0.3", "sort --on ring:3 --count 50 --type int32 --no-verify --iterations 3",
        "sort --on mesh:2x3 --count 500 --generate equal --rebalance --executor fibers", "sort --on line:4 --count 0",
        "sort --on ring:4 --count 99 --samples 2 --algorithm alltoall=shift,alltoallv=shift",
        "sort --on torus:4x4 --count 100000 --iterations 1000000 --time-limit 0.05",
    ],
    "lookup": [
        "lookup --on torus:4x4 --entries 300 --lookups 1000", "lookup --on ring:3 --machine t3e --entries 20 --lookups 9", "lookup --on ring:3 --entries 20 --lookups 50 --no-verify --iterations 3",
        "lookup --on mesh:2x3 --entries 90 --lookups 200 --distribution block --absent 0.5 --executor fibers",
        "lookup --on ring:4 --entries 0 --lookups 9 --algorithm shift",
    ],
    "reproduce": [
        "reproduce kim --sizes 4,8", "reproduce kim --sizes 8 --prove-up-to 3", "reproduce suh --on mesh:4x4,mesh:5x7",
        "reproduce dimakopoulos --on torus:4x4,mesh:3x3,hypercube:3", "reproduce wang-tseng --count-up-to 100",
        "reproduce grama --prove-up-to 0",
    ],
    "prove": [f"prove {PROVED}/others.c --as broadcast --function tree_broadcast --ranks 1..3", f"prove {PROVED}/others.c --as scan --function linear_scan --ranks 2",
              f"prove {PROVED}/recursive_multiplying.c --as allreduce --ranks 2..3", f"prove {PROVED}/others.c --as barrier --function dissemination_barrier --ranks 3"],
    "deadlock": ["deadlock", "deadlock --of channels", "deadlock --of channels --virtual-channels 2"],
}
ALL = [(command, arguments) for command, lines in COMMANDS.items() for arguments in lines]
ENDS = {"run alltoall --on ring:4 --algorithm shift --bytes 100 --transport flits --fault 0-1:flip --iterations 1": 1, f"prove {PROVED}/recursive_multiplying.c --as allreduce --ranks 2..3": 1, "deadlock": 3, "deadlock --of channels": 3}  # exit codes other than 0
ENDS.update({arguments: 4 for _, arguments in ALL if "--time-limit" in arguments})

# Of wrong results, of runs under mpirun, of algorithms that fail (failing_test.cpp), of machines in files (machines_test.cpp).
RARE = {"port_ps", "port_slots", "packet_bytes", "first_wrong", "processes", "mpi_library", "failures", "rearrange_ps_per_kib", "combine_ps_per_kib"}
# Of schedules in files: tests/cli/survival_test.cpp.
RARE |= {"brackets", "broken_laws", "format", "free_of_contention", "no_steps", "notes", "message_blocks", "block", "part", "problems", "transmission_bytes", "schedule", "total_bytes", "status", "unmatched", "link_bytes", "rearranged_bytes", "byte_hops", "combined_bytes", "contention", "witness"}


def run(arguments, *more):
    return subprocess.run([PROGRAM, *arguments.split(), *more], encoding="utf-8", timeout=300, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def schema_of(name):
    """A schema with common.json taken in: nothing is left to be looked up elsewhere."""
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8").replace("common.json#", "#"))
    schema["$defs"].update(json.loads((SCHEMAS / "common.json").read_text(encoding="utf-8").replace("common.json#", "#"))["$defs"])
    return schema


def of_one_result(schema):
    return {**{"$ref": "#/$defs/result"}, "$defs": schema["$defs"], "$schema": schema["$schema"]}


def objects(value, path="$"):
    if isinstance(value, dict):
        yield path, value
        for key, inner in value.items():
            yield from objects(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from objects(inner, f"{path}[{at}]")


def each_mistake(validator, document):
    """What is wrong with a document: by the schema, and nulls without a reason or reasons without a null."""
    for error in validator.iter_errors(document):
        yield f"{error.json_path}: {error.message[:300]}"
    for path, inner in objects(document):
        for key, value in inner.items():
            if value is None and not inner.get(f"{key}_reason"):
                yield f"{path}.{key}: null without a reason"
            if key.endswith("_reason") and inner.get(key[:-7], 0) is not None:
                yield f"{path}.{key}: a reason, but {key[:-7]} is not null"


def mistakes(schema, document):
    return list(each_mistake(jsonschema.Draft202012Validator(schema), document))


def has_mistake(validator, document):
    return next(each_mistake(validator, document), None) is not None


def shortened(value):
    """A document whose lists have their first four items."""
    if isinstance(value, dict):
        return {key: shortened(inner) for key, inner in value.items()}
    return [shortened(inner) for inner in value[:4]] if isinstance(value, list) else value


def own_names(command):
    """All names of fields that a schema's own file speaks of; not the reasons."""
    names = set()
    for _, inner in objects(json.loads((SCHEMAS / f"{command}.json").read_text(encoding="utf-8"))):
        if inner.get("additionalProperties") is False:
            names |= set(inner["properties"])
    return {name for name in names if not name.endswith("_reason")}


@unittest.skipIf(jsonschema is None, "jsonschema is missing (Debian: python3-jsonschema)")
class Schemas(unittest.TestCase):
    def test_every_command_has_a_schema(self):
        helped = re.findall(r"^  ([a-z_-]+) {2,}\S", subprocess.run([PROGRAM, "--help"], encoding="utf-8", stdout=subprocess.PIPE).stdout, re.M)
        self.assertIn("transpose", helped)
        for command in set(helped) - {"wormcube", "draw", "plot", "completion", "manual", "mpicc", "mpicxx"} - {"mpirun"}:  # no JSON; tests/mpi_programs
            self.assertTrue((SCHEMAS / f"{command}.json").exists(), f"no docs/schemas/{command}.json")
            self.assertIn(command, COMMANDS)

    def test_schemas_are_schemas(self):
        for path in SCHEMAS.glob("*.json"):
            jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))
            for where, inner in objects(json.loads(path.read_text(encoding="utf-8"))):
                if "properties" in inner and "required" in inner:
                    self.assertIs(inner.get("additionalProperties"), False, f"{path.name} {where}")

    def test_json_of_all_commands(self):
        for command, lines in COMMANDS.items():
            schema, seen = schema_of(command), set()
            for arguments in lines:
                with self.subTest(arguments):
                    done = run(arguments, "--json", "-")
                    self.assertEqual(done.returncode, ENDS.get(arguments, 0), done.stderr)
                    document = json.loads(done.stdout)
                    self.assertEqual(mistakes(schema, document), [])
                    results = document if isinstance(document, list) else [document]
                    for result in results:
                        self.check_made(arguments.split()[0], result["provenance"], arguments)
                    seen |= {key for _, inner in objects(document) for key in inner}
            self.assertEqual(own_names(command) - seen - RARE, set(), f"{command}: documented, but never there")

    def check_made(self, command, made, arguments):
        self.assertTrue(made["command"].endswith(f"{arguments} --json -"), made["command"])
        self.helps = getattr(self, "helps", {})
        if command not in self.helps:
            self.helps[command] = run(command, "--help").stdout
        for name, value in made["settings"].items():
            self.assertRegex(self.helps[command], rf"--{name}\b|\b{name}\b")
            self.assertNotIn(value, ("", [], None))
        given = re.findall(r"--([a-z-]+) ([^- ]\S*)", arguments)
        for name, value in given:
            kept = made["settings"][name]
            self.assertEqual(",".join(kept) if isinstance(kept, list) else kept, value, name)

    def test_workers_are_those_that_run(self):
        for command, workers in (("run alltoall --on ring:1 --executor fibers --iterations 1", 1), ("run alltoall --on ring:4 --executor fibers --workers 3 --iterations 1", 3),
                                 ("transpose --on ring:1 --shape 4x4 --executor fibers", 1), ("transpose --on ring:2 --shape 4x4", None)):
            document = json.loads(run(command, "--json", "-").stdout)
            self.assertEqual((document[0] if isinstance(document, list) else document)["workers"], workers, command)
        # Unless the number is given, a run has one or all, as a few calls show; it says which.
        chosen = json.loads(run("run alltoall --on ring:4 --executor fibers --bytes 8,4K --iterations 1", "--json", "-").stdout)
        for row in chosen:
            self.assertIn(row["workers"], (1, min(4, len(os.sched_getaffinity(0)))))
        self.assertIn("workers", run("run alltoall --on ring:4 --executor fibers --iterations 1 --wide", "--quiet").stdout)

    def test_json_lines(self):
        for command, lines in COMMANDS.items():
            schema = of_one_result(schema_of(command))
            for arguments in lines[:2]:
                with self.subTest(arguments):
                    done = run(arguments, "--jsonl", "-")
                    self.assertEqual(done.returncode, ENDS.get(arguments, 0), done.stderr)
                    results = [json.loads(line) for line in done.stdout.splitlines()]
                    self.assertGreater(len(results), 0)
                    for result in results:
                        self.assertEqual(mistakes(schema, result), [])

    def test_links(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "links.json")
            for arguments in ("run alltoall --on ring:5,tree:4 --algorithm shift,mesh --bytes 8,64 --iterations 1",
                              "run barrier --on ring:3 --iterations 1"):
                self.assertEqual(run(arguments, "--links", str(path)).returncode, 0)
                document = json.loads(path.read_text(encoding="utf-8"))
                self.assertEqual(mistakes(schema_of("run-links"), document), [])
                self.assertGreater(len(document["channels"]), 0)

    def test_traces(self):
        """Each line of a trace is an event of the schema; what is left out or added is seen."""
        schema = schema_of("trace")
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "trace.json")
            for arguments in ("run alltoall --on torus:4x4 --algorithm suh-torus --iterations 1", "sort --on ring:3 --count 50",
                              "replay alltoall --on ring:4 --algorithm shift --lockstep --bytes 8 --ports all"):
                self.assertEqual(run(arguments, "--trace", str(path)).returncode, 0)
                document = json.loads(path.read_text(encoding="utf-8"))
                self.assertEqual(mistakes(schema, document), [])
                self.assertEqual(document["otherData"]["clock"], "model" if arguments.startswith("replay") else "wall")
                kinds = {event["ph"]: event for event in document["traceEvents"]}
                self.assertLessEqual({"M", "X", "s", "f"}, set(kinds))
                for event in kinds.values():
                    for key in set(event) - {"bp"}:
                        without = {name: value for name, value in event.items() if name != key}
                        self.assertNotEqual(mistakes(schema, {**document, "traceEvents": [without]}), [], key)
                    self.assertNotEqual(mistakes(schema, {**document, "traceEvents": [{**event, "more": 1}]}), [])

    def test_other_fields_are_seen(self):
        """Each field that is dropped, added or nulled in a document of each command makes a mistake."""
        for command, lines in COMMANDS.items():
            schema = of_one_result(schema_of(command))
            document = json.loads(run(lines[0], "--json", "-").stdout)
            document = document[0] if isinstance(document, list) else document
            self.assertEqual(mistakes(schema, document), [])
            if not mistakes(schema, shortened(document)):  # some lists have a least length
                document = shortened(document)
            validator = jsonschema.Draft202012Validator(schema)
            unseen = set()
            for path, inner in list(objects(document))[:12]:  # changed in place, and back
                open_map = re.search(r"\.(options|settings)$", path) is not None
                for key, value in list(inner.items()):
                    del inner[key]
                    if not has_mistake(validator, document) and not open_map:
                        unseen.add(key)
                    inner[key] = None
                    if value is not None:
                        self.assertTrue(has_mistake(validator, document), f"{command} {path}.{key}: null")
                    inner[key] = value
                inner["undocumented"] = {}
                self.assertTrue(has_mistake(validator, document), f"{command} {path}: one more field")
                del inner["undocumented"]
                self.assertFalse(has_mistake(validator, document), path)
            # Fields that are not in every document.
            self.assertLessEqual(unseen, {"first_wrong", "on", "topology", "node", "neighbours", "route", "root", "step_bytes", "step_load",
                                          "step_cost_bytes", "time_lockstep", "time_lockstep_us",
                                          "operator", "type",  # only reductions have them
                                          "counted_by", "model_limited_by", "model_time_parts_us",  # only with a count, and a model
                                          # what not every machine has
                                          "sure", "year", "source", "network", "notes", "port_mb_per_s", "port_ps",
                                          "port_slots", "packet_bytes", "packet_bytes_reason", "node_ps", "node_ps_reason",
                                          "combine_ps_per_byte", "rearrange_ps_per_byte"}, command)


class Tables(unittest.TestCase):
    WIDTH = 100

    def tables(self, text):
        """(heads, units, first data line) of each table. A head may stand on several lines, its unit on the last."""
        lines = text.splitlines()
        for at in range(1, len(lines)):
            if not lines[at].startswith("  ") or not lines[at - 1].startswith("# "):
                continue
            words = lambda line: [(word.start(), word.end(), word.group()) for word in re.finditer(r"\S+( \S+)*", line[2:])]
            above = [words(line) for line in lines[max(0, at - 4):at] if line.startswith("# ")]
            while len(above) > 1 and len(above[0]) < max(len(line) for line in above):
                above.pop(0)  # settings above the table
            columns = [[start, end, text] for start, end, text in above[0]]
            for line in above[1:]:
                for start, end, word in line:  # below the column whose text begins or ends there
                    column = min(columns, key=lambda c: min(abs(c[0] - start), abs(c[1] - end)))
                    column[2] += " " + word
            heads = [re.sub(r" ?\([^()]+\)$", "", text) for _, _, text in columns]
            yield heads, re.findall(r"\([^()]+\)", " ".join(text for _, _, text in columns)), lines[at]

    def test_lines_fit_and_heads_differ(self):
        for command, arguments in ALL:
            with self.subTest(arguments):
                done = run(arguments)
                self.assertEqual(done.returncode, ENDS.get(arguments, 0), done.stderr)
                wide = [line for line in done.stdout.splitlines() if len(line) > self.WIDTH]
                self.assertEqual(wide, [])
                tables = list(self.tables(done.stdout))
                if command != "deadlock" and arguments not in ENDS and "--ring" not in arguments:
                    self.assertGreater(len(tables), 0, done.stdout)
                for heads, units, _ in tables:
                    self.assertEqual(len(heads), len(set(heads)), heads)
                    self.assertNotIn("", heads)
                    self.assertLessEqual(len(units), len(heads))

    def test_help_fits(self):
        for command in COMMANDS:
            self.assertEqual([line for line in run(command, "--help").stdout.splitlines() if len(line) > self.WIDTH], [])

    def test_wide_shows_no_less(self):
        for command in ("run alltoall --on ring:4 --iterations 1", "check alltoall --on ring:4", "list alltoall", "reproduce kim --sizes 4",
                        "show alltoall --on ring:4 --algorithm shift"):
            self.assertGreaterEqual(len(run(command, "--wide").stdout), len(run(command).stdout), command)

    def test_notes_stand_once_at_the_end(self):
        for _, arguments in ALL:
            whole = run(arguments).stdout.replace("\n#   ", " ")  # what goes on in the next line
            notes = [line for line in whole.splitlines() if line.startswith("# not applicable")]
            self.assertEqual(len(notes), len(set(notes)), arguments)
        lines = run("run alltoall --on ring:4,ring:6 --algorithm suh-torus,ring --iterations 1").stdout.splitlines()
        first_note = min(at for at, line in enumerate(lines) if line.startswith("# not applicable"))
        self.assertTrue(all(line.startswith("#") for line in lines[first_note:]), lines)

    def test_figures_have_four_digits(self):
        done = run("run alltoall --on torus:4x4 --algorithm shift,mesh --bytes 8 --iterations 5 --wide")
        for heads, _, _ in self.tables(done.stdout):
            rows = [re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines() if line.startswith("  ")]
            for row in rows:
                cells = dict(zip(heads, row))
                self.assertRegex(cells["block"], r"^\d+$")
                self.assertRegex(cells["busiest link"], r"^\d+$")
                for name in ("median", "min", "max", "busbw", "model"):
                    self.assertRegex(cells[name], r"^\d+(\.\d+)?(e-\d+)?$")
                    digits = cells[name].replace(".", "").lstrip("0")
                    self.assertLessEqual(len(digits.rstrip("0")), 4, cells)


@unittest.skipUnless(has_terminals(), "no pseudo-terminals here (/dev/pts is not mounted)")
class Terminal(unittest.TestCase):
    LONG = {  # by the text that the line must have; each reports at once, as the environment asks
        "fft on ring:4": "fft --on ring:4 --shape 64",
        "transpose on ring:4": "transpose --on ring:4 --shape 8x8",
        "matvec on ring:4": "matvec --on ring:4 --shape 8x8",
        "sort on ring:4": "sort --on ring:4 --count 100",
        "lookup on ring:4": "lookup --on ring:4 --entries 10 --lookups 100",
        "topology torus:4x4": "topology torus:4x4",
        "alltoall shift on ring:4": "check alltoall --on ring:4 --algorithm shift",
        "shift on ring:4": "run alltoall --on ring:4 --algorithm shift --iterations 2",
        "reproduce kim": "reproduce kim --sizes 4",
        "reproduce dimakopoulos": "reproduce dimakopoulos --on torus:4x4",
        "reproduce wang-tseng": "reproduce wang-tseng --sizes 4",
        "show alltoall shift": "show alltoall --on ring:4 --algorithm shift",
    }

    def on_terminal(self, arguments, *more, **environment):
        """Standard error of a run, where it is a terminal."""
        return self.shown([*arguments.split(), *more], "stderr", {"WORMCUBE_PROGRESS_AFTER": "0", **environment})

    def shown(self, arguments, where, environment, columns=0):
        """What a run writes to `where`, a terminal; all else that it writes is not looked at."""
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
        process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm", **environment},
                                   **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, where: child})
        os.close(child)
        text = b""
        try:
            while part := os.read(parent, 65536):
                text += part
        except OSError:  # the other end is closed
            pass
        os.close(parent)
        process.wait(timeout=120)
        return re.sub(r"\x1b\[[0-9;]*m", "", text.decode())  # colours take no columns

    def test_help_and_tables_fit_a_narrow_terminal(self):
        for columns in (80, 64):
            for arguments in ([command, "--help"] for command in ("", *COMMANDS)):
                lines = self.shown(list(filter(None, arguments)), "stdout", {}, columns).replace("\r", "").splitlines()
                self.assertGreater(len(lines), 10, arguments)
                self.assertEqual([line for line in lines if len(line) > columns], [], arguments)
        for arguments in ("run alltoall --on torus:4x4 --algorithm all --bytes 64 --iterations 1", "list alltoall --on torus:8x8",
                          "check alltoall --on torus:4x4,mesh:4x4 --algorithm all", "replay alltoall --on torus:4x4 --algorithm all",
                          "reproduce kim --sizes 4", "deadlock --of channels --on ring:4", "topology torus:4x4", "machines", "fft --on torus:4x4"):
            lines = self.shown(arguments.split(), "stdout", {}, 80).replace("\r", "").splitlines()
            self.assertGreater(len(lines), 3, arguments)
            self.assertEqual([line for line in lines if len(line) > 80], [], arguments)

    def test_every_command_says_what_it_does_and_takes_the_line_away(self):
        for text, arguments in self.LONG.items():
            with self.subTest(arguments):
                shown = self.on_terminal(arguments)
                self.assertIn(text, shown)
                self.assertTrue(shown.endswith("\r\x1b[K"), repr(shown[-100:]))
                self.assertNotIn("\n", shown)

    def test_nothing_is_shown_in_the_first_second(self):
        self.assertEqual(self.on_terminal("topology torus:4x4", WORMCUBE_PROGRESS_AFTER="600"), "")

    def test_without_a_terminal_progress_is_a_line_of_its_own(self):
        self.assertEqual(self.on_terminal("topology torus:4x4", "--quiet"), "")
        dumb = self.on_terminal("topology torus:4x4", TERM="dumb").replace("\r\n", "\n")
        with unittest.mock.patch.dict(os.environ, {"WORMCUBE_PROGRESS_AFTER": "0"}):
            for shown in (dumb, run("topology torus:4x4").stderr):
                self.assertRegex(shown, r"\A(wormcube: topology torus:4x4[^\n]*\n)+\Z")
            self.assertEqual(run("topology torus:4x4 --quiet").stderr, "")
        self.assertEqual(run("topology torus:4x4").stderr, "")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
