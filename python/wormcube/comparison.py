"""The command compare: the times of a few algorithms by block size, where they cross, and why."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import html
import pathlib
from typing import Any, Dict, Iterable, List, Union

from . import program
from .commands import Picture
from .errors import Error, UsageError
from .program import Progress
from .result import Result, table_html, table_text
from .schedule import Schedule
from .topology import text_of

__all__ = ["Comparison", "compare"]


@dataclasses.dataclass(frozen=True)
class Comparison(Result):
    """The result of `wormcube compare`: each algorithm's time for each block size, the crossovers, and their explanation."""

    operation: str
    topology: str
    nodes: int
    arguments: Dict[str, Any]
    cost: str
    cost_model: Dict[str, Any]
    sizes: List[Dict[str, Any]]
    crossovers: List[Dict[str, Any]]
    explanation: List[str]
    provenance: Dict[str, Any]
    _drawn: List[str] = dataclasses.field(default_factory=list, repr=False, compare=False, init=False)

    def rows(self) -> List[Dict[str, Any]]:
        """A row for each block size: each algorithm's time in microseconds, and the fastest."""
        made = []
        for size in self.sizes:
            times = dict(zip(self._names(), (call["time_us"] for call in size["calls"])))
            known = [(time, at, name) for at, (name, time) in enumerate(times.items()) if time is not None]
            made.append({"block_bytes": size["block_bytes"], **times, "fastest": min(known)[2] if known else None})
        return made

    def _names(self) -> List[str]:
        """The algorithms' names as they were given, in the order of the calls."""
        return [*self.provenance["settings"]["algorithm"], "schedule"]

    def frame(self) -> Any:
        """A pandas DataFrame of the rows."""
        try:
            import pandas
        except ImportError:
            raise Error("frame() needs pandas: apt install python3-pandas, or pip install pandas") from None
        return pandas.DataFrame(self.rows())

    def plot(self) -> Picture:
        """The times by block size; no matplotlib needed."""
        return Picture(self._drawn[0])

    def _shown(self) -> List[Dict[str, Any]]:
        """The rows with units."""
        return [{name if name in ("block_bytes", "fastest") else f"{name} (us)": value for name, value in row.items()} for row in self.rows()]

    def _sentences(self) -> List[str]:
        """Where the algorithms cross, and why."""
        return [f"{each['slower']} up to {each['after_bytes']} B, {each['faster']} from {each['from_bytes']} B on" for each in self.crossovers] + self.explanation

    def __str__(self) -> str:
        return "\n".join([table_text(self._shown()), *self._sentences()])

    def _repr_html_(self) -> str:
        return table_html(self._shown()) + "".join(f"<p>{html.escape(line)}</p>" for line in self._sentences())


def compare(operation: str, on: Any, algorithms: Union[str, Iterable[Union[str, Schedule]]], *, progress: Progress = None,
            **options: Any) -> Comparison:
    """Compare a few algorithms by block size, and explain the difference.

    An algorithm that is named without options has its cheapest ones for each block size, as in `best`. Name others, such as
    "swing:form=latency". One of the algorithms may be a Schedule, whose column is `schedule`; `schedule=` takes it, or its file, too.
    """
    if not isinstance(algorithms, str):
        those = list(algorithms)
        own = [one for one in those if isinstance(one, Schedule)] + [options[name] for name in ("schedule",) if name in options]
        if len(own) > 1:
            raise UsageError(f"compare takes one schedule, not {len(own)}")
        if own:
            options["schedule"] = own[0]
        algorithms = program.joined("algorithms", [one for one in those if not isinstance(one, Schedule)])
    words = ["compare", operation, "--on", text_of(on), "--algorithm", algorithms, *program.words_of(options)]
    plot = program.File("times.svg")
    made = program.whole(Comparison, words, ["--plot", plot], progress)
    made._drawn.append(program.shown(pathlib.Path(plot).read_text(encoding="utf-8"), [*words, plot]))
    return made
