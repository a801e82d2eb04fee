"""python/wormcube/results.py, made from docs/schemas; tests/docs/generated.py writes it."""
# SPDX-License-Identifier: Apache-2.0
import json
import keyword
import pathlib
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The command's schema, the name of its result, and the columns of its table.
COMMANDS = [
    ("best", "Best", "operation topology ports block_bytes winner model_time_us runner_up margin"),
    ("check", "Check", "operation algorithm topology startups messages transmission_blocks transmission_bytes rearranged_blocks combined_blocks link_load_max "
                       "delivered exactly_once passed"),
    ("fft", "Fft", "topology algorithm method shape time_median_us passed"),
    ("list", "Algorithm", "operation algorithm topology admitted ports contention_free exactly_once model_time_us chosen_by_auto"),
    ("machines", "Machine", "name network year unit ports startup_ps flit_bytes flit_ps hop_ps"),
    ("replay", "Replay", "operation algorithm schedule topology block_bytes time_ps efficiency blocked_messages status"),
    ("reproduce", "Reproduction", "paper citation passed"),
    ("run", "Run", "operation algorithm topology block_bytes time_median_us model_time_us algbw_gb_per_s passed"),
    ("topology", "TopologyFacts", "topology nodes links diameter deadlock_free average_distance"),
    ("transpose", "Transpose", "topology algorithm shape type time_median_us passed"),
]
COMMON = json.loads((ROOT / "docs/schemas/common.json").read_text(encoding="utf-8"))
TYPES = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "object": "Dict[str, Any]"}


def wrapped(items):
    """Items over several lines, separated by commas."""
    return "\n        " + textwrap.fill(", ".join(items), 120).replace("\n", "\n        ") + ",\n    "


class Maker:
    """The dataclasses of one schema."""

    def __init__(self, schema, top, made):
        self.schema = schema
        self.top = top
        self.made = made

    def resolved(self, node):
        """The node that $refs lead to, and the name of the last one."""
        name = None
        while "$ref" in node:
            place, name = node["$ref"].split("#/$defs/")
            node = (COMMON if place or name not in self.schema["$defs"] else self.schema)["$defs"][name]
        return node, name

    def forms(self, node):
        """The objects that a node may be."""
        node, _ = self.resolved(node)
        if "oneOf" in node:
            return [form for one in node["oneOf"] for form in self.forms(one)]
        if node.get("type") == "array":
            return self.forms(node["items"])
        return [node] if "properties" in node else []

    def type_of(self, node, name):
        """The annotation, whether it may be null, and the class of nested objects."""
        node, ref = self.resolved(node)
        if "oneOf" in node:
            kinds = [self.type_of(one, name) for one in node["oneOf"]]
            null = any(kind[1] or kind[0] == "None" for kind in kinds)
            words = list(dict.fromkeys(kind[0] for kind in kinds if kind[0] != "None"))
            inner = next((kind[2] for kind in kinds if kind[2]), None)
            return (words[0] if len(words) == 1 else "Any"), null, inner
        if "const" in node:
            return type(node["const"]).__name__, False, None
        types = node.get("type", "Any")
        types = types if isinstance(types, list) else [types]
        null = "null" in types
        types = [one for one in types if one != "null"]
        if not types:
            return "None", True, None
        if len(types) > 1:
            return "Any", null, None
        if types[0] == "array":
            inner, inner_null, kind = self.type_of(node["items"], name) if "items" in node else ("Any", False, None)
            return f"List[{'Optional[' + inner + ']' if inner_null else inner}]", null, kind
        if types[0] == "object" and "properties" in node and node.get("additionalProperties") is False:
            return self.add(ref, name, [node]), null, self.add(ref, name, [node])
        return TYPES.get(types[0], "Any"), null, None

    def add(self, ref, name, forms, columns="", summary=""):
        """The name of the dataclass of these objects, which is made if it is new."""
        words = (ref or name).split("_")
        name = "".join(word[:1].upper() + word[1:] for word in words) if not summary else name
        keys = list(dict.fromkeys(key for form in forms for key in form["properties"]))
        signature = json.dumps([form["properties"] for form in forms], sort_keys=True)
        if name in self.made and self.made[name][0] != signature:
            name = self.top + name
        if name in self.made:
            return name
        self.made[name] = (signature, "")
        fields, nested = [], {}
        for key in keys:
            found = [form["properties"][key] for form in forms if key in form["properties"]]
            kinds = [self.type_of(one, f"{name}_{key}") for one in found]
            words = list(dict.fromkeys(kind[0] for kind in kinds if kind[0] != "None"))
            word = words[0] if len(words) == 1 else "Any"
            null = any(kind[1] for kind in kinds) or not all(key in form.get("required", []) for form in forms)
            inner = next((kind[2] for kind in kinds if kind[2]), None)
            attribute = key + "_" if keyword.iskeyword(key) else key
            if inner:
                nested[attribute] = inner
            if not words:
                word, null = "Any", False
            fields.append((null, attribute, f"Optional[{word}]" if null and word != "Any" else word))
        lines = ["@dataclasses.dataclass(frozen=True)", f"class {name}(Result):", f'    """{summary or "A part of a result."}"""', ""]
        if columns:
            lines.append("    _columns = (" + wrapped([f'"{column}"' for column in columns.split()]) + ")")
        if nested:
            lines.append("    _nested = {" + wrapped([f'"{key}": "{value}"' for key, value in nested.items()]) + "}")
        if columns or nested:
            lines.append("")
        lines += [f"    {attribute}: {kind}" + (" = None" if null else "") for null, attribute, kind in sorted(fields, key=lambda field: field[0])]
        self.made[name] = (signature, "\n".join(lines) + "\n")
        return name


def text():
    """The file's text."""
    made = {}
    for command, name, columns in COMMANDS:
        schema = json.loads((ROOT / f"docs/schemas/{command}.json").read_text(encoding="utf-8"))
        maker = Maker(schema, name, made)
        root = schema["$defs"]["result"]
        maker.add(None, name, maker.forms(root), columns, f"A result of `wormcube {command}`.")
    names = [name for _, name, _ in COMMANDS]
    head = '''"""The results of each command; made from docs/schemas by ./run docs."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
from typing import Any, Dict, List, Optional

from .result import Result

__all__ = [''' + ", ".join(f'"{name}"' for name in sorted(names)) + "]\n"
    return head + "".join("\n\n" + source for _, source in made.values())
