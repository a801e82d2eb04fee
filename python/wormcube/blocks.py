"""Blocks, their names in text 2, and what each operation gives a node and wants of it."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import difflib
import functools
import math
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from .errors import NodeError, UsageError

__all__ = ["Block", "Value", "join"]

#: The nodes whose blocks are combined, in this order; the block's number; the part's.
Value = Tuple[Tuple[int, ...], int, int]
_Item = Tuple[Any, Any, Any]


class Span(NamedTuple):
    """The numbers first to last."""

    first: int
    last: int

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}..{self.last}"


def _runs(items: Iterable[_Item], at: int) -> List[_Item]:
    """Items that differ only in the number at this place, and there go up by one, become one item with a span."""
    made: List[_Item] = []
    others = [i for i in range(3) if i != at]
    for item in items:
        number = item[at]
        if not isinstance(number, int):  # the word of a combined value: each stands alone
            made.append(item)
            continue
        if made:
            last = made[-1]
            if isinstance(last[at], Span) and last[at].last + 1 == number and all(last[i] == item[i] for i in others):
                made[-1] = (*last[:at], Span(last[at].first, number), *last[at + 1:])  # type: ignore[assignment]
                continue
        made.append((*item[:at], Span(number, number), *item[at + 1:]))  # type: ignore[arg-type]
    return made


@functools.lru_cache(maxsize=1 << 16)
def word_text(word: Tuple[int, ...]) -> str:
    """The nodes of a value: 5, or {0..3 7}."""
    if len(word) == 1:
        return str(word[0])
    return "{" + " ".join(str(item[0]) for item in _runs([(node, 0, 0) for node in word], 0)) + "}"


@functools.lru_cache(maxsize=1 << 16)
def _plain(word: Tuple[int, ...], block: int, several: bool) -> str:
    return f"{word_text(word)}.{block}" if several else word_text(word)


class Naming:
    """How a schedule names its values: .BLOCK where nodes give several blocks, /PART where a block is not whole."""

    __slots__ = ("parts", "several")

    def __init__(self, parts: int, several: bool) -> None:
        self.parts = parts
        self.several = several

    def _ending(self, blocks: Any, parts: Any) -> str:
        text = f".{blocks}" if self.several else ""
        return text if parts == Span(0, self.parts - 1) else f"{text}/{parts}"

    def texts(self, values: Sequence[Value]) -> List[str]:
        """The canonical names: runs of parts become one, then runs of blocks, then runs of origins."""
        if len(values) == 1 and self.parts == 1:
            return [_plain(values[0][0], values[0][1], self.several)]
        items: List[_Item] = [(word[0] if len(word) == 1 else word, block, part) for word, block, part in values]
        for at in (2, 1, 0):
            items = _runs(items, at)
        return [(str(origins) if isinstance(origins, Span) else word_text(origins)) + self._ending(blocks, parts) for origins, blocks, parts in items]

    def text(self, values: Sequence[Value]) -> str:
        """The canonical names in one text."""
        return " ".join(self.texts(values))

    def pairs(self, pairs: Sequence[Tuple[Value, Value]]) -> str:
        """LEFT+RIGHT of combinations, with runs of parts and of blocks."""
        items: List[_Item] = [((left[0], right[0]), left[1], left[2]) for left, right in pairs]
        for at in (2, 1):
            items = _runs(items, at)
        ends = [(words, self._ending(blocks, parts)) for words, blocks, parts in items]
        return " ".join(f"{word_text(left)}{end}+{word_text(right)}{end}" for (left, right), end in ends)


class Block:
    """A value that nodes hold: it has a name and no data, and never changes."""

    __slots__ = ("values", "naming")

    def __init__(self, values: Tuple[Value, ...], naming: Naming) -> None:
        self.values = values
        self.naming = naming

    def split(self, groups: int) -> List["Block"]:
        """Equal groups of the block's parts; record(.., parts=P) says how many parts there are."""
        if groups < 1 or len(self.values) % groups:
            count = len(self.values)
            raise NodeError(f"splits {self} of {count} part{'' if count == 1 else 's'} into {groups}: record(.., parts=P) needs a multiple of {groups}")
        size = len(self.values) // groups
        return [Block(self.values[at:at + size], self.naming) for at in range(0, len(self.values), size)]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Block) and self.values == other.values

    def __hash__(self) -> int:
        return hash(self.values)

    def __str__(self) -> str:
        return self.naming.text(self.values)

    def __repr__(self) -> str:
        return f"<Block {self}>"


def join(blocks: Iterable[Block]) -> Block:
    """The blocks, or parts of one, one after the other."""
    those = list(blocks)
    for block in those:
        if not isinstance(block, Block):
            raise NodeError(f"joins {block!r}, which is not a block")
    if not those:
        raise NodeError("joins no blocks")
    return Block(tuple(value for block in those for value in block.values), those[0].naming)


# Operations.

REDUCTIONS = ("reduce", "reduce_scatter", "reduce_scatterv", "allreduce", "scan", "exscan", "k_reduce")
_SEVERAL = ("reduce_scatter", "reduce_scatterv", "scatter", "scatterv", "alltoall", "alltoallv", "k_alltoall", "k_reduce", "k_gather")
_LISTS = ("allgather", "allgatherv", "gather", "gatherv", "alltoall", "alltoallv", "k_broadcast", "k_alltoall", "k_gather")
OPERATIONS = ("broadcast", "reduce", "allgather", "allgatherv", "gather", "gatherv", "reduce_scatter", "reduce_scatterv", "allreduce", "scan", "exscan",
              "scatter", "scatterv", "alltoall", "alltoallv", "shift", "permute", "k_broadcast", "k_reduce", "k_alltoall", "k_gather", "barrier")
_ARGUMENTS = {"root": ("broadcast", "reduce", "gather", "gatherv", "scatter", "scatterv"), "distance": ("shift",),
              "sources": ("k_broadcast", "k_alltoall", "k_reduce", "k_gather"), "permutation": ("permute",)}
PERMUTATIONS = ("complement", "bit-reversal", "transpose", "shuffle", "butterfly")
_DEFAULTS: Dict[str, Any] = {"root": 0, "distance": 1, "sources": (0,), "permutation": "complement"}


class Operation:
    """An operation with its arguments: what nodes give, and what they must hold at the end."""

    def __init__(self, name: str, nodes: int, **arguments: Any) -> None:
        if name not in OPERATIONS:
            near = difflib.get_close_matches(name, OPERATIONS, 1)
            hint = f" (did you mean '{near[0]}'?)" if near else ""
            raise UsageError(f"unknown operation '{name}'{hint}; available: {' '.join(OPERATIONS)}")
        self.name = name
        self.nodes = nodes
        self.arguments: Dict[str, Any] = {}
        for key, value in arguments.items():
            if name not in _ARGUMENTS.get(key, ()):
                raise UsageError(f"{name} has no argument '{key}'")
        for key, operations in _ARGUMENTS.items():
            if name in operations:
                self.arguments[key] = self._checked(key, arguments.get(key, _DEFAULTS[key]))

    def _checked(self, key: str, value: Any) -> Any:
        if key == "sources":
            value = tuple(range(value)) if isinstance(value, int) else tuple(value)
        for node in (value,) if key == "root" else value if key == "sources" else ():
            if not isinstance(node, int) or not 0 <= node < self.nodes:
                raise UsageError(f"{key} {node} is out of range; nodes are 0 to {self.nodes - 1}")
        if key == "permutation":
            if not isinstance(value, str):  # images, written as a schedule writes them
                images = [str(image) for image in value]
                value = ",".join(images) + ("," if len(images) == 1 else "")
            self._permutation(value)
        return value

    def _permutation(self, name: str) -> List[int]:
        """The images of the nodes: where each node's block goes."""
        p = self.nodes
        bits, side = p.bit_length() - 1, math.isqrt(p)
        if "," in name:
            return self._images(name)
        if name not in PERMUTATIONS:
            raise UsageError(f"unknown permutation '{name}'; available: {' '.join(PERMUTATIONS)}, or images such as 1,2,0")
        if name in ("bit-reversal", "butterfly") and p != 1 << bits:
            raise UsageError(f"{name} needs a power of two nodes, not {p}")
        if name == "transpose" and p != side * side:
            raise UsageError(f"transpose needs a square number of nodes, not {p}")
        if name == "shuffle" and p % 2 and p > 1:
            raise UsageError(f"shuffle needs an even number of nodes, not {p}")
        ends = p // 2 | 1
        image: Dict[str, Callable[[int], int]] = {
            "complement": lambda r: p - 1 - r,
            "bit-reversal": lambda r: int(f"{r:0{bits}b}"[::-1], 2) if bits else 0,
            "transpose": lambda r: r % side * side + r // side,
            "shuffle": lambda r: r if r == p - 1 else 2 * r % (p - 1),
            "butterfly": lambda r: r if r & ends in (0, ends) else r ^ ends,
        }
        return [image[name](r) for r in range(p)]

    def _images(self, text: str) -> List[int]:
        words = [word for word in text.split(",") if word]
        for word in words:
            if not word.isdigit():
                raise UsageError(f"permutation: '{word}' is not a node number")
        images = [int(word) for word in words]
        if len(images) != self.nodes:
            raise UsageError(f"the permutation has {len(images)} images for {self.nodes} nodes; give one for each node")
        seen: Dict[int, int] = {}
        for node, image in enumerate(images):
            if image >= self.nodes:
                raise UsageError(f"permutation: image {image} of node {node}; {self.nodes} images are 0 to {self.nodes - 1}")
            if image in seen:
                missing = min(set(range(self.nodes)) - set(images))
                raise UsageError(f"permutation: {image} is repeated, as the image of nodes {seen[image]} and {node}; the first missing number is {missing}")
            seen[image] = node
        return images

    @property
    def several(self) -> bool:
        """Whether some node gives several blocks, so that names have .BLOCK."""
        return self.name in _SEVERAL and any(self.gives(node) > 1 for node in range(self.nodes))

    @property
    def reduces(self) -> bool:
        """Whether blocks are combined."""
        return self.name in REDUCTIONS

    def gives(self, node: int) -> int:
        """The number of blocks that a node gives."""
        name, p = self.name, self.nodes
        if name == "barrier":
            return 0
        if name in ("broadcast", "scatter", "scatterv"):
            return 0 if node != self.arguments["root"] else 1 if name == "broadcast" else p
        if name in ("k_broadcast", "k_alltoall"):
            return 0 if node not in self.arguments["sources"] else 1 if name == "k_broadcast" else p
        if name in ("k_reduce", "k_gather"):
            return len(self.arguments["sources"])
        return p if name in _SEVERAL else 1

    def gives_list(self) -> bool:
        """Whether a node program gets a list of blocks, not one."""
        return self.name in _SEVERAL

    def ends_list(self) -> bool:
        """Whether data is a list of arrays for each node, not one."""
        return self.name in _LISTS

    def ends(self, node: int) -> List[Tuple[Tuple[int, ...], int]]:
        """The words and numbers of the blocks that a node must hold in the end."""
        name, p, argument = self.name, self.nodes, self.arguments
        everyone = tuple(range(p))
        if name == "broadcast":
            return [((argument["root"],), 0)]
        if name in ("allgather", "allgatherv"):
            return [((r,), 0) for r in range(p)]
        if name in ("gather", "gatherv"):
            return [((r,), 0) for r in range(p)] if node == argument["root"] else []
        if name == "reduce":
            return [(everyone, 0)] if node == argument["root"] else []
        if name in ("reduce_scatter", "reduce_scatterv"):
            return [(everyone, node)]
        if name == "allreduce":
            return [(everyone, 0)]
        if name == "scan":
            return [(everyone[:node + 1], 0)]
        if name == "exscan":
            return [(everyone[:node], 0)] if node else []
        if name in ("scatter", "scatterv"):
            return [((argument["root"],), node)]
        if name in ("alltoall", "alltoallv"):
            return [((r,), node) for r in range(p)]
        if name == "shift":
            return [(((node - argument["distance"]) % p,), 0)]
        if name == "permute":
            return [((self._permutation(argument["permutation"]).index(node),), 0)]
        if name == "k_broadcast":
            return [((s,), 0) for s in argument["sources"]]
        if name == "k_alltoall":
            return [((s,), node) for s in argument["sources"]]
        if name in ("k_reduce", "k_gather"):
            if node not in argument["sources"]:
                return []
            at = argument["sources"].index(node)
            return [(everyone, at)] if name == "k_reduce" else [((r,), at) for r in range(p)]
        return []

    def text(self) -> str:
        """The line of text 2, without its keyword."""
        words = [self.name]
        for key, value in self.arguments.items():
            words += {"distance": "by"}.get(key, key), ",".join(map(str, value)) if key == "sources" else str(value)
        return " ".join(words)

    def options(self) -> Dict[str, Any]:
        """The arguments as keyword arguments of the program's commands."""
        made = dict(self.arguments)
        if "sources" in made:  # "7," is the node 7, "7" the nodes 0 to 6
            made["sources"] = ",".join(map(str, made["sources"])) + ("," if len(made["sources"]) == 1 else "")
        return made

    @staticmethod
    def parse(words: Sequence[str], nodes: int) -> "Operation":
        """The operation of a line of text 2."""
        arguments: Dict[str, Any] = {}
        rest: List[str] = list(words[1:])
        while rest:
            key = rest.pop(0)
            if not rest or key not in ("root", "by", "sources", "permutation"):
                raise UsageError(f"'{key}' is no argument of an operation, or has no value")
            value = rest.pop(0)
            arguments["distance" if key == "by" else key] = (
                value if key == "permutation" else tuple(int(one) for one in value.split(",") if one) if key == "sources" else int(value))
        return Operation(words[0] if words else "", nodes, **arguments)


def order_of(word: Tuple[int, ...], wanted: Tuple[int, ...], commutative: bool) -> Optional[bool]:
    """Whether a word is the wanted one: True in its order, False in another that commutes, None if it is not."""
    if word == wanted:
        return True
    return False if commutative and sorted(word) == sorted(wanted) else None
