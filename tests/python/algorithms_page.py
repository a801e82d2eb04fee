"""docs/reference/python-algorithms.md, from python/wormcube/textbook.py; tests/docs/generated.py writes it."""
# SPDX-License-Identifier: Apache-2.0
import inspect
import re

import wormcube as wc
from cases import CASES, options_on
from wormcube import textbook
from wormcube.topology import network

HEAD = """# Algorithms in Python

`./run docs` writes this page from `python/wormcube/textbook.py`. Tests record every program on two networks and run it on data. `wormcube check` proves that
each program delivers every block, and the tests compare its counts with those of the built-in algorithm. [The guide to Python](../how-to/python.md) explains
how to write such programs.

```python
import wormcube as wc
from wormcube import join, textbook

schedule = wc.record(textbook.ring, "ring:6", "allgather")
print(schedule.text)
```

You can copy a program and change it. In the options column, `p` is the number of nodes. Programs with `commutative=True` need an operator that commutes.

| program | operation | options of `record` | networks, with steps and messages | built-in algorithm | source |
|---|---|---|---|---|---|
"""

HELPERS = {"scatter_tree": "_spread", "halving": "_halve"}


def source_of(function):
    """A function as people write it in a notebook: without types, and without what a type checker needs."""
    lines = inspect.getsource(function).rstrip().splitlines()
    parameters = [re.sub(r"(: [^=]*)?( ?= ?)", "=", str(one)) if "=" in str(one) else one.name for one in inspect.signature(function).parameters.values()]
    lines = [f"def {function.__name__}({', '.join(parameters)}):"] + [line for line in lines[1:] if not line.strip().startswith("assert mine is not")]
    return re.sub(r"^( +\w+): (List|Dict)\[.*?\] = ", r"\1 = ", "\n".join(lines) + "\n", flags=re.M)


def counts(name, operation, networks, options):
    """For each network: the recorded steps and messages."""
    found = []
    for on in networks.split():
        schedule = wc.record(getattr(textbook, name), on, operation, **options_on(options, network(on).nodes))
        found.append(f"{on}: {schedule.steps}, {len(schedule.messages())}")
    return "<br>".join(found)


def text(registry):
    """The page; the registry is what `wormcube list --json` writes."""
    sources = {(algorithm["operation"], algorithm["algorithm"]): algorithm["source"] for algorithm in registry}
    rows, programs = [], []
    for name, operation, networks, options, built_in in CASES:
        shown = " ".join(f"`{key}={'p' if value == 'P' else value}`" for key, value in options.items())
        source = sources[operation, built_in.split(":")[0]].split(" (")[0]
        rows.append(f"| [`{name}`](#{name}) | {operation} | {shown} | {counts(name, operation, networks, options)} | `{built_in}` "
                    f"| {source} |".replace("|  |", "| |"))
        helper = source_of(getattr(textbook, HELPERS[name])) + "\n\n" if name in HELPERS else ""
        programs.append(f"## {name}\n\n```python\n{helper}{source_of(getattr(textbook, name))}```\n")
    return HEAD + "\n".join(rows) + "\n\n" + "\n".join(programs)
