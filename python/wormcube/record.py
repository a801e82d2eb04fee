"""Node programs as generators: run all ranks side by side, step by step, and record what they send."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, Generator, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from .blocks import Block, Naming, Operation, Value, order_of
from .errors import NodeError, UsageError
from .schedule import Gap, Receive, Schedule, Send, Sizes
from .topology import Topology, network

__all__ = ["Node", "record"]

Blocks = Union[Block, Sequence[Block]]
Program = Callable[..., Generator[Any, Any, Any]]


class SendOp:
    """A send that a node program yields."""

    __slots__ = ("to", "what", "values", "tag", "by")

    def __init__(self, to: int, what: Tuple[Any, ...], values: Tuple[Value, ...], tag: int, by: str) -> None:
        self.to = to
        self.what = what
        self.values = values
        self.tag = tag
        self.by = by

    def __repr__(self) -> str:
        return f"<send to {self.to}>"


class ReceiveOp:
    """A receive that a node program yields."""

    __slots__ = ("source", "tag")

    def __init__(self, source: int, tag: int) -> None:
        self.source = source
        self.tag = tag

    def __repr__(self) -> str:
        return f"<receive from {self.source}>"


class Node:
    """What a node program knows of its node, and the sends and receives that it yields."""

    __slots__ = {
        "rank": "The node's number, 0 to size - 1.",
        "size": "The number of nodes.",
        "left": "The node rank - 1; that of node 0 is the last node. It need not be a neighbour in the network.",
        "right": "The node rank + 1; that of the last node is node 0. It need not be a neighbour in the network.",
        "topology": "The network, a Topology.",
        "_recorder": "", "_gap": "", "_phases": "", "_steps": "",
    }

    def __init__(self, rank: int, recorder: "_Recorder") -> None:
        self.rank = rank
        self.size = recorder.size
        self.left = (rank - 1) % recorder.size
        self.right = (rank + 1) % recorder.size
        self.topology: Topology = recorder.topology
        self._recorder = recorder
        self._gap: Optional[Gap] = None
        self._phases: List[Tuple[int, str]] = []
        self._steps = 0

    @property
    def coordinates(self) -> Tuple[int, ...]:
        """The node's coordinates in the network: on torus:4x4, node 7 is (1, 3). The last dimension is the fastest."""
        return self.topology.coordinates(self.rank)

    def neighbour(self, dimension: int, hops: int) -> int:
        """The node that many hops away in a dimension of the network: neighbour(0, 1) is the next one in dimension 0, neighbour(0, -1) the one before."""
        return self.topology.neighbour(self.rank, dimension, hops)

    def send(self, to: int, *what: Blocks, tag: int = 0, by: str = "") -> SendOp:
        """Send blocks, or lists of blocks, in this order in one message; with none, a message without data.

        Messages between the same two nodes in one step may have different tags. `by` gives the message a path of its own, in text 2's
        words: by="0+1 1-2" goes 1 hop up in dimension 0, then 2 hops down in dimension 1.
        """
        kept: List[Any] = []
        values: List[Value] = []
        for one in what:
            if isinstance(one, Block):
                kept.append(one)
                values += one.values
                continue
            if not isinstance(one, (list, tuple)):
                raise NodeError(f"sends {one!r}, which is not a block")
            for block in one:
                if not isinstance(block, Block):
                    raise NodeError(f"sends {block!r}, which is not a block")
                values += block.values
            kept.append(list(one))
        return SendOp(to, tuple(kept), tuple(values), tag, by)

    def receive(self, source: int, tag: int = 0) -> ReceiveOp:
        """Receive what this node sends: the yield gives it."""
        return ReceiveOp(source, tag)

    def exchange(self, partner: int, *what: Blocks, tag: int = 0) -> Tuple[SendOp, ReceiveOp]:
        """Send to a node and receive from it in the same step."""
        return self.send(partner, *what, tag=tag), ReceiveOp(partner, tag)

    def combine(self, left: Block, right: Block) -> Block:
        """left (+) right, in the gap before the next step; lower ranks are on the left unless the operator commutes."""
        for side in (left, right):
            if not isinstance(side, Block):
                raise NodeError(f"combines {side!r}, which is not a block")
        if len(left.values) != len(right.values):
            raise NodeError(f"combines {left} with {right}: different numbers of parts")
        made: List[Value] = []
        for (a, block, part), (b, other, other_part) in zip(left.values, right.values):
            if (block, part) != (other, other_part):
                raise NodeError(f"combines {left} with {right}: not the same block and part")
            if not self._recorder.commutative and a[-1] > b[0]:
                raise NodeError(f"combines {left} with {right}: lower ranks must be on the left, unless record(.., commutative=True)")
            twice = set(a) & set(b)
            if twice:
                raise NodeError(f"combines {left} with {right}: node {min(twice)}'s twice")
            made.append((a + b, block, part))
        self._open_gap().pairs.extend(zip(left.values, right.values))
        return Block(tuple(made), left.naming)

    def rearrange(self, bytes: int) -> None:
        """Count bytes that the node permutes in its memory before the next step."""
        self._open_gap().rearranged += bytes

    def phase(self, name: str) -> None:
        """Name the steps that follow."""
        self._phases.append((self._steps, name))

    def _open_gap(self) -> Gap:
        if self._gap is None:
            self._gap = Gap()
        return self._gap


class _Recorder:
    """All ranks of one recording."""

    def __init__(self, topology: Topology, operation: Operation, naming: Naming, commutative: bool) -> None:
        self.topology = topology
        self.size = topology.nodes
        self.operation = operation
        self.naming = naming
        self.commutative = commutative

    def block(self, word: Tuple[int, ...], number: int) -> Block:
        return Block(tuple((word, number, part) for part in range(self.naming.parts)), self.naming)

    def given(self, rank: int) -> Any:
        count = self.operation.gives(rank)
        if count == 0:
            return None
        blocks = [self.block((rank,), number) for number in range(count)]
        return blocks if self.operation.gives_list() else blocks[0]

    def check_end(self, rank: int, result: List[Any], schedule: Schedule) -> None:
        """The names of what a rank ends with must be right."""
        wanted = self.operation.ends(rank)
        if len(result) != len(wanted):
            raise NodeError(f"ends with {len(result)} blocks in its result, not {len(wanted)}: fill the places, do not append")
        for at, (word, number) in enumerate(wanted):
            held = result[at]
            if held is None:
                raise NodeError(f"ends without its block {at}")
            if not isinstance(held, Block):
                raise NodeError(f"ends with {held!r} as its block {at}, which is not a block")
            right = [(number, part) for part in range(self.naming.parts)]
            if [value[1:] for value in held.values] != right or any(
                    order_of(value[0], word, self.commutative and self.operation.reduces) is None for value in held.values):
                raise NodeError(f"ends with {held} as its block {at}; expected {self.block(word, number)}{_origin(schedule, rank, held)}")


def _origin(schedule: Schedule, rank: int, held: Block) -> str:
    """The last message that brought a node these values."""
    for number in reversed(range(schedule.steps)):
        line = schedule.steps_[number].get(rank)
        for source in [op.source for op in line.ops if isinstance(op, Receive)] if line is not None else ():
            sent = [value for op in schedule.steps_[number][source].ops if isinstance(op, Send) and op.to == rank for value in op.values or ()]
            if set(held.values) <= set(sent):
                return f"; node {source} sent {held} in step {number}"
    return ""


def _flat(yielded: Any, into: List[Any]) -> None:
    if isinstance(yielded, (SendOp, ReceiveOp)):
        into.append(yielded)
    elif isinstance(yielded, (tuple, list)):
        for one in yielded:
            _flat(one, into)
    elif yielded is not None:
        raise NodeError(f"yields {yielded!r}, neither a send nor a receive")


def _answer(what: Tuple[Any, ...]) -> Any:
    """What a receive gives for what was sent."""
    if not what:
        return None
    copies = [list(one) if isinstance(one, list) else one for one in what]
    return copies[0] if len(copies) == 1 else copies


def record(program: Program, on: Any, operation: str, *, block: int = 1024, parts: int = 1, element: int = 1, sizes: Optional[Sequence[Any]] = None,
           commutative: bool = False, about: Union[str, Iterable[str]] = (), options: Mapping[str, Any] = {}, most_steps: int = 100_000,
           **arguments: Any) -> Schedule:
    """Run a node program on every rank, step by step, and return its schedule; a NodeError has the schedule up to the error.

    The program is a generator function `program(node, given, result)`. The arguments of the operation (root, distance,
    sources, permutation), `parts` and the options go to its parameters of these names.

    >>> def swap(node, mine, out):
    ...     out[node.rank] = mine
    ...     out[node.rank ^ 1] = yield node.exchange(node.rank ^ 1, mine)
    >>> record(swap, "ring:2", "allgather", block=8).messages()
    [Message(step=0, source=0, to=1, bytes=8, names='0'), Message(step=0, source=1, to=0, bytes=8, names='1')]
    """
    topology = network(on)
    call = Operation(operation, topology.nodes, **arguments)
    if parts < 1 or block < 0 or element < 1 or block % element:
        raise UsageError(f"parts {parts}, block {block}, element {element}: parts and element are at least 1, and a block has whole elements")
    if commutative and not call.reduces:
        raise UsageError(f"{operation} combines nothing: leave out commutative")
    naming = Naming(parts, call.several)
    recorder = _Recorder(topology, call, naming, commutative)
    schedule = Schedule(topology.name, topology.nodes, call, Sizes(block, element, parts, call, sizes), commutative,
                        [about] if isinstance(about, str) else list(about))
    nodes = [Node(rank, recorder) for rank in range(topology.nodes)]
    results: List[List[Any]] = [[None] * len(call.ends(rank)) for rank in range(topology.nodes)]
    named = {**call.arguments, "parts": parts, **options}
    signature = inspect.signature(program)
    known = signature.parameters
    taken = {name: value for name, value in named.items() if name in known or any(one.kind is one.VAR_KEYWORD for one in known.values())}
    for name in options:
        if name not in taken:
            raise UsageError(f"the node program has no parameter '{name}'")
    try:
        signature.bind(None, None, None, **taken)
    except TypeError as error:
        raise UsageError(f"a node program has the parameters (node, given, result), and those of options; "
                         f"{getattr(program, '__name__', 'this one')} has {signature}: {error}") from error

    running: Dict[int, Generator[Any, Any, Any]] = {}
    for node in nodes:
        made = program(node, recorder.given(node.rank), results[node.rank], **taken)
        if not inspect.isgenerator(made):
            raise UsageError(f"{getattr(program, '__name__', 'the node program')} is not a generator function: it has no yield")
        running[node.rank] = made
    try:
        _run(schedule, recorder, nodes, results, running, most_steps)
    except NodeError as error:
        error.schedule = schedule
        raise
    finally:
        schedule.name = getattr(program, "__name__", schedule.name)
        schedule.phases = _phases(nodes, len(schedule.steps_))
        schedule.finish()
    return schedule


def _run(schedule: Schedule, recorder: _Recorder, nodes: Sequence[Node], results: Sequence[List[Any]], running: Dict[int, Generator[Any, Any, Any]],
         most_steps: int) -> None:
    """All ranks' steps, until the last rank has ended."""
    answers: Dict[int, Any] = {}
    step = 0
    while running:
        if step >= most_steps:
            raise NodeError(f"node {min(running)}, step {step}: still running; most_steps is {most_steps}")
        yielded: Dict[int, List[Any]] = {}
        sends: Dict[Tuple[int, int, int], List[SendOp]] = {}
        for rank in list(running):
            ops: List[Any] = []
            try:
                try:
                    _flat(running[rank].send(answers.get(rank)), ops)
                    yielded[rank] = ops
                except StopIteration:
                    recorder.check_end(rank, results[rank], schedule)
                    del running[rank]
                for op in ops:
                    _check_peer(op, rank, schedule.nodes)
                    if isinstance(op, SendOp):
                        sends.setdefault((rank, op.to, op.tag), []).append(op)
            except NodeError as fault:
                raise NodeError(f"node {rank}, step {step}: {fault}") from fault.__cause__
            except Exception as fault:
                raise NodeError(f"node {rank}, step {step}: {type(fault).__name__}: {fault}") from fault
            nodes[rank]._steps = step + 1
        if yielded:
            schedule.add_step()
        for rank, node in enumerate(nodes):
            if node._gap is not None:
                schedule.add_gap(step, rank, node._gap, ended=rank not in running)
                node._gap = None
        answers = _match(schedule, step, yielded, sends)
        for rank in nodes_ended(schedule, yielded, schedule.nodes):
            schedule.ended.setdefault(rank, step)
        step += 1


def nodes_ended(schedule: Schedule, yielded: Mapping[int, Any], nodes: int) -> Iterable[int]:
    """The ranks that take part in no further step."""
    return (rank for rank in range(nodes) if rank not in yielded and rank not in schedule.ended)


def _check_peer(op: Any, rank: int, size: int) -> None:
    sends = isinstance(op, SendOp)
    peer = op.to if sends else op.source
    verb = "sends to" if sends else "receives from"
    if not isinstance(peer, int) or not 0 <= peer < size:
        raise NodeError(f"{verb} node {peer} of {size}")
    if peer == rank:
        raise NodeError(f"{verb} itself")


def _match(schedule: Schedule, step: int, yielded: Mapping[int, List[Any]], sends: Dict[Tuple[int, int, int], List[SendOp]]) -> Dict[int, Any]:
    """Match the step's sends and receives by (from, to, tag) in the order posted; what each rank's yield gives."""
    answers: Dict[int, Any] = {}
    left = {key: iter(ops) for key, ops in sends.items()}
    count = {key: len(ops) for key, ops in sends.items()}
    faults: List[Tuple[int, str]] = []
    for rank, ops in yielded.items():
        got: List[Any] = []
        for op in ops:
            tag = f" with tag {op.tag}" if op.tag else ""
            if isinstance(op, SendOp):
                schedule.add(step, rank, Send(op.to, schedule.sizes.of(op.values), op.tag, op.by, op.values))
                continue
            key = (op.source, rank, op.tag)
            sent = next(left.get(key, iter(())), None)
            if sent is None:
                faults.append((rank, f"receives from node {op.source}{tag}, which sends it nothing"))
                continue
            count[key] -= 1
            got.append(_answer(sent.what))
            schedule.add(step, rank, Receive(op.source, schedule.sizes.of(sent.values), op.tag, None))
        if got:
            answers[rank] = got[0] if len(got) == 1 else got
    for (source, to, tag_number), rest in count.items():
        if rest:
            tag = f" with tag {tag_number}" if tag_number else ""
            received = [op for op in yielded.get(to, ()) if isinstance(op, ReceiveOp)]
            some = [op for op in received if op.source == source]
            wrong = ("receives nothing" if not received else
                     f"does not receive from node {source}" if not some else
                     f"does not receive from node {source} with tag {tag_number}" if all(op.tag != tag_number for op in some) else
                     f"receives fewer messages from node {source}")
            faults.append((source, f"sends to node {to}{tag}, which {wrong}"))
    if faults:
        rank, text = min(faults, key=lambda fault: fault[0])
        raise NodeError(f"node {rank}, step {step}: {text}")
    return answers


def _phases(nodes: Sequence[Node], steps: int) -> List[Tuple[int, int, str]]:
    """The phases of the lowest rank that names any: first step, last step, name."""
    for node in nodes:
        if node._phases:
            ends = [start for start, _ in node._phases[1:]] + [steps]
            return [(start, end - 1, name) for (start, name), end in zip(node._phases, ends) if end > start]
    return []
