"""Networks: their facts, coordinates and cables."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import atexit
import functools
import math
import pathlib
import re
import shutil
import tempfile
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import program
from .errors import Error, UsageError
from .results import TopologyFacts

__all__ = ["Topology", "text_of", "topology"]


class Topology:
    """A network: its text `name`, its number of `nodes`, and each dimension's size in `sizes` and shape in `shapes`.

    On torus:4x3, `sizes` is (4, 3) and `shapes` is ("ring", "ring").
    """

    def __init__(self, name: str, shapes: Sequence[Tuple[str, int]], facts: Optional[TopologyFacts] = None) -> None:
        self.name = name
        self.shapes = tuple(shape for shape, _ in shapes)
        self.sizes: Tuple[int, ...] = tuple(size for _, size in shapes)
        self.nodes: int = math.prod(self.sizes)
        self._facts = facts

    @property
    def facts(self) -> TopologyFacts:
        """What `wormcube topology` prints of the network."""
        if self._facts is None:
            self._facts = _facts(program.find(), self.name)
        return self._facts

    @property
    def diameter(self) -> Optional[int]:
        """The largest distance between two nodes, in links; None if it was not searched for."""
        return self.facts.diameter

    def coordinates(self, node: int) -> Tuple[int, ...]:
        """A node's coordinates; the last dimension is the fastest."""
        found: List[int] = []
        for size in reversed(self.sizes):
            found.append(node % size)
            node //= size
        return tuple(reversed(found))

    def rank(self, coordinates: Tuple[int, ...]) -> int:
        """The node with these coordinates, each taken modulo its dimension's size."""
        node = 0
        for at, size in zip(coordinates, self.sizes):
            node = node * size + at % size
        return node

    def neighbour(self, node: int, dimension: int, hops: int) -> int:
        """The node that this many hops lead to; around the end of a ring, an error at the end of a line."""
        if not 0 <= dimension < len(self.sizes):
            raise UsageError(f"dimension {dimension} is out of range; {self.name} has dimensions 0 to {len(self.sizes) - 1}")
        shape, size = self.shapes[dimension], self.sizes[dimension]
        at = list(self.coordinates(node))
        if shape not in ("ring", "line", "complete"):
            raise UsageError(f"dimension {dimension} of {self.name} is a {shape}: no hops, use to=rank")
        if shape == "line" and size > 2 and not 0 <= at[dimension] + hops < size:
            raise UsageError(f"node {node} of {self.name} has no neighbour {hops:+d} in dimension {dimension}: the line ends")
        at[dimension] += hops
        return self.rank(tuple(at))

    @property
    def cables(self) -> List[List[Any]]:
        """Rows [a, b, dimension, hops], one per cable; an end is a node or a switch's name."""
        if self.facts.cables is None:
            raise Error(f"{self.name}: {self.facts.cables_reason}")
        return self.facts.cables

    def graph(self) -> Any:
        """A networkx DiGraph: coordinates of nodes; dimension and hops of links, two per cable."""
        try:
            import networkx
        except ImportError:
            raise Error("graph() needs networkx: apt install python3-networkx, or pip install networkx") from None
        graph = networkx.DiGraph(name=self.name)
        for node in range(self.nodes):
            graph.add_node(node, coordinates=self.coordinates(node))
        for a, b, dimension, hops in self.cables:
            graph.add_edge(a, b, dimension=dimension, hops=hops)
            graph.add_edge(b, a, dimension=dimension, hops=-hops)
        return graph

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Topology {self.name}: {self.nodes} nodes>"

    def _repr_html_(self) -> str:
        return self.facts._repr_html_()


@functools.lru_cache(maxsize=256)
def _facts(program_path: str, name: str) -> TopologyFacts:
    return program.rows(TopologyFacts, ["topology", "--on", name])[0]


def topology(text: Any) -> Topology:
    """The network of a text, such as torus:4x4, or of a networkx graph; the program computes its facts."""
    name = text_of(text)
    facts = program.rows(TopologyFacts, ["topology", "--on", name])[0] if "graph:" in name else _facts(program.find(), name)
    return Topology(name, [(dimension.shape, dimension.size) for dimension in facts.dimensions], facts)


_SIZED = re.compile(r"(ring|line|complete|tree|torus|mesh|ghc|hypercube):(\d+(?:x\d+)*)")
_SHAPES = {"torus": "ring", "mesh": "line", "ghc": "complete"}


def network(on: Any) -> Topology:
    """The nodes and coordinates of a network: without the program where the text says them, so that recording needs no program."""
    if isinstance(on, Topology):
        return on
    name = text_of(on)
    shapes: List[Tuple[str, int]] = []
    for factor in name.split("*"):
        found = _SIZED.fullmatch(factor)
        sizes = [int(size) for size in found.group(2).split("x")] if found else [0]
        if found is None or 0 in sizes or (found.group(1) in ("ring", "line", "complete", "tree", "hypercube") and len(sizes) > 1):
            return topology(name)
        kind = found.group(1)
        shapes += [("line", 2)] * sizes[0] if kind == "hypercube" else [(_SHAPES.get(kind, kind), size) for size in sizes]
    return Topology(name, shapes)


_graphs: Dict[Tuple[Tuple[int, int], ...], str] = {}
_folder: List[pathlib.Path] = []


def text_of(on: Any) -> str:
    """The network's text: of a text, a Topology, a networkx graph, or a list of these."""
    if isinstance(on, str):
        return on
    if isinstance(on, Topology):
        return on.name
    if isinstance(on, (list, tuple)):
        return ",".join(text_of(one) for one in on)
    if hasattr(on, "nodes") and hasattr(on, "edges"):
        return _graph_text(on)
    raise UsageError(f"a network is a text, a Topology or a networkx graph, not {type(on).__name__}")


def _graph_text(graph: Any) -> str:
    """graph:FILE, with the graph's cables in the file."""
    if set(graph.nodes) != set(range(len(graph.nodes))):
        raise UsageError(f"the nodes of a network must be 0 to {len(graph.nodes) - 1}: use networkx.convert_node_labels_to_integers(graph)")
    cables = tuple(sorted({(min(a, b), max(a, b)) for a, b in graph.edges()}))
    if cables not in _graphs:
        if not _folder:
            _folder.append(pathlib.Path(tempfile.mkdtemp(prefix="wormcube-")))
            atexit.register(shutil.rmtree, _folder[0], True)
        file = _folder[0] / f"graph-{len(_graphs)}.txt"
        file.write_text("".join(f"{a} {b}\n" for a, b in cables), encoding="utf-8")
        _graphs[cables] = f"graph:{file}"
    return _graphs[cables]
