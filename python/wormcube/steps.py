"""The parts of a schedule: gaps, sends, receives, and the sizes of values."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, Dict, List, Optional, Sequence, Tuple

from .blocks import Naming, Operation, Value
from .errors import UsageError

__all__ = ["Gap", "Line", "Receive", "Send", "Sizes"]


class Gap:
    """A node's local work before a step: bytes rearranged, bytes combined, and the pairs that are combined."""

    __slots__ = ("rearranged", "combined", "pairs")

    def __init__(self) -> None:
        self.rearranged = 0
        self.combined = 0
        self.pairs: List[Tuple[Value, Value]] = []


class Send:
    """A message, at its sender."""

    __slots__ = ("to", "bytes", "tag", "by", "values")

    def __init__(self, to: int, bytes: int, tag: int, by: str, values: Optional[Tuple[Value, ...]]) -> None:
        self.to = to
        self.bytes = bytes
        self.tag = tag
        self.by = by
        self.values = values


class Receive:
    """A message, at its receiver; values only where the text names them."""

    __slots__ = ("source", "bytes", "tag", "values")

    def __init__(self, source: int, bytes: int, tag: int, values: Optional[Tuple[Value, ...]]) -> None:
        self.source = source
        self.bytes = bytes
        self.tag = tag
        self.values = values


class Line:
    """What a node does in a step: its gap, then its sends and receives as posted."""

    __slots__ = ("gap", "ops")

    def __init__(self) -> None:
        self.gap: Optional[Gap] = None
        self.ops: List[Any] = []


class Sizes:
    """The bytes of values: of `block`, or of each block, cut into parts of whole elements."""

    def __init__(self, block: Optional[int], element: int, parts: int, operation: Optional[Operation], sizes: Optional[Sequence[Any]] = None) -> None:
        self.block = block
        self.element = element
        self.parts = parts
        self.single: Dict[Tuple[int, int], int] = {}
        if sizes is not None:
            assert operation is not None
            self.block = None
            for node in range(operation.nodes):
                count = operation.gives(node)
                if count == 0:
                    continue
                given = sizes[node] if node < len(sizes) else None
                those = [given] if isinstance(given, int) else list(given or ())
                if len(those) != count:
                    raise UsageError(f"sizes: node {node} gives {count} block{'' if count == 1 else 's'}, and sizes[{node}] is {given!r}")
                for number, bytes in enumerate(those):
                    if bytes % element:
                        raise UsageError(f"sizes: {bytes} is not whole elements of {element} bytes")
                    self.single[node, number] = bytes
        self._cut = [self._part(self.block or 0, part) for part in range(parts)]

    @property
    def known(self) -> bool:
        """Whether values have sizes at all."""
        return self.block is not None or bool(self.single)

    def _part(self, bytes: int, part: int) -> int:
        elements = bytes // self.element
        return ((part + 1) * elements // self.parts - part * elements // self.parts) * self.element

    def of(self, values: Sequence[Value]) -> int:
        """The bytes of these values together."""
        if not self.single:
            return len(values) * (self.block or 0) if self.parts == 1 else sum(self._cut[part] for _, _, part in values)
        return sum(self._part(self.single.get((word[0], block), self.block or 0), part) for word, block, part in values)

    def lines(self, naming: Naming) -> List[str]:
        """The header's lines, size NAME BYTES."""
        return [f"size {node}.{number} {bytes}" if naming.several else f"size {node} {bytes}" for (node, number), bytes in sorted(self.single.items())]
