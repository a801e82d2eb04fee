#!/usr/bin/env python3
"""The parts of the documents that the program, the schemas and the sources write: compared, or with --write written.

usage: generated.py [--write] PROGRAM

  docs/reference/algorithms.md         the registry: `wormcube list --markdown`, and the names of all algorithms
  docs/reference/commands.md           `wormcube COMMAND --help` of every command
  docs/reference/json.md               docs/schemas/*.json
  docs/reference/networks.md           the table of shapes: `wormcube topology NETWORK --json -`
  docs/reference/python-algorithms.md  python/wormcube/textbook.py
  docs/explanation/architecture.md     the sample algorithm, from its source
  python/wormcube/results.py           docs/schemas/*.json
  python/wormcube/version.py           CMakeLists.txt
"""
# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests/python")]
sys.dont_write_bytecode = True
GENERATED = "<!-- generated: ./run docs -->\n"
END = "<!-- end -->\n"
NETWORKS = ["line:5", "ring:7", "complete:8", "mesh:6x4", "torus:8x8", "ghc:4x3", "hypercube:6", "tree:8", "star:8", "petersen", "ccc:3", "butterfly:3",
            "gray-hypercube:4", "circulant:12+1+3", "twisted:4x8", "binary-tree:7", "shuffle-exchange:4", "de-bruijn:2x4", "star-graph:4",
            "bubble-sort:4", "cayley:2134+2341", "torus:4x4~0-1~5", "ring:4*line:3*complete:5"]
SAMPLE = ("collectives/alltoall/hypercube_pairwise.cpp", "alltoall_hypercube_pairwise")

VERSION = '''"""The version of wormcube; ./run docs writes it."""
# SPDX-License-Identifier: Apache-2.0
__version__ = "{}"
'''


def output_of(program, *words, check=True):
    done = subprocess.run([program, *words], check=check, capture_output=True, encoding="utf-8")
    return done.stdout if done.returncode == 0 else None


def between(text, table):
    """The text with what stands between its marks replaced."""
    before, rest = text.split(GENERATED)
    return before + GENERATED + "\n" + table + "\n" + END + rest.split(END)[1]


ALGORITHMS = """# Algorithms

`./run docs` generates this page from the registry (`wormcube list --markdown`), and a test compares it with the program.

| operation | algorithms |
|---|---|
{names}
ʳ This algorithm is a reconstruction: the paper itself was not available, and the costs are those that other papers cite.

*Needs* lists conditions on the network and the operator; an empty cell means any network. *Free of contention* is `yes` if, according to
the paper, no link carries two messages in a step on any network on which the algorithm can run. If it is `no`, use `check` to count the
messages per link. *Options* lists each option with its values and its [default]; write options as `--algorithm NAME:option=value`. For the
costs on a network, run `wormcube list OPERATION --on NETWORK`.
"""


def algorithms(program):
    names = {}
    for algorithm in json.loads(output_of(program, "list", "--json", "-")):
        mark = "ʳ" if "reconstruction" in (algorithm["remark"] or "") else ""
        names.setdefault(algorithm["operation"], []).append(f"`{algorithm['algorithm']}`{mark}")
    rows = "".join(f"| {operation} | {' '.join(those)} |\n" for operation, those in names.items())
    return ALGORITHMS.format(names=rows) + output_of(program, "list", "--markdown")


def commands(program, before):
    """Help of every command. A command that this program was built without keeps its section."""
    overview = output_of(program, "help")
    names = re.findall(r"^  (\w[\w-]*)  ", overview.split("Subcommands:")[1].split("Examples:")[0], re.MULTILINE)
    old = {found[1]: found[0] for found in re.finditer(r"## (\w[\w-]*)\n\n```text\n.*?```\n\n", before, re.DOTALL)}
    helps = {name: f"## {name}\n\n```text\n{output_of(program, name, '--help').strip()}\n```\n\n" for name in names}
    names = [name for name in dict.fromkeys([*old, *names]) if name in helps or name == "fft"] if "fft" in old else names
    text = ("# Commands\n\n`./run docs` generates this page from `wormcube COMMAND --help`, and a test compares it with the program.\n"
            "[The command line](command-line.md) describes what all commands share.\n\n" + " ".join(f"[{name}](#{name})" for name in names) + "\n\n")
    return (text + "".join(helps.get(name, old.get(name, "")) for name in names)).rstrip() + "\n"


def networks(program):
    rows = ["| network | nodes | links | ports of a node | diameter |", "|---|---|---|---|---|"]
    for name in NETWORKS:
        of = json.loads(output_of(program, "topology", name, "--json", "-"))
        least, most = of["ports_min"], of["ports_max"]
        rows.append(f"| `{name}` | {of['nodes']} | {of['links']} | {least if least == most else f'{least} to {most}'} | {of['diameter']} |")
    return "\n".join(rows) + "\n"


def type_of(schema):
    if "$ref" in schema:
        return schema["$ref"].split("/")[-1].replace("reason", "string")
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{json.dumps(value)}`" for value in schema["enum"]).replace("|", "\\|")
    if "oneOf" in schema or "anyOf" in schema:
        return " or ".join(dict.fromkeys(type_of(one) for one in schema.get("oneOf", schema.get("anyOf"))))
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return " or ".join(kind)
    return f"list of {type_of(schema['items'])}" if kind == "array" and "items" in schema else kind


def roots(schema, of):
    """The names of the definitions that are whole results: what the schema itself leads to."""
    if "$ref" in of and of["$ref"].startswith("#"):
        name = of["$ref"].split("/")[-1]
        return {name} | roots(schema, {key: value for key, value in schema["$defs"][name].items() if key in ("oneOf", "anyOf")})
    return set().union(*(roots(schema, one) for one in [*of.get("oneOf", []), *of.get("anyOf", []), *([of["items"]] if "items" in of else [])]))


def keys_of(schema, prefix):
    """Every key of an object: its name with those of the objects that it is in, type and description."""
    for key, value in schema.get("properties", {}).items():
        if key.endswith("_reason"):
            continue
        inner = value["items"] if isinstance(value.get("items"), dict) else value
        nested = "properties" in inner
        kind = ("list of objects" if inner is not value else "object") if nested else type_of(value)
        yield prefix + key, kind, value.get("description", inner.get("description", "") if nested else "")
        if nested:
            yield from keys_of(inner, f"{prefix}{key}.")


JSON = """# JSON keys

`./run docs` writes this page from the [schemas](../schemas/README.md), and a test compares the two. It lists every key that a command writes, alphabetically.
*In* names the commands. `a.b` is the key `b` of the object `a`, or of the type `a`.

A figure that was not measured is `null`; a key with `_reason` added then says why. Those keys are left out here. Where *meaning* is empty,
[Results](results.md) explains the key together with the column of the table.

| key | type | in | meaning |
|---|---|---|---|
"""


def json_keys():
    keys = {}
    for path in sorted((DOCS / "schemas").glob("*.json")):
        schema = json.loads(path.read_text(encoding="utf-8"))
        whole = roots(schema, {key: value for key, value in schema.items() if key != "$defs"})
        whole |= {name for name in schema.get("$defs", {}) if name.endswith("ended")}  # what common.json has for results without figures
        objects = [(f"{name}.", of) for name, of in schema.get("$defs", {}).items() if name not in whole]
        objects += [("", schema["$defs"][name]) for name in sorted(whole)] + [("", schema)]
        for prefix, of in objects:
            for key, kind, meaning in keys_of(of, prefix):
                entry = keys.setdefault(key, {"kinds": {}, "in": {}, "meaning": ""})
                entry["kinds"].update(dict.fromkeys(kind.split(" or "), True))
                entry["in"][path.stem.replace("run-links", "run --links").replace("trace", "--trace").replace("common", "all")] = True
                entry["meaning"] = entry["meaning"] or meaning
    rows = []
    for key, entry in sorted(keys.items()):
        commands = list(entry["in"])
        where = "all" if "all" in commands else "most" if len(commands) > 8 else " ".join(commands)
        rows.append(f"| `{key}` | {' or '.join(entry['kinds'])} | {where} | {entry['meaning']} |".replace("|  |", "| |"))
    return JSON + "\n".join(rows) + "\n"


def with_sample(page):
    """The page with the text of the sample: from the function's first line to the brace that ends it."""
    source, name = SAMPLE
    text = (ROOT / source).read_text(encoding="utf-8")
    begin = text.index(f"void {name}(")
    function = text[begin:text.index("\n}\n", begin) + 3]
    before, rest = page.split(GENERATED)
    return before + GENERATED + "\n```cpp\n" + function + "```\n\n" + END + rest.split(END)[1]


def main(arguments):
    write = arguments[:1] == ["--write"]
    program = os.path.abspath(arguments[-1])
    reference = DOCS / "reference"
    read = lambda path: path.read_text(encoding="utf-8") if path.exists() else ""
    os.environ["WORMCUBE"] = program  # of the package's functions
    import algorithms_page
    import result_classes
    networks_page, architecture = reference / "networks.md", DOCS / "explanation/architecture.md"
    wanted = {
        reference / "algorithms.md": algorithms(program),
        reference / "commands.md": commands(program, read(reference / "commands.md")),
        reference / "json.md": json_keys(),
        networks_page: between(read(networks_page), networks(program)),
        reference / "python-algorithms.md": algorithms_page.text(json.loads(output_of(program, "list", "--json", "-"))),
        architecture: with_sample(read(architecture)),
        ROOT / "python/wormcube/results.py": result_classes.text(),
        ROOT / "python/wormcube/version.py": VERSION.format(re.search(r"^project\(wormcube VERSION (\S+)", read(ROOT / "CMakeLists.txt"), re.M)[1]),
    }
    stale = [path for path in wanted if read(path) != wanted[path]]
    for path in stale:
        if write:
            path.write_text(wanted[path], encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {'written' if write else 'differs from what the program, the schemas and the sources say; ./run docs writes it'}")
    return 1 if stale and not write else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
