"""Text 2, the format of schedules: write it in canonical form, read all of it (docs/reference/schedules.md)."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from typing import Any, Dict, List, Optional, Tuple, TYPE_CHECKING

from .blocks import Naming, Operation, Value
from .errors import Error, TextError, UsageError
from .steps import Gap, Receive, Send, Sizes
from .topology import Topology, network

if TYPE_CHECKING:
    from .schedule import Schedule

__all__ = ["read", "write"]


# Writing.

def _gap_text(gap: Gap, schedule: "Schedule") -> List[str]:
    clauses = []
    if gap.rearranged:
        clauses.append(f"rearrange {gap.rearranged}")
    if gap.pairs:
        clauses.append(f"combine {schedule.sizes.of([left for left, _ in gap.pairs])} [{schedule.naming.pairs(gap.pairs)}]")
    elif gap.combined:
        clauses.append(f"combine {gap.combined}")
    return clauses


def _op_text(op: Any, naming: Naming) -> str:
    tag = f" tag {op.tag}" if op.tag else ""
    if isinstance(op, Receive):
        return f"receive {op.bytes} from {op.source}{tag}"
    by = f" by {op.by}" if op.by else ""
    names = f" [{naming.text(op.values)}]" if op.values else ""
    return f"send {op.bytes} to {op.to}{by}{tag}{names}"


def write(schedule: "Schedule") -> str:
    """The schedule in canonical form."""
    lines = ["wormcube schedule 2", f"topology {schedule.on}"]
    naming, sizes = schedule.naming, schedule.sizes
    if schedule.call is not None:
        lines.append(f"operation {schedule.call.text()}")
    if sizes.block is not None and not sizes.single:
        lines.append(f"block {sizes.block}")
    if sizes.element != 1:
        lines.append(f"element {sizes.element}")
    if sizes.parts != 1:
        lines.append(f"parts {sizes.parts}")
    lines += sizes.lines(naming)
    if schedule.commutative:
        lines.append("commutative")
    lines += [f"about {text}" for text in schedule.about]
    lines.append(f"steps {len(schedule.steps_)}")
    lines += [f"phase {first}..{last} {name}" for first, last, name in schedule.phases]
    for number, step in enumerate(schedule.steps_):
        lines += ["", f"step {number}"]
        ended = [node for node, at in schedule.ended.items() if at == number]
        for node in sorted([*step, *ended]):
            if node not in step:
                lines.append(f"node {node}: end")
                continue
            line = step[node]
            clauses = _gap_text(line.gap, schedule) if line.gap is not None else []
            clauses += [_op_text(op, naming) for op in line.ops]
            lines.append(f"node {node}: " + ", ".join(clauses))
    lines += ["", "end"]
    for node in sorted(schedule.end):
        clauses = _gap_text(schedule.end[node], schedule)
        lines.append(f"node {node}: " + ", ".join(clauses))
    return "\n".join(lines) + "\n"


# Reading.

_CLAUSES = re.compile(r",(?![^\[]*\])(?![^(]*\))")


class _Reader:
    """One text."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.number = 0
        self.head: Dict[str, Any] = {}
        self.about: List[str] = []
        self.phases: List[Tuple[int, int, str]] = []
        self.size_lines: List[Tuple[int, str, int]] = []
        self.parts = 1
        self.topology: Optional[Topology] = None
        self.call: Optional[Operation] = None
        self.naming = Naming(1, False)

    def fail(self, what: str) -> TextError:
        return TextError(f"{self.name}:{self.number}: {what}")

    def integer(self, text: str, what: str) -> int:
        if not text.isdigit():
            raise self.fail(f"{what} expected, not '{text}'")
        return int(text)

    # Numbers as the node sees them.

    def relative(self, text: str, node: int) -> Tuple[int, str]:
        """The number and its kind: '' absolute, '+' or '^' relative, 'x' by coordinates."""
        assert self.topology is not None
        if text.isdigit():
            return int(text), ""
        if re.fullmatch(r"[+-]\d+", text):
            return node + int(text), "+"
        if re.fullmatch(r"\^\d+", text):
            return node ^ int(text[1:]), "^"
        if re.fullmatch(r"\+\(\s*[+-]?\d+(\s*,\s*[+-]?\d+)*\s*\)", text):
            moves = [int(one) for one in text[2:-1].split(",")]
            if len(moves) != len(self.topology.sizes):
                raise self.fail(f"{text}: {self.topology.name} has {len(self.topology.sizes)} dimensions")
            at = self.topology.coordinates(node)
            return self.topology.rank(tuple(a + b for a, b in zip(at, moves))), "x"
        raise self.fail(f"a number expected, not '{text}'")

    def range(self, text: str, node: int, modulo: int, what: str) -> List[int]:
        """The numbers of a range, relative ones counted modulo the network's nodes."""
        assert self.topology is not None
        p = self.topology.nodes
        ends = text.split("..")
        if len(ends) > 2:
            raise self.fail(f"'{text}' is no range")
        step = 1
        if len(ends) == 2 and ":" in ends[1]:
            ends[1], word = ends[1].split(":", 1)
            step = self.integer(word, "a step")
            if step < 1:
                raise self.fail(f"'{text}': a step is at least 1")
        found = [self.relative(one, node) for one in ends]
        if len({kind for _, kind in found}) > 1:
            raise self.fail(f"'{text}' mixes absolute and relative numbers")
        first, kind = found[0]
        last = found[-1][0]
        if kind == "^" and len(ends) == 2:
            low, high = int(ends[0][1:]), int(ends[1][1:])
            made = [node ^ number for number in range(low, high + 1, step)]
        elif last >= first:
            made = list(range(first, last + 1, step))
        elif kind == "+":
            made = list(range(first, last - 1, -step))
        else:
            raise self.fail(f"'{text}': the first number is the larger")
        if kind:
            made = [number % p for number in made]
        for number in made:
            if not 0 <= number < modulo:
                raise self.fail(f"{what} {number} is out of range; there are 0 to {modulo - 1}")
        return made

    def name_values(self, text: str, node: int) -> List[Value]:
        """The values of a name: origin slowest, then block, then part."""
        assert self.topology is not None
        found = re.fullmatch(r"(\{[^}]*\}|[^./]+(?:\.\.[^./]+)?)(?:\.(?!\.)((?:[^./]|\.\.)+))?(?:/((?:[^./]|\.\.)+))?", text)
        if found is None:
            raise self.fail(f"'{text}' is no name")
        origins, block_text, part_text = found.groups()
        p = self.topology.nodes
        if origins.startswith("{"):
            words = [tuple(number for one in origins[1:-1].split() for number in self.range(one, node, p, "node"))]
            if len(set(words[0])) != len(words[0]) or not words[0]:
                raise self.fail(f"'{text}': a node twice, or none")
        else:
            words = [(number,) for number in self.range(origins, node, p, "node")]
        if block_text is None:
            if self.naming.several:
                raise self.fail(f"{text}: which block? a node gives several")
            blocks = [0]
        else:
            blocks = self.range(block_text, node, self.blocks(), "block")
        parts = list(range(self.parts)) if part_text is None else self.range(part_text, node, self.parts, "part")
        return [(word, block, part) for word in words for block in blocks for part in parts]

    def blocks(self) -> int:
        assert self.topology is not None
        if self.call is None:
            return self.topology.nodes
        return max(1, max(self.call.gives(node) for node in range(self.topology.nodes)))

    def names(self, text: str, node: int) -> Tuple[Value, ...]:
        return tuple(value for name in _words(text) for value in self.name_values(name, node))

    def pair_values(self, text: str, node: int) -> List[Tuple[Value, Value]]:
        for at in [i for i in range(1, len(text)) if text[i] == "+"]:
            left, right = text[:at], text[at + 1:]
            if right and _is_name(left) and _is_name(right):
                a, b = self.name_values(left, node), self.name_values(right, node)
                if len(a) != len(b):
                    raise self.fail(f"combine {text}: {len(a)} values and {len(b)}")
                return list(zip(a, b))
        raise self.fail(f"'{text}': LEFT+RIGHT expected")

    # Lines.

    def read(self) -> "Schedule":
        from .schedule import Schedule
        lines: List[Tuple[int, str]] = []
        for number, line in enumerate(self.text.splitlines(), 1):
            line = line.split("#", 1)[0].strip()
            if line:
                lines.append((number, line))
        self.number = 1
        version = re.fullmatch(r"wormcube\s+schedule\s+([12])", lines[0][1]) if lines else None
        if version is None:
            raise self.fail("the first line of a schedule is 'wormcube schedule 2'")
        named = version.group(1) == "2"
        at = 1
        while at < len(lines) and not re.match(r"(step\s+\d+|end)$", lines[at][1]):
            self.number, line = lines[at]
            self.read_head(line, named)
            at += 1
        schedule = self.make_schedule(Schedule)
        steps = self.head["steps"]
        for step in range(steps + 1):
            wanted = f"step {step}" if step < steps else "end"
            if at >= len(lines):
                raise self.fail(f"'{wanted}' expected at the end of the text")
            self.number, line = lines[at]
            if " ".join(line.split()) != wanted:
                raise self.fail(f"'{line}': '{wanted}' expected")
            at += 1
            if step < steps:
                schedule.add_step()
            seen: Dict[int, int] = {}
            while at < len(lines) and not re.match(r"(step\s+\d+|end)$", lines[at][1]):
                self.number, line = lines[at]
                self.read_line(schedule, step, step == steps, line, named, seen)
                at += 1
        if at < len(lines):
            self.number = lines[at][0]
            raise self.fail(f"unexpected '{lines[at][1]}' after the end")
        schedule.finish()
        return schedule

    def read_head(self, line: str, named: bool) -> None:
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        if word in self.head or (not named and word not in ("topology", "steps")):
            raise self.fail(f"unexpected '{word}' in the header")
        if word == "topology":
            try:
                self.topology = network(rest)
            except Error as error:
                raise self.fail(str(error)) from error
            self.head[word] = rest
        elif word in ("steps", "block", "element", "parts"):
            self.head[word] = self.integer(rest, f"a number of {word}")
            if word in ("parts", "element") and self.head[word] == 0:
                raise self.fail(f"{word} 0: at least 1")
        elif word == "commutative":
            self.head[word] = True
        elif word == "operation":
            self.head[word] = (self.number, rest.split())
        elif word == "about":
            self.about.append(rest)
        elif word == "phase":
            found = re.fullmatch(r"(\d+)\s*\.\.\s*(\d+)\s+(.*)", rest)
            if found is None:
                raise self.fail("phase FIRST..LAST NAME expected")
            self.phases.append((int(found.group(1)), int(found.group(2)), found.group(3)))
        elif word == "size":
            name, _, bytes = rest.rpartition(" ")
            self.size_lines.append((self.number, name.strip(), self.integer(bytes, "a number of bytes")))
        else:
            raise self.fail(f"unknown word '{word}' in the header")

    def make_schedule(self, kind: Any) -> "Schedule":
        for word in ("topology", "steps"):
            if word not in self.head:
                raise self.fail(f"the header has no '{word}'")
        assert self.topology is not None
        if "operation" in self.head:
            self.number, words = self.head["operation"]
            try:
                self.call = Operation.parse(words, self.topology.nodes)
            except (UsageError, ValueError) as error:
                raise self.fail(str(error)) from error
        self.parts = self.head.get("parts", 1)
        self.naming = Naming(self.parts, self.call is not None and self.call.several)
        block, element = self.head.get("block"), self.head.get("element", 1)
        if block is not None and block % element:
            raise self.fail(f"block {block} is not whole elements of {element} bytes")
        sizes = Sizes(block, element, self.parts, self.call)
        for self.number, name, bytes in self.size_lines:
            for origins, block, _ in self.name_values(name, 0):
                sizes.single[origins[0], block] = bytes
        made: "Schedule" = kind(self.topology.name, self.topology.nodes, self.call, sizes, self.head.get("commutative", False), self.about)
        made.name = self.name
        made.phases = self.phases
        return made

    def read_line(self, schedule: "Schedule", step: int, at_end: bool, line: str, named: bool, seen: Dict[int, int]) -> None:
        found = re.fullmatch(r"(node|nodes)\s+(\d+)(?:\s*\.\.\s*(\d+))?\s*:\s*(.*)", line)
        if found is None or (found.group(1) == "nodes") != (found.group(3) is not None):
            raise self.fail("'node R:' or 'nodes A..B:' expected")
        first = int(found.group(2))
        last = int(found.group(3)) if found.group(3) else first
        if last >= schedule.nodes or last < first:
            raise self.fail(f"node {last}; {schedule.on} has nodes 0 to {schedule.nodes - 1}")
        clauses = [" ".join(clause.split()) for clause in _CLAUSES.split(found.group(4))]
        for node in range(first, last + 1):
            if node in seen:
                raise self.fail(f"node {node} twice in a step")
            seen[node] = self.number
            for clause in clauses:
                self.read_clause(schedule, step, at_end, node, clause, named)

    def read_clause(self, schedule: "Schedule", step: int, at_end: bool, node: int, clause: str, named: bool) -> None:
        if clause == "end" and not at_end:
            if node in schedule.ended or node in schedule.steps_[step]:
                raise self.fail("'end' stands alone on its line")
            schedule.ended[node] = step
            return
        if not at_end and node in schedule.ended:
            raise self.fail(f"node {node} has ended")
        body, names = clause, None
        if "[" in clause:
            body, _, rest = clause.partition("[")
            if not named:
                raise self.fail("names need 'wormcube schedule 2'")
            if not rest.rstrip().endswith("]"):
                raise self.fail(f"']' expected after '{clause}'")
            names = rest.rstrip()[:-1]
        words = body.split()
        if at_end and words[:1] in (["peak"], ["peak_blocks"]) and len(words) == 2:
            self.integer(words[1], "a number of bytes")
            return
        if words[:1] in (["rearrange"], ["combine"]) and len(words) == 2:
            gap = Gap()
            bytes = self.integer(words[1], "a number of bytes")
            if words[0] == "rearrange":
                gap.rearranged = bytes
            else:
                gap.combined = bytes
                gap.pairs = [pair for text in _words(names or "") for pair in self.pair_values(text, node)]
            schedule.add_gap(step, node, gap, ended=at_end)
            return
        found = re.fullmatch(r"(send|receive) (\d+) (to|from) (\+\([^)]*\)|\S+)(?: by ((?:\d+[+-]\d+ ?)+))?(?: tag (\d+))?", body.strip())
        if at_end or found is None or (found.group(1) == "send") != (found.group(3) == "to"):
            raise self.fail(f"send, receive, rearrange, combine or end expected, not '{clause}'")
        kind, size, _, peer_text, by, tag_text = found.groups()
        peer, relative = self.relative(peer_text, node)
        peer = peer % schedule.nodes if relative else peer
        if not 0 <= peer < schedule.nodes:
            raise self.fail(f"node {peer}; {schedule.on} has nodes 0 to {schedule.nodes - 1}")
        values = None if names is None else self.names(names, node)
        tag = int(tag_text or 0)
        if kind == "send":
            schedule.add(step, node, Send(peer, int(size), tag, (by or "").strip(), values))
        elif by:
            raise self.fail("a receive has no moves")
        else:
            schedule.add(step, node, Receive(peer, int(size), tag, values))


def _is_name(text: str) -> bool:
    """Whether a text is a whole name: its braces close, and it does not end within a number."""
    number = r"(?:\+\([^)]*\)|[+^-]?\d+)"
    span = rf"{number}(?:\.\.{number}(?::\d+)?)?"
    return re.fullmatch(rf"(?:\{{\s*{span}(?:\s+{span})*\s*\}}|{span})(?:\.{span})?(?:/{span})?", text) is not None


def _words(text: str) -> List[str]:
    """Names separated by blanks, except within braces and parentheses."""
    return re.findall(r"(?:\{[^}]*\}|\([^)]*\)|[^\s{(])+", text)


def is_text(source: bytes) -> bool:
    """Whether the first line, comments left out, is that of text 1 or 2; an empty file counts, for its error."""
    lines = (line.split(b"#", 1)[0].strip() for line in source.splitlines())
    return next((line for line in lines if line), b"wormcube").startswith(b"wormcube")


def read(text: str, name: str = "schedule") -> "Schedule":
    """The schedule of a text; a TextError names the line that is wrong."""
    return _Reader(text, name).read()
