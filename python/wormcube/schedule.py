"""Schedules: read, written, proved, run, drawn, applied to data."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import os
import pathlib
import re
from typing import Any, Callable, ClassVar, Dict, Iterable, List, NamedTuple, Optional, overload, Sequence, Tuple, Type, Union

from . import program, text
from .apply import apply
from .blocks import Naming, Operation
from .commands import Page, Picture
from .errors import Error, Failed, UsageError
from .program import Progress, R
from .result import Results, finding, table_html
from .results import Check, Replay, Run
from .steps import Gap, Line, Receive, Send, Sizes

__all__ = ["Gap", "Line", "Message", "Receive", "Schedule", "Send", "Sizes"]

FilePath = Union[str, "os.PathLike[str]"]


class Message(NamedTuple):
    """A message of a schedule, with the names of its values in text 2."""

    step: int
    source: int
    to: int
    bytes: int
    names: str


class Schedule:
    """Who sends what to whom in each step.

    `name` is what plots, players and tables call it: the node program's name, the file's, or the one that you set. `on` is the
    network's text, `nodes` its number of nodes. The option `schedule=` of functions takes a Schedule, or the path of its file.
    """

    #: Notebooks show larger players as still pictures of this many steps, of networks with up to this many nodes.
    page_limit: ClassVar[int] = 2_000_000
    most_drawn_steps: ClassVar[int] = 12
    most_drawn_nodes: ClassVar[int] = 256
    #: The formats that convert() writes.
    formats: ClassVar[Tuple[str, ...]] = ("goal", "msccl", "c", "chakra")

    def __init__(self, on: str, nodes: int, call: Optional[Operation], sizes: Sizes, commutative: bool = False, about: Sequence[str] = ()) -> None:
        self.on = on
        self.nodes = nodes
        self.call = call
        self.sizes = sizes
        self.commutative = commutative
        self.about = list(about)
        self.naming = Naming(sizes.parts, call is not None and call.several)
        self.phases: List[Tuple[int, int, str]] = []
        self.steps_: List[Dict[int, Line]] = []
        self.end: Dict[int, Gap] = {}
        self.ended: Dict[int, int] = {}
        self.name = "schedule"
        self._path: Optional[str] = None
        self._text: Optional[str] = None

    # Made step by step.

    def add_step(self) -> None:
        """Begin the next step."""
        self.steps_.append({})

    def _line(self, step: int, node: int) -> Line:
        return self.steps_[step].setdefault(node, Line())

    def add_gap(self, step: int, node: int, gap: Gap, ended: bool) -> None:
        """Add local work before a step, or after the node's last."""
        where = self.end.setdefault(node, Gap()) if ended else self._line(step, node).gap
        if where is None:
            self._line(step, node).gap = gap
        else:
            where.rearranged += gap.rearranged
            where.combined += gap.combined
            where.pairs += gap.pairs

    def add(self, step: int, node: int, op: Union[Send, Receive]) -> None:
        """Add a send or a receive."""
        self._line(step, node).ops.append(op)

    def finish(self) -> None:
        """Nodes that only end after the last step have no end of their own."""
        self.ended = {node: step for node, step in self.ended.items() if step < len(self.steps_)}

    # Text.

    @classmethod
    def parse(cls, source: str, name: str = "schedule") -> "Schedule":
        """The schedule of a text, 1 or 2."""
        return text.read(source, name)

    @classmethod
    def read(cls, path: FilePath) -> "Schedule":
        """The schedule of a file: text 1 or 2, or, through the program, another format that it reads.

        Chakra traces are a file for each node: name one of them, PREFIX.RANK.et, or PREFIX.
        """
        name = os.fspath(path)
        try:
            source = b"" if not os.path.exists(path) and os.path.exists(f"{name}.0.et") else pathlib.Path(path).read_bytes()
        except OSError as error:
            raise Error(f"cannot read '{name}': {error.strerror}") from error
        try:
            found = text.read(source.decode("utf-8") if source and text.is_text(source) else program.text(["show", "--schedule", name], ["--write-schedule", "-"]), name)
        except UsageError as error:
            raise program.text_error(error) from error
        found.name, found._path = pathlib.Path(path).name, name
        return found

    @property
    def text(self) -> str:
        """Text 2 in canonical form."""
        if self._text is None:
            self._text = text.write(self)
        return self._text

    def write(self, path: FilePath) -> None:
        """Write text 2 to a file."""
        program.write(path, self.text)
        self._path = os.fspath(path)

    def convert(self, format: str, path: FilePath) -> None:
        """Write the schedule in another format.

        "goal": for LogGOPSim and ATLAHS; "msccl": for RCCL and MSCCL; "c": for MPI programs; "chakra": for ASTRA-sim, a file
        PATH.RANK.et for each node.
        """
        if format not in self.formats:
            known = ", ".join(f"'{name}'" for name in self.formats)
            raise UsageError(f"unknown format '{format}': convert() writes {known}, write() writes text 2")
        if format == "chakra":
            program.text(["show", "--schedule", self.as_file()], ["--chakra", os.fspath(path)])
        else:
            program.write(path, program.text(["show", "--schedule", self.as_file()], [f"--{format}", "-"]))

    def as_file(self) -> program.File:
        """A temporary file for the program; commands and errors name the file that the schedule was read from or written to, or SCHEDULE.txt."""
        return program.File(self._path or "SCHEDULE.txt", self.text)

    # What it is.

    @property
    def steps(self) -> int:
        """The number of steps."""
        return len(self.steps_)

    @property
    def operation(self) -> Optional[str]:
        """The operation that the schedule is meant for."""
        return None if self.call is None else self.call.name

    @property
    def arguments(self) -> Dict[str, Any]:
        """The arguments of the operation."""
        return {} if self.call is None else dict(self.call.arguments)

    @property
    def parts(self) -> int:
        """The number of parts of each block."""
        return self.sizes.parts

    def messages(self) -> List[Message]:
        """All messages, by step and sender."""
        return [Message(number, node, op.to, op.bytes, self.naming.text(op.values) if op.values else "")
                for number, step in enumerate(self.steps_) for node in sorted(step) for op in step[node].ops if isinstance(op, Send)]

    def frame(self) -> Any:
        """A pandas DataFrame of the messages: step, from, to, bytes, names."""
        try:
            import pandas
        except ImportError:
            raise Error("frame() needs pandas: apt install python3-pandas, or pip install pandas") from None
        return pandas.DataFrame(self.messages(), columns=["step", "from", "to", "bytes", "names"])

    def graph(self) -> Any:
        """A networkx MultiDiGraph: an edge per message, with step, bytes and blocks."""
        try:
            import networkx
        except ImportError:
            raise Error("graph() needs networkx: apt install python3-networkx, or pip install networkx") from None
        graph = networkx.MultiDiGraph(name=self.on)
        graph.add_nodes_from(range(self.nodes))
        for message in self.messages():
            graph.add_edge(message.source, message.to, step=message.step, bytes=message.bytes, blocks=message.names)
        return graph

    # By the program.

    def _named(self, result: R) -> R:
        """The result with this schedule's name, and, where the program leaves them out, its operation and its block."""
        source: Dict[str, Any] = {**result.json(), "schedule": self.name}
        if isinstance(result, Run):
            source["algorithm"] = self.name
        filled: Dict[str, Any] = {"operation": self.operation, "block_bytes": self.sizes.block}
        for key, value in filled.items():
            if key in source and source[key] is None and value is not None:
                source[key] = value
                source.pop(key + "_reason", None)
        return type(result).from_json(source)

    def _results(self, kind: Type[R], command: str, progress: Progress, require: bool, options: Dict[str, Any]) -> Any:
        """The result for one block size, or the results for several."""
        rows = program.rows(kind, [command, "--schedule", self.as_file(), *program.words_of(options)], progress, require)
        sizes = options.get("bytes")
        several = len(rows) > 1 or isinstance(sizes, Iterable) and not isinstance(sizes, str)
        return Results(self._named(row) for row in rows) if several else self._named(rows[0])

    def _proof_options(self, as_: Optional[str], arguments: Dict[str, Any]) -> List[str]:
        if as_ is None and arguments:
            raise UsageError(f"{', '.join(arguments)}: arguments need as_, the operation that they belong to")
        return program.words_of({"as": as_, **arguments})

    def check(self, as_: Optional[str] = None, ports: str = "auto", *, progress: Progress = None, **arguments: Any) -> Check:
        """Prove the schedule as its operation, or as another one, and count it.

        With ports "auto" nodes have all ports if one of them sends or receives several messages in a step; `ports` of the Check says which.
        Blocks of a schedule may differ in size, so it has `transmission_bytes`, and its `transmission_blocks` is None.
        """
        words = self._proof_options(as_, arguments)
        return self._named(program.rows(Check, ["check", "--schedule", self.as_file(), "--ports", ports, *words], progress)[0])

    def require(self, as_: Optional[str] = None, ports: str = "auto", **arguments: Any) -> Check:
        """Prove the schedule as check() does, and return the Check; raise Failed with the first finding if the proof fails."""
        found = self.check(as_, ports, **arguments)
        if not found.passed and ports == "one" and found.port_violations and found.delivered:
            raise Failed(f'{finding(found)}, and nodes have one port: require(ports="all") gives each one per link', command=found.provenance.command,
                         results=Results([found]))
        return found.require()

    @overload
    def run(self, *, bytes: Union[None, int, str] = None, progress: Progress = None, require: bool = False, **options: Any) -> Run: ...

    @overload
    def run(self, *, bytes: Iterable[int], progress: Progress = None, require: bool = False, **options: Any) -> Results[Run]: ...

    def run(self, *, bytes: Any = None, progress: Progress = None, require: bool = False, **options: Any) -> Any:
        """Run the schedule on the emulated machine with real data, and verify every byte. Several sizes give Results."""
        return self._results(Run, "run", progress, require, {"bytes": bytes, **options})

    @overload
    def replay(self, *, bytes: Union[None, int, str] = None, progress: Progress = None, **options: Any) -> Replay: ...

    @overload
    def replay(self, *, bytes: Iterable[int], progress: Progress = None, **options: Any) -> Results[Replay]: ...

    def replay(self, *, bytes: Any = None, progress: Progress = None, **options: Any) -> Any:
        """Simulate the schedule on a modelled machine, flit by flit, with its own sizes or with `bytes`. Several sizes give Results."""
        return self._results(Replay, "replay", progress, False, {"bytes": bytes, **options})

    def draw(self, **options: Any) -> Page:
        """The page that plays the schedule."""
        file, name = self.as_file(), re.sub('["<>&\\\\]', "_", self.name)
        file.shown = re.sub('["<>&\\\\]', "_", file.shown)
        page = program.text(["draw", "--schedule", file, *program.words_of(options)], ["--html", "-"])
        return Page(page.replace('"algorithm":"schedule"', f'"algorithm":"{name}"').replace(", schedule<", f", {name}<"))

    def picture(self, step: int = 0) -> Picture:
        """A step's messages on the links of the network."""
        return Picture(program.text(["show", "--schedule", self.as_file(), "--step", str(step)], ["--svg", "-"]))

    # In this process.

    def apply(self, inputs: Sequence[Any], operator: Optional[Callable[[Any, Any], Any]] = None) -> List[Any]:
        """What each node ends with: inputs[r] is the array that node r gives, or a list of them.

        >>> from wormcube import record, textbook
        >>> record(textbook.ring, "ring:3", "allgather").apply(["a", "b", "c"])[0]
        ['a', 'b', 'c']
        >>> record(textbook.scan, "ring:2", "scan").apply([3, 4], lambda left, right: left + right)
        [3, 7]
        """
        return apply(self, inputs, operator)

    def __repr__(self) -> str:
        return f"<Schedule of {self.operation or 'no operation'} on {self.on}: {self.steps} steps>"

    def _repr_html_(self) -> str:
        try:
            page = self.draw()
            return page._repr_html_() if len(page.text) <= self.page_limit else self._stills()
        except UsageError:  # too large for a player
            with contextlib.suppress(Error):
                return self._stills()
        except Error:
            pass
        rows = [message._asdict() for message in self.messages()]
        more = f"<p>{len(rows) - 100} more messages</p>" if len(rows) > 100 else ""
        return table_html(rows[:100]) + more

    def _stills(self) -> str:
        """The first steps; Error without the program, or if a picture has too many nodes."""
        if self.nodes > self.most_drawn_nodes:
            raise Error(f"{self.nodes} nodes: a picture shows up to {self.most_drawn_nodes}")
        shown = range(min(self.steps, self.most_drawn_steps))
        figures = "".join(f'<figure style="margin:0;width:220px">{self.picture(step).image("width:100%;border-radius:6px", f"step {step}")}'
                          f"<figcaption>step {step}</figcaption></figure>" for step in shown)
        more = f"<p>{self.steps - len(shown)} more steps: picture(step)</p>" if self.steps > len(shown) else ""
        return f'<div style="display:flex;flex-wrap:wrap;gap:12px">{figures}</div>{more}'
