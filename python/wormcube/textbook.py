"""The collectives of the textbooks as node programs (docs/reference/python-algorithms.md has the sources and counts).

Each is a generator for `wormcube.record`, which proves nothing: `Schedule.require()` does.
"""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, Dict, Generator, List, Optional, Sequence

from .blocks import Block, join
from .record import Node

__all__ = [
    "allreduce_doubling", "bruck", "bruck_exchange", "dissemination", "doubling", "exchange", "exscan_line", "gather_direct", "halving", "k_exchange",
    "pairwise", "permute", "pipeline", "rabenseifner", "reduce_in_order", "reduce_scatter_ring", "ring", "ring_sum", "scan", "scatter_allgather",
    "scatter_tree", "shift", "torus", "train", "tree",
]

Steps = Generator[Any, Any, None]
Places = List[Optional[Block]]


# Allgather.

def ring(node: Node, mine: Block, out: Places) -> Steps:
    """Allgather: each block travels once around the ring."""
    out[node.rank] = held = mine
    for t in range(node.size - 1):
        held = yield node.send(node.right, held), node.receive(node.left)
        out[(node.rank - 1 - t) % node.size] = held


def doubling(node: Node, mine: Block, out: List[Block]) -> Steps:
    """Allgather on 2^d nodes: partners whose ranks differ in one bit exchange all that they hold."""
    out[node.rank], bit = mine, 1
    while bit < node.size:
        partner, first = node.rank ^ bit, node.rank & -bit
        got = yield node.exchange(partner, out[first:first + bit])
        out[first ^ bit:(first ^ bit) + bit] = got
        bit *= 2


def bruck(node: Node, mine: Block, out: Places) -> Steps:
    """Allgather on any number of nodes: each step doubles the data, which comes from 1, 2, 4, .. ranks ahead."""
    p, held, hops = node.size, [mine], 1  # held[i] is the block of node rank + i
    while hops < p:
        count = min(hops, p - hops)
        held += yield node.send((node.rank - hops) % p, held[:count]), node.receive((node.rank + hops) % p)
        hops *= 2
    for i, block in enumerate(held):
        out[(node.rank + i) % p] = block


def torus(node: Node, mine: Block, out: Places) -> Steps:
    """Allgather on tori: the ring algorithm in one dimension after another, with all blocks gathered in earlier dimensions."""
    held = [mine]
    for dimension, size in enumerate(node.topology.sizes):
        rest, gathered = held, list(held)
        for _ in range(size - 1):
            rest = yield node.send(node.neighbour(dimension, 1), rest), node.receive(node.neighbour(dimension, -1))
            gathered += rest
        held = gathered
    for block in held:
        out[block.values[0][0][0]] = block


# Alltoall.

def exchange(node: Node, out: Sequence[Block], into: Places) -> Steps:
    """Alltoall: in step t each node sends to the node t ranks ahead."""
    into[node.rank] = out[node.rank]
    for t in range(1, node.size):
        to, source = (node.rank + t) % node.size, (node.rank - t) % node.size
        into[source] = yield node.send(to, out[to]), node.receive(source)


def pairwise(node: Node, out: Sequence[Block], into: Places) -> Steps:
    """Alltoall on 2^d nodes: every pair of nodes exchanges blocks once."""
    into[node.rank] = out[node.rank]
    for t in range(1, node.size):
        into[node.rank ^ t] = yield node.exchange(node.rank ^ t, out[node.rank ^ t])


def bruck_exchange(node: Node, out: Sequence[Block], into: Places) -> Steps:
    """Alltoall: blocks travel 1, 2, 4, .. ranks, according to the bits of their distance."""
    p, hops = node.size, 1
    held = [out[(node.rank + i) % p] for i in range(p)]  # held[i] travels i ranks
    while hops < p:
        moving = [i for i in range(p) if i & hops]
        got = yield node.send((node.rank + hops) % p, [held[i] for i in moving]), node.receive((node.rank - hops) % p)
        for i, block in zip(moving, got):
            held[i] = block
        hops *= 2
    for i, block in enumerate(held):
        into[(node.rank - i) % p] = block


def train(node: Node, out: Sequence[Block], into: Places) -> Steps:
    """Alltoall around a ring: a train of blocks passes every node, which uncouples the first."""
    p = node.size
    into[node.rank] = out[node.rank]
    held = [out[(node.rank + i) % p] for i in range(1, p)]
    for t in range(1, p):
        got = yield node.send(node.right, held), node.receive(node.left)
        into[(node.rank - t) % p], held = got[0], got[1:]


# Broadcast, scatter, gather.

def tree(node: Node, mine: Optional[Block], out: Places, root: int = 0) -> Steps:
    """Broadcast on any number of nodes: each step doubles the number of nodes that have the message."""
    p, v, bit = node.size, (node.rank - root) % node.size, 1
    while bit < p:
        if v < bit and v + bit < p:
            assert mine is not None
            yield node.send((v + bit + root) % p, mine)
        elif bit <= v < 2 * bit:
            mine = yield node.receive((v - bit + root) % p)
        else:
            yield
        bit *= 2
    out[0] = mine


def pipeline(node: Node, mine: Optional[Block], out: Places, parts: int, root: int = 0) -> Steps:
    """Broadcast along a chain of ranks, part by part."""
    p, v = node.size, (node.rank - root) % node.size
    held: List[Block] = [] if mine is None else mine.split(parts)
    for t in range(p + parts - 2):
        k = t - v  # the part that this node forwards
        sends = [node.send(node.right, held[k])] if 0 <= k < parts and v + 1 < p else []
        receives = [node.receive(node.left)] if v > 0 and 0 <= k + 1 < parts else []
        got = yield sends, receives
        if receives:
            held.append(got)
    out[0] = join(held)


def _spread(node: Node, held: List[Block], v: int, root: int) -> Generator[Any, Any, List[Block]]:
    """Send down a binomial tree: node v gets the blocks v, v + 1, .. of its subtree, and keeps one."""
    p = node.size
    bit = (1 << (p - 1).bit_length()) // 2
    while bit:
        if v % (2 * bit) == 0 and v + bit < p:
            yield node.send((v + bit + root) % p, held[bit:])
            held = held[:bit]
        elif v % (2 * bit) == bit:
            held = yield node.receive((v - bit + root) % p)
        else:
            yield
        bit //= 2
    return held


def scatter_tree(node: Node, mine: Optional[Sequence[Block]], out: Places, root: int = 0) -> Steps:
    """Scatter down a binomial tree, for any root and any number of nodes."""
    p, v = node.size, (node.rank - root) % node.size
    held = [] if mine is None else [mine[(i + root) % p] for i in range(p)]
    held = yield from _spread(node, held, v, root)
    out[0] = held[0]


def scatter_allgather(node: Node, mine: Optional[Block], out: Places, root: int = 0) -> Steps:
    """Broadcast of long messages, with parts = p: scatter the parts, then gather them around the ring of ranks."""
    p, v = node.size, (node.rank - root) % node.size
    (held,) = yield from _spread(node, [] if mine is None else mine.split(p), v, root)
    part = {v: held}
    for t in range(p - 1):
        part[(v - 1 - t) % p] = yield node.send(node.right, part[(v - t) % p]), node.receive(node.left)
    out[0] = join(part[i] for i in range(p))


def gather_direct(node: Node, mine: Block, out: Places, root: int = 0) -> Steps:
    """Gather: the root receives from one node after another."""
    for t in range(1, node.size):
        source = (root + t) % node.size
        if node.rank == root:
            out[source] = yield node.receive(source)
        elif node.rank == source:
            yield node.send(root, mine)
        else:
            yield
    if node.rank == root:
        out[root] = mine


# Reductions.

def reduce_in_order(node: Node, mine: Block, result: Places) -> Steps:
    """Reduce to node 0: neighbouring ranges of ranks are combined, so any operator works."""
    p, r, bit = node.size, node.rank, 1
    while bit < p:
        if r % (2 * bit) == bit:
            yield node.send(r - bit, mine)
        elif r % (2 * bit) == 0 and r + bit < p:
            mine = node.combine(mine, (yield node.receive(r + bit)))
        else:
            yield
        bit *= 2
    if r == 0:
        result[0] = mine


def halving(node: Node, mine: Sequence[Block], result: Places) -> Steps:
    """Reduce-scatter on 2^d nodes: partners whose ranks differ in one bit, lowest first, swap halves of the blocks; the order of ranks is kept."""
    result[0] = (yield from _halve(node, dict(enumerate(mine))))


def _halve(node: Node, held: Dict[int, Block]) -> Generator[Any, Any, Block]:
    """Return the combined block that has the node's own number."""
    bit = 1
    while bit < node.size:
        partner = node.rank ^ bit
        theirs = [b for b in held if b & bit == partner & bit]
        got = yield node.exchange(partner, [held.pop(b) for b in theirs])
        for b, block in zip(held, got):
            held[b] = node.combine(block, held[b]) if partner < node.rank else node.combine(held[b], block)
        bit *= 2
    return held[node.rank]


def reduce_scatter_ring(node: Node, mine: Sequence[Block], result: Places) -> Steps:
    """Reduce-scatter around a ring; the operator must commute."""
    p, r, held = node.size, node.rank, list(mine)
    for t in range(p - 1):
        k = (r - t - 2) % p
        got = yield node.send(node.right, held[(k + 1) % p]), node.receive(node.left)
        held[k] = node.combine(got, held[k])
    result[0] = held[r]


def ring_sum(node: Node, mine: Block, result: Places) -> Steps:
    """Allreduce around a ring, with parts = p: reduce-scatter, then allgather; the operator must commute."""
    p, r, part = node.size, node.rank, mine.split(node.size)
    for t in range(p - 1):
        k = (r - t - 1) % p
        got = yield node.send(node.right, part[(k + 1) % p]), node.receive(node.left)
        part[k] = node.combine(got, part[k])
    for t in range(p - 1):
        k = (r - t) % p
        part[k] = yield node.send(node.right, part[(k + 1) % p]), node.receive(node.left)
    result[0] = join(part)


def allreduce_doubling(node: Node, mine: Block, result: Places) -> Steps:
    """Allreduce on 2^d nodes: partners whose ranks differ in one bit swap their data; the order of ranks is kept."""
    bit = 1
    while bit < node.size:
        partner = node.rank ^ bit
        got = yield node.exchange(partner, mine)
        mine = node.combine(got, mine) if partner < node.rank else node.combine(mine, got)
        bit *= 2
    result[0] = mine


def rabenseifner(node: Node, mine: Block, result: Places) -> Steps:
    """Allreduce on 2^d nodes, with parts = p: reduce-scatter by halving, then allgather by doubling."""
    part = {node.rank: (yield from _halve(node, dict(enumerate(mine.split(node.size)))))}
    bit = node.size // 2
    while bit:
        partner = node.rank ^ bit
        got = yield node.exchange(partner, [part[k] for k in sorted(part)])
        part.update(zip(sorted(k ^ bit for k in part), got))
        bit //= 2
    result[0] = join(part[k] for k in range(node.size))


def scan(node: Node, mine: Block, result: Places) -> Steps:
    """Scan on 2^d nodes: partners whose ranks differ in one bit swap their groups' results."""
    total = prefix = mine
    bit = 1
    while bit < node.size:
        partner = node.rank ^ bit
        got = yield node.exchange(partner, total)
        if partner < node.rank:
            prefix = node.combine(got, prefix)
        if 2 * bit < node.size:
            total = node.combine(got, total) if partner < node.rank else node.combine(total, got)
        bit *= 2
    result[0] = prefix


def exscan_line(node: Node, mine: Block, result: Places) -> Steps:
    """Exclusive scan: results pass from neighbour to neighbour."""
    r, p = node.rank, node.size
    for t in range(p - 1):
        if t == r - 1:
            result[0] = before = yield node.receive(r - 1)
            mine = node.combine(before, mine) if r + 1 < p else mine
        elif t == r:
            yield node.send(r + 1, mine)
        else:
            yield


# Others.

def dissemination(node: Node, nothing: None, done: Places) -> Steps:
    """Barrier: in step i each node signals the node 2^i ranks ahead."""
    hops = 1
    while hops < node.size:
        yield node.send((node.rank + hops) % node.size), node.receive((node.rank - hops) % node.size)
        hops *= 2


def k_exchange(node: Node, mine: Optional[Sequence[Block]], out: Places, sources: Sequence[int]) -> Steps:
    """Alltoall from k sources: in step t each source sends to the node t ranks ahead."""
    p, r = node.size, node.rank
    if mine is not None:
        out[sources.index(r)] = mine[r]
    for t in range(1, p):
        sends = [node.send((r + t) % p, mine[(r + t) % p])] if mine is not None else []
        source = (r - t) % p
        got = yield sends, [node.receive(source)] if source in sources else []
        if source in sources:
            out[sources.index(source)] = got


def shift(node: Node, mine: Block, out: Places, distance: int) -> Steps:
    """Shift: one message to the node `distance` ranks ahead."""
    p = node.size
    if distance % p == 0:
        out[0] = mine
        return
    out[0] = yield node.send((node.rank + distance) % p, mine), node.receive((node.rank - distance) % p)


def permute(node: Node, mine: Block, out: Places) -> Steps:
    """Permute by complement: one message to node p - 1 - rank."""
    partner = node.size - 1 - node.rank
    out[0] = mine if partner == node.rank else (yield node.exchange(partner, mine))
