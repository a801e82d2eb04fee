"""Carry out a schedule on data in this process; arrays may be numpy's, lists, or anything with slices and +."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple, TYPE_CHECKING

from .blocks import Block, Value, order_of
from .errors import Error, UsageError
from .steps import Gap, Send

if TYPE_CHECKING:
    from .schedule import Schedule

__all__ = ["apply"]


def _joined(pieces: List[Any]) -> Any:
    """Parts of a block, one after the other."""
    if len(pieces) == 1:
        return pieces[0]
    if hasattr(pieces[0], "__array__"):
        import numpy
        return numpy.concatenate(pieces)
    made = pieces[0]
    for piece in pieces[1:]:
        made = made + piece
    return made


class _Machine:
    """What all nodes hold."""

    def __init__(self, schedule: "Schedule", operator: Optional[Callable[[Any, Any], Any]]) -> None:
        self.schedule = schedule
        self.operator = operator
        self.held: List[Dict[Value, Any]] = [{} for _ in range(schedule.nodes)]

    def name(self, value: Value) -> str:
        return str(Block((value,), self.schedule.naming))

    def give(self, node: int, blocks: Sequence[Any]) -> None:
        parts = self.schedule.parts
        for number, data in enumerate(blocks):
            for part in range(parts):
                count = len(data) if parts > 1 else 0
                self.held[node][(node,), number, part] = data[part * count // parts:(part + 1) * count // parts] if parts > 1 else data

    def gap(self, node: int, gap: Gap, where: str) -> None:
        held = self.held[node]
        for left, right in gap.pairs:
            for value in (left, right):
                if value not in held:
                    raise Error(f"{where}: combines {self.name(value)}, which it does not hold")
            if left[1:] != right[1:]:
                raise Error(f"{where}: combines {self.name(left)} with {self.name(right)}: not the same block and part")
            if self.operator is None:
                raise UsageError(f"{self.schedule.operation} combines: apply(inputs, operator)")
            held[left[0] + right[0], left[1], left[2]] = self.operator(held[left], held[right])

    def step(self, number: int) -> None:
        lines = self.schedule.steps_[number]
        for node, line in lines.items():
            if line.gap is not None:
                self.gap(node, line.gap, f"step {number}, node {node}")
        moved: List[Tuple[int, Value, Any]] = []
        for node, line in lines.items():
            for op in line.ops:
                for value in (op.values or ()) if isinstance(op, Send) else ():
                    if value not in self.held[node]:
                        raise Error(f"step {number}, node {node}: sends {self.name(value)} to {op.to}, which it does not hold")
                    moved.append((op.to, value, self.held[node][value]))
        for node, value, data in moved:
            self.held[node][value] = data

    def result(self, node: int, word: Tuple[int, ...], number: int, place: int) -> Any:
        schedule, held = self.schedule, self.held[node]
        commutes = schedule.commutative and schedule.call is not None and schedule.call.reduces
        pieces = []
        for part in range(schedule.parts):
            found = (word, number, part) if (word, number, part) in held else None
            if found is None and commutes:
                found = next((value for value in held if value[1:] == (number, part) and order_of(value[0], word, True) is not None), None)
            if found is None:
                raise Error(f"node {node} ends without {self.name((word, number, part))}, its block {place}")
            pieces.append(held[found])
        return _joined(pieces)


def apply(schedule: "Schedule", inputs: Sequence[Any], operator: Optional[Callable[[Any, Any], Any]] = None) -> List[Any]:
    """What each node ends with."""
    call = schedule.call
    if call is None:
        raise UsageError("the schedule names no operation, so nobody knows what its nodes give")
    if not hasattr(inputs, "__len__"):
        raise UsageError(f"inputs is {type(inputs).__name__}; expected a list with one input for each of {schedule.nodes} nodes")
    if len(inputs) != schedule.nodes:
        raise UsageError(f"{len(inputs)} inputs for {schedule.nodes} nodes")
    if any(op.values is None and op.bytes > 0 for step in schedule.steps_ for line in step.values() for op in line.ops if isinstance(op, Send)):
        raise UsageError("the schedule's messages have no names, so it has no values")
    machine = _Machine(schedule, operator)
    for node in range(schedule.nodes):
        count = call.gives(node)
        if count == 0:
            continue
        blocks = inputs[node] if call.gives_list() else [inputs[node]]
        if len(blocks) != count:
            raise UsageError(f"node {node} gives {count} blocks, and inputs[{node}] has {len(blocks)}")
        machine.give(node, list(blocks))
    for number in range(schedule.steps):
        machine.step(number)
    for node, gap in schedule.end.items():
        machine.gap(node, gap, f"end, node {node}")
    made: List[Any] = []
    for node in range(schedule.nodes):
        ends = [machine.result(node, word, number, place) for place, (word, number) in enumerate(call.ends(node))]
        made.append(ends if call.ends_list() and ends else ends[0] if ends else None)
    return made
