"""A function for each command of the program."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import html
import json
import os
import pathlib
import re
import shutil
import subprocess
from typing import Any, Iterable, Iterator, List, Optional, Sequence, Tuple, TYPE_CHECKING, Union

from . import program
from .errors import Error, UsageError
from .program import Progress
from .result import Result, Results
from .results import Algorithm, Best, Check, Fft, Machine, Replay, Reproduction, Run, Transpose
from .topology import text_of

if TYPE_CHECKING:
    from .schedule import Schedule

__all__ = ["Page", "Picture", "algorithms", "best", "check", "draw", "fft", "machines", "plot", "replay", "reproduce", "run", "show", "transpose"]


#: A name, or several.
Names = Union[str, Iterable[str]]


def _on(on: Any) -> List[str]:
    return [] if on is None else ["--on", text_of(on)]


def _call(command: str, operation: Any, on: Any, algorithm: Optional[Names], options: Any) -> List[str]:
    """The words of a command that takes an operation, a network and algorithms."""
    if not isinstance(operation, str):
        kind = type(operation).__name__
        hint = f"; for a schedule: schedule.{command}()" if kind == "Schedule" and command in ("check", "run", "replay", "draw") else ""
        raise UsageError(f"{command}: an operation is a name such as 'allgather', not a {kind}{hint}")
    named = [] if algorithm is None else ["--algorithm", program.joined("algorithm", algorithm)]
    return [command, operation, *_on(on), *named, *program.words_of(options)]


def check(operation: str, on: Any, algorithm: Names = "auto", *, progress: Progress = None, require: bool = False, **options: Any) -> Results[Check]:
    """Count and prove algorithms without moving data.

    >>> [(result.algorithm, result.startups) for result in check("allgather", "ring:6", ["ring", "bruck"])]
    [('ring', 5), ('bruck', 3)]
    """
    return program.rows(Check, _call("check", operation, on, algorithm, options), progress, require)


def run(operation: str, on: Any, algorithm: Names = "auto", *, progress: Progress = None, require: bool = False, **options: Any) -> Results[Run]:
    """Run algorithms on the emulated machine: move real data, measure and verify."""
    return program.rows(Run, _call("run", operation, on, algorithm, options), progress, require)


def best(operation: str, on: Any, *, progress: Progress = None, **options: Any) -> Results[Best]:
    """Find the best algorithm for each network, block size and port model, each algorithm with its cheapest options.

    `schedule=` adds a Schedule, or a schedule's file, as the algorithm `schedule`.
    """
    return program.rows(Best, _call("best", operation, on, None, options), progress)


def replay(operation: str, on: Any, algorithm: Names = "auto", *, progress: Progress = None, **options: Any) -> Results[Replay]:
    """Simulate algorithms on a modelled machine, flit by flit."""
    return program.rows(Replay, _call("replay", operation, on, algorithm, options), progress)


def algorithms(operation: Optional[str] = None, on: Any = None, *, progress: Progress = None, **options: Any) -> Results[Algorithm]:
    """List algorithms; with a network, those that can run on it."""
    words = ["list", *_on(on), *program.words_of(options)] if operation is None else _call("list", operation, on, None, options)
    return program.rows(Algorithm, words, progress)


def show(operation: str, on: Any, algorithm: str = "auto", **options: Any) -> "Schedule":
    """The schedule of an algorithm, as `show --write-schedule` writes it."""
    from .schedule import Schedule
    shown = Schedule.parse(program.text(_call("show", operation, on, algorithm, options), ["--write-schedule", "-"]))
    shown.name = algorithm
    return shown


def machines(name: Optional[str] = None) -> Results[Machine]:
    """The machine profiles, with their sources."""
    return program.rows(Machine, ["machines", *([] if name is None else [name])])


def reproduce(paper: str, *, progress: Progress = None, **options: Any) -> Results[Reproduction]:
    """Reproduce a paper's tables: as printed, corrected, and counted from the programs."""
    return program.rows(Reproduction, ["reproduce", paper, *program.words_of(options)], progress)


def _ending(path: Union[str, "os.PathLike[str]"], allowed: Sequence[str], hint: str) -> str:
    """The ending of a file's name, if it is allowed."""
    ending = pathlib.Path(path).suffix.lower()
    if ending not in allowed:
        raise UsageError(f"cannot save '{os.fspath(path)}': {hint}")
    return ending


class Page:
    """A page of the program; a notebook shows it in a frame."""

    #: The frame's height in a notebook, in pixels.
    height = 1000

    def __init__(self, text: str) -> None:
        self.text = text

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write it to a file NAME.html."""
        _ending(path, (".html", ".htm"), "a page is saved as .html")
        program.write(path, self.text)

    @property
    def html(self) -> str:
        """The page's text."""
        return self.text

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.text)}" width="100%" height="{self.height}" '
                'style="border:0" title="wormcube"></iframe>')


class Picture:
    """A picture in SVG."""

    def __init__(self, text: str) -> None:
        self.text = text

    @property
    def svg(self) -> str:
        """The picture's text."""
        return self.text

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write it to a file NAME.svg, .pdf or .png; the last two need rsvg-convert."""
        ending = _ending(path, (".svg", ".pdf", ".png"), "a picture is saved as .svg, .pdf or .png; plot(.., html=True) makes a page")
        if ending == ".svg":
            program.write(path, self.text)
            return
        converter = shutil.which("rsvg-convert")
        if converter is None:
            raise Error(f"{os.fspath(path)}: {ending[1:].upper()} needs rsvg-convert (Debian: librsvg2-bin); save it as .svg instead")
        done = subprocess.run([converter, f"--format={ending[1:]}", f"--output={os.fspath(path)}"], input=self.text.encode(), stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise Error(f"cannot write '{os.fspath(path)}': {done.stderr.decode(errors='replace').strip()}")

    def _repr_html_(self) -> str:
        return self.image("max-width:100%;box-sizing:border-box;padding:12px;border-radius:6px;background:#fff")

    def image(self, style: str, title: str = "plot") -> str:
        """An element of HTML with the picture in it."""
        data = base64.b64encode(self.text.encode()).decode()
        return f'<img alt="{html.escape(title)}" style="{style}" src="data:image/svg+xml;base64,{data}">'


def draw(operation: str, on: Any, algorithm: Names = "auto", **options: Any) -> Page:
    """A page that plays an operation's algorithms."""
    return Page(program.text(_call("draw", operation, on, algorithm, options), ["--html", "-"]))


def _rows(results: Any) -> Iterator[Any]:
    """The JSON of a result, or of all results in lists."""
    if not isinstance(results, Result):
        if isinstance(results, str) or not isinstance(results, Iterable):
            raise UsageError(f"plot() takes results of run, algorithms, check, replay or reproduce, not a {type(results).__name__}; "
                             "for a schedule: plot(schedule.run(bytes=[8, 512]))")
        for one in results:
            yield from _rows(one)
        return
    yield results.json()


def plot(*results: Union[Result, Iterable[Result]], html: bool = False, **options: Any) -> Union[Page, Picture]:
    """Plot results of run, algorithms, check, replay or reproduce: a picture, with html=True a page; no matplotlib needed.

    Each algorithm is a line, and each schedule of your own is a line with its `name`. Results in several arguments are results of
    several machines or days: their measured times are lines of their own.
    """
    files, given = [], [list(_rows(those)) for those in results]
    built_in = {row.get("algorithm") for rows in given for row in rows if row.get("schedule") is None}
    for at, rows in enumerate(given, 1):
        if not rows:
            raise Error("nothing to plot: there are no results")
        for number, row in enumerate(rows):
            name = row.get("schedule")
            if name is not None:
                rows[number] = {**row, "algorithm": f"{name} (schedule)" if name in built_in else name}
        files.append(program.File(f"RESULTS-{at}.jsonl", "".join(json.dumps(row) + "\n" for row in rows)))
    words = ["plot", *files, *program.words_of(options)]
    try:
        return Page(program.text(words, ["--html", "-"])) if html else Picture(program.text(words, ["--svg", "-"]))
    except UsageError as error:
        raise UsageError(re.sub(r"'RESULTS-(\d+)\.jsonl'", r"argument \1", str(error)), error.code, error.command) from error


def fft(x: Any, on: Any = "torus:8x8", **options: Any) -> Tuple[Any, Fft]:
    """The Fourier transform of a numpy array of one or two dimensions, on many nodes; and the result."""
    array, result = _by_files("fft", Fft, x, on, options)
    return array, result


def transpose(a: Any, on: Any = "torus:8x8", **options: Any) -> Tuple[Any, Transpose]:
    """The transposed matrix, distributed by rows over many nodes; and the result."""
    array, result = _by_files("transpose", Transpose, a, on, options)
    return array, result


def _by_files(command: str, kind: Any, data: Any, on: Any, options: Any) -> Tuple[Any, Any]:
    try:
        import numpy
    except ImportError:
        raise Error(f"{command}() needs numpy: apt install python3-numpy, or pip install numpy") from None
    given, made = program.File("IN.npy"), program.File("OUT.npy")
    numpy.save(given, numpy.ascontiguousarray(data))
    result = program.rows(kind, [command, "--input", given, "--output", made, *_on(on), *program.words_of(options)])[0]
    return numpy.load(made), result
