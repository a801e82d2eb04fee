"""The example algorithms of msccl-tools, written anew as node programs.

Source: github.com/Azure/msccl-tools, examples/mscclang. GPUs are nodes of a complete network, chunks are parts.
"""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, Dict, Generator, List, Optional, Sequence, Tuple

from .blocks import Block, join
from .record import Node

__all__ = [
    "allgather_allpairs", "allgather_doubling", "allgather_ring", "allreduce_allpairs", "allreduce_chains", "allreduce_hierarchical", "allreduce_one_step",
    "allreduce_pcie", "allreduce_two_machines", "allreduce_two_pairs", "alltoall_allpairs", "alltoall_three_step", "alltoall_two_step",
    "reduce_scatter_allpairs",
]

Steps = Generator[Any, Any, None]
Places = List[Optional[Block]]


def _list(got: Any) -> List[Block]:
    """What a yield gives for one receive or several."""
    return list(got) if isinstance(got, list) else [got]


def _others(node: Node) -> List[int]:
    return [rank for rank in range(node.size) if rank != node.rank]


def _sum(node: Node, blocks: Dict[int, Block]) -> Block:
    """The blocks combined in the order of their ranks."""
    total: Optional[Block] = None
    for rank in sorted(blocks):
        total = blocks[rank] if total is None else node.combine(total, blocks[rank])
    assert total is not None
    return total


def allgather_allpairs(node: Node, mine: Block, out: Places, parts: int) -> Steps:
    """Allgather in one step: every part to every node, each in a message of its own."""
    pieces = mine.split(parts)
    got = _list((yield [node.send(to, piece, tag=k) for to in _others(node) for k, piece in enumerate(pieces)],
                 [node.receive(source, tag=k) for source in _others(node) for k in range(parts)]))
    out[node.rank] = mine
    for at, source in enumerate(_others(node)):
        out[source] = join(got[at * parts:(at + 1) * parts])


def allgather_doubling(node: Node, mine: Block, out: Places, parts: int) -> Steps:
    """Allgather by recursive doubling, once for each part."""
    pieces = [{node.rank: piece} for piece in mine.split(parts)]
    bit = 1
    while bit < node.size:
        partner, first = node.rank ^ bit, node.rank & -bit
        got = yield ([node.send(partner, [held[r] for r in range(first, first + bit)], tag=k) for k, held in enumerate(pieces)],
                     [node.receive(partner, tag=k) for k in range(parts)])
        for held, blocks in zip(pieces, [got] if parts == 1 else got):
            held.update(zip(range(first ^ bit, (first ^ bit) + bit), blocks))
        bit *= 2
    for r in range(node.size):
        out[r] = join(held[r] for held in pieces)


def allgather_ring(node: Node, mine: Block, out: Places, parts: int) -> Steps:
    """Allgather around a ring, once for each part."""
    pieces = [{node.rank: piece} for piece in mine.split(parts)]
    for t in range(node.size - 1):
        passed, came = (node.rank - t) % node.size, (node.rank - t - 1) % node.size
        got = _list((yield [node.send(node.right, held[passed], tag=k) for k, held in enumerate(pieces)],
                     [node.receive(node.left, tag=k) for k in range(parts)]))
        for held, block in zip(pieces, got):
            held[came] = block
    for r in range(node.size):
        out[r] = join(held[r] for held in pieces)


def allreduce_one_step(node: Node, mine: Block, result: Places) -> Steps:
    """Allreduce in one step: all data to every node, which combines it."""
    got = _list((yield [node.send(to, mine) for to in _others(node)], [node.receive(source) for source in _others(node)]))
    result[0] = _sum(node, {node.rank: mine, **dict(zip(_others(node), got))})


def allreduce_allpairs(node: Node, mine: Block, result: Places) -> Steps:
    """Allreduce in two steps: each node combines its share of the parts, and sends it to all."""
    share = mine.split(node.size)
    got = _list((yield [node.send(to, share[to]) for to in _others(node)], [node.receive(source) for source in _others(node)]))
    total = _sum(node, {node.rank: share[node.rank], **dict(zip(_others(node), got))})
    got = _list((yield [node.send(to, total) for to in _others(node)], [node.receive(source) for source in _others(node)]))
    whole = {node.rank: total, **dict(zip(_others(node), got))}
    result[0] = join(whole[r] for r in range(node.size))


def allreduce_two_pairs(node: Node, mine: Block, result: Places) -> Steps:
    """Allreduce of four GPUs in two pairs: each GPU combines one half with its partner, then across the pairs, and returns the sum to its partner."""
    half, own = mine.split(2), node.rank % 2
    partner, across = node.rank ^ 1, node.rank ^ 2
    theirs = yield node.exchange(partner, half[1 - own])
    pair = _sum(node, {node.rank: half[own], partner: theirs})
    theirs = yield node.exchange(across, pair)
    half[own] = _sum(node, {node.rank: pair, across: theirs})
    half[1 - own] = yield node.exchange(partner, half[own])
    result[0] = join(half)


def allreduce_chains(node: Node, mine: Block, result: Places, chains: Sequence[Sequence[int]]) -> Steps:
    """Allreduce with a chain of GPUs for each part: sums travel to the chain's end, results back; the operator must commute."""
    part = mine.split(len(chains))
    for t in range(2 * node.size - 2):
        links = [(chain[t], chain[t + 1]) if t < node.size - 1 else (chain[2 * node.size - 2 - t], chain[2 * node.size - 3 - t]) for chain in chains]
        arriving = [k for k, (_, to) in enumerate(links) if to == node.rank]
        got = _list((yield [node.send(to, part[k], tag=k) for k, (source, to) in enumerate(links) if source == node.rank],
                     [node.receive(links[k][0], tag=k) for k in arriving]))
        for k, block in zip(arriving, got):
            part[k] = node.combine(block, part[k]) if t < node.size - 1 else block
    result[0] = join(part)


def allreduce_two_machines(node: Node, mine: Block, result: Places, local: int) -> Steps:
    """Allreduce of two machines with `local` GPUs: all pairs within each machine, the sums across, and all pairs again."""
    machine, at = divmod(node.rank, local)
    peers = [machine * local + i for i in range(local) if i != at]
    partner = (1 - machine) * local + at
    share = mine.split(local)
    got = _list((yield [node.send(peer, share[peer % local]) for peer in peers], [node.receive(peer) for peer in peers]))
    inside = _sum(node, {node.rank: share[at], **dict(zip(peers, got))})
    came: Any = yield node.exchange(partner, inside)
    total = _sum(node, {node.rank: inside, partner: came})
    got = _list((yield [node.send(peer, total) for peer in peers], [node.receive(peer) for peer in peers]))
    whole = {at: total, **{peer % local: block for peer, block in zip(peers, got)}}
    result[0] = join(whole[i] for i in range(local))


def reduce_scatter_allpairs(node: Node, mine: Sequence[Block], result: Places) -> Steps:
    """Reduce-scatter in one step: every block straight to its node, which combines them. It is the first stage of a pipeline of two machines."""
    got = _list((yield [node.send(to, mine[to]) for to in _others(node)], [node.receive(source) for source in _others(node)]))
    result[0] = _sum(node, {node.rank: mine[node.rank], **dict(zip(_others(node), got))})


def alltoall_allpairs(node: Node, out: Sequence[Block], into: Places) -> Steps:
    """Alltoall in one step: every block straight to its node."""
    into[node.rank] = out[node.rank]
    got = _list((yield [node.send(to, out[to]) for to in _others(node)], [node.receive(source) for source in _others(node)]))
    for source, block in zip(_others(node), got):
        into[source] = block


def alltoall_two_step(node: Node, out: Sequence[Block], into: Places, local: int) -> Steps:
    """Alltoall of machines with `local` GPUs: blocks for GPU i of any machine go to GPU i of this one, which sends them in one message."""
    machine, at = divmod(node.rank, local)
    machines = node.size // local
    peers = [machine * local + i for i in range(local) if i != at]
    mine = [m * local + at for m in range(machines)]  # the GPUs of this number
    got = _list((yield [node.send(peer, out[m * local + peer % local], tag=m) for peer in peers for m in range(machines)],
                 [node.receive(peer, tag=m) for peer in peers for m in range(machines)]))
    bundle = {m: {node.rank: out[m * local + at]} for m in range(machines)}
    for k, peer in enumerate(peers):
        for m in range(machines):
            bundle[m][peer] = got[k * machines + m]
    far = [rank for rank in mine if rank != node.rank]
    came: Any = yield [node.send(to, [bundle[to // local][r] for r in sorted(bundle[to // local])]) for to in far], [node.receive(source) for source in far]
    for source, blocks in zip(far, [came] if len(far) == 1 else came or []):
        for i, block in enumerate(blocks):
            into[source // local * local + i] = block
    for source, block in bundle[machine].items():
        into[source] = block


def alltoall_three_step(node: Node, out: Sequence[Block], into: Places, local: int) -> Steps:
    """Alltoall of machines with `local` GPUs: GPU 0 of each gathers what leaves the machine, exchanges it, and sends each block to its GPU."""
    machine, at = divmod(node.rank, local)
    first, machines = machine * local, node.size // local
    peers = [first + i for i in range(local) if i != at]
    far = [rank for rank in range(node.size) if rank // local != machine]
    into[node.rank] = out[node.rank]
    leaving = [node.send(first, [out[rank] for rank in far], tag=1)] if at > 0 else []
    arriving = [node.receive(peer, tag=1) for peer in peers] if at == 0 else []
    got = _list((yield [node.send(peer, out[peer]) for peer in peers] + leaving, [node.receive(peer) for peer in peers] + arriving))
    for peer, block in zip(peers, got):
        into[peer] = block
    gathered: List[Any] = [[out[rank] for rank in far], *got[len(peers):]]
    gates = [m * local for m in range(machines) if m != machine] if at == 0 else []
    came: Any = yield [node.send(gate, [blocks[far.index(gate + i)] for blocks in gathered for i in range(local)]) for gate in gates], [
        node.receive(gate) for gate in gates]
    bundles = dict(zip(gates, [came] if len(gates) == 1 else came or []))
    if at == 0:
        yield [node.send(peer, blocks[i * local + peer % local], tag=gate + i) for gate, blocks in bundles.items() for i in range(local) for peer in peers]
        for gate, blocks in bundles.items():
            into[gate:gate + local] = blocks[::local]
    else:
        last = _list((yield [node.receive(first, tag=rank) for rank in far]))
        for rank, block in zip(far, last):
            into[rank] = block


def allreduce_hierarchical(node: Node, mine: Block, result: Places, local: int, instances: int = 1) -> Steps:
    """Allreduce of machines with `local` GPUs: a ring within each machine, then a ring of the machines, and back.

    The block has node.size parts, and each part travels in `instances` messages.
    """
    machine, at = divmod(node.rank, local)
    machines = node.size // local
    part = dict(enumerate(mine.split(node.size * instances)))
    inner = (machine * local + (at + 1) % local, machine * local + (at - 1) % local)
    outer = ((node.rank + local) % node.size, (node.rank - local) % node.size)

    def group(i: int) -> List[int]:
        """The parts that GPU i of each machine combines."""
        return [i % local * machines + m for m in range(machines)]

    def pass_on(ends: Tuple[int, int], *groups: List[int]) -> Generator[Any, Any, Dict[int, Block]]:
        sent, received = ([k * instances + i for k in group for i in range(instances)] for group in groups)
        got = yield [node.send(ends[0], part[k], tag=k) for k in sent], [node.receive(ends[1], tag=k) for k in received]
        return dict(zip(received, _list(got)))

    for t in range(local - 1):
        got = yield from pass_on(inner, group(at - t - 1), group(at - t - 2))
        part.update({k: node.combine(block, part[k]) for k, block in got.items()})
    own = group(at)
    for t in range(machines - 1):
        got = yield from pass_on(outer, [own[(machine - t - 1) % machines]], [own[(machine - t - 2) % machines]])
        part.update({k: node.combine(block, part[k]) for k, block in got.items()})
    for t in range(machines - 1):
        part.update((yield from pass_on(outer, [own[(machine - t) % machines]], [own[(machine - t - 1) % machines]])))
    for t in range(local - 1):
        part.update((yield from pass_on(inner, group(at - t), group(at - t - 1))))
    result[0] = join(part[k] for k in range(node.size * instances))


def allreduce_pcie(node: Node, mine: Block, result: Places, local: int) -> Steps:
    """Allreduce of two groups of `local` GPUs: all pairs within the group, halves across, and back."""
    group, at = divmod(node.rank, local)
    peers = [group * local + i for i in range(local) if i != at]
    partner = (1 - group) * local + at
    share = mine.split(local)
    got = _list((yield [node.send(peer, share[peer % local]) for peer in peers], [node.receive(peer) for peer in peers]))
    half = _sum(node, {node.rank: share[at], **dict(zip(peers, got))}).split(2)
    came: Any = yield node.exchange(partner, half[1 - group])
    both: Dict[int, Block] = {node.rank: half[group], partner: came}
    half[group] = _sum(node, both)
    half[1 - group] = yield node.exchange(partner, half[group])
    total = join(half)
    got = _list((yield [node.send(peer, total) for peer in peers], [node.receive(peer) for peer in peers]))
    whole = {at: total, **{peer % local: block for peer, block in zip(peers, got)}}
    result[0] = join(whole[i] for i in range(local))
