"""A function for each command of the program."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import html
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from typing import Any, Iterable, List, Optional, Sequence, Tuple, TYPE_CHECKING, Union

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
Names = Union[str, Sequence[str]]


def _on(on: Any) -> List[str]:
    return [] if on is None else ["--on", text_of(on)]


def _algorithm(names: Names) -> List[str]:
    return ["--algorithm", names if isinstance(names, str) else ",".join(names)]


def check(operation: str, on: Any, algorithm: Names = "auto", *, progress: Progress = None, require: bool = False, **options: Any) -> Results[Check]:
    """Count and prove algorithms without moving data.

    >>> [(result.algorithm, result.startups) for result in check("allgather", "ring:6", ["ring", "bruck"])]
    [('ring', 5), ('bruck', 3)]
    """
    return program.rows(Check, ["check", operation, *_on(on), *_algorithm(algorithm), *program.words_of(options)], progress, require)


def run(operation: str, on: Any, algorithm: Names = "auto", *, progress: Progress = None, require: bool = False, **options: Any) -> Results[Run]:
    """Run algorithms on the emulated machine: move real data, measure and verify."""
    return program.rows(Run, ["run", operation, *_on(on), *_algorithm(algorithm), *program.words_of(options)], progress, require)


def best(operation: str, on: Any, *, progress: Progress = None, **options: Any) -> Results[Best]:
    """Find the best algorithm for each network, block size and port model."""
    return program.rows(Best, ["best", operation, *_on(on), *program.words_of(options)], progress)


def replay(operation: str, on: Any, algorithm: Names = "auto", *, progress: Progress = None, **options: Any) -> Results[Replay]:
    """Simulate algorithms on a modelled machine, flit by flit."""
    return program.rows(Replay, ["replay", operation, *_on(on), *_algorithm(algorithm), *program.words_of(options)], progress)


def algorithms(operation: Optional[str] = None, on: Any = None, *, progress: Progress = None, **options: Any) -> Results[Algorithm]:
    """List algorithms; with a network, those that it admits."""
    named = [] if operation is None else [operation]
    return program.rows(Algorithm, ["list", *named, *_on(on), *program.words_of(options)], progress)


def show(operation: str, on: Any, algorithm: str = "auto", **options: Any) -> "Schedule":
    """The schedule of an algorithm, as `show --write-schedule` writes it."""
    from .schedule import Schedule
    words = ["show", operation, *_on(on), *_algorithm(algorithm), *program.words_of(options), "--write-schedule", "-"]
    return Schedule.parse(program.text(words), f"{operation} {algorithm} on {text_of(on)}")


def machines(name: Optional[str] = None) -> Results[Machine]:
    """The machine profiles, with their sources."""
    return program.rows(Machine, ["machines", *([] if name is None else [name])])


def reproduce(paper: str, *, progress: Progress = None, **options: Any) -> Results[Reproduction]:
    """Reproduce a paper's tables: as printed, corrected, and counted from the programs."""
    return program.rows(Reproduction, ["reproduce", paper, *program.words_of(options)], progress)


class _Written:
    """What the program drew, as text."""

    def __init__(self, text: str) -> None:
        self.text = text

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write it to a file."""
        pathlib.Path(path).write_text(self.text, encoding="utf-8")


class Page(_Written):
    """A page of the program; a notebook shows it in a frame."""

    @property
    def html(self) -> str:
        """The page's text."""
        return self.text

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.text)}" width="100%" height="640" '
                'style="border:0" title="wormcube"></iframe>')


class Picture(_Written):
    """A picture in SVG."""

    @property
    def svg(self) -> str:
        """The picture's text."""
        return self.text

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Write it to a file: SVG, or PDF or PNG by the ending of its name (these need rsvg-convert)."""
        ending = pathlib.Path(path).suffix.lower()
        if ending not in (".pdf", ".png"):
            super().save(path)
            return
        converter = shutil.which("rsvg-convert")
        if converter is None:
            raise Error(f"{os.fspath(path)}: {ending[1:].upper()} needs rsvg-convert (Debian: librsvg2-bin); save it as .svg instead")
        subprocess.run([converter, f"--format={ending[1:]}", f"--output={os.fspath(path)}"], input=self.text.encode(), check=True)

    def _repr_html_(self) -> str:
        return self.image("max-width:100%;box-sizing:border-box;padding:12px;border-radius:6px;background:#fff")

    def image(self, style: str, title: str = "plot") -> str:
        """An element of HTML with the picture in it."""
        data = base64.b64encode(self.text.encode()).decode()
        return f'<img alt="{html.escape(title)}" style="{style}" src="data:image/svg+xml;base64,{data}">'


def draw(operation: str, on: Any, algorithm: Names = "auto", **options: Any) -> Page:
    """A page that plays an operation's algorithms."""
    return Page(program.text(["draw", operation, *_on(on), *_algorithm(algorithm), *program.words_of(options), "--html", "-"]))


def plot(*results: Union[Result, Iterable[Result]], html: bool = False, **options: Any) -> Union[Page, Picture]:
    """Plot results of run, algorithms, check, replay or reproduce: a picture, with html=True a page; no matplotlib needed."""
    with tempfile.TemporaryDirectory(prefix="wormcube-") as folder:
        names = []
        for at, those in enumerate(results):
            if not isinstance(those, (Result, Iterable)):
                raise UsageError(f"plot() takes results of run, algorithms, check, replay or reproduce, not a {type(those).__name__}; "
                                 "for a schedule: plot([schedule.run(bytes=size) for size in (8, 512)])")
            rows = [result.json() for result in ([those] if isinstance(those, Result) else those)]
            if not rows:
                raise Error("nothing to plot: there are no results")
            names.append(os.path.join(folder, f"results-{at}.jsonl"))
            with open(names[-1], "w", encoding="utf-8") as file:
                file.writelines(json.dumps(row) + "\n" for row in rows)
        words = ["plot", *names, *program.words_of(options)]
        try:
            return Page(program.text([*words, "--html", "-"])) if html else Picture(program.text([*words, "--svg", "-"]))
        except UsageError as error:
            sentence = str(error)
            for at, name in enumerate(names, 1):
                sentence = sentence.replace(f"'{name}'", f"argument {at}")
            raise UsageError(sentence, error.code, error.command) from error


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
    with tempfile.TemporaryDirectory(prefix="wormcube-") as folder:
        given, made = os.path.join(folder, "in.npy"), os.path.join(folder, "out.npy")
        numpy.save(given, numpy.ascontiguousarray(data))
        words = [command, "--input", given, "--output", made, *_on(on), *program.words_of(options)]
        result = program.rows(kind, words)[0]
        return numpy.load(made), result
