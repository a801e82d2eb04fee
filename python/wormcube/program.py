"""Find the program `wormcube`, run it, and read its JSON lines."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from typing import Any, Callable, Dict, IO, Iterable, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union

from .errors import Deadlock, Error, Failed, Stopped, TextError, TimeLimit, UsageError
from .result import Result, Results, finding

__all__ = ["Progress", "find", "path"]

#: The program to run; None: the environment's WORMCUBE, the checkout's build, or the one in PATH.
path: Optional[str] = None

#: The numbers of the JSON schemas that this package reads.
SCHEMAS = (3, 3)

#: Seconds that the program has to end after Ctrl-C, before it is killed.
GRACE = 10.0

R = TypeVar("R", bound=Result)

#: progress=True passes the program's progress through; a function is called with each result.
Progress = Union[None, bool, Callable[[Any], object]]


def find() -> str:
    """The path of the program that the functions run."""
    if path is not None:
        return os.fspath(path)
    given = os.environ.get("WORMCUBE")
    if given:
        return given
    here = pathlib.Path(__file__).resolve()
    recorded = here.with_name("checkout.txt")  # of an installed package: where pip built it
    checkout = pathlib.Path(recorded.read_text(encoding="utf-8").strip()) if recorded.is_file() else here.parents[2]
    built = checkout / "build" / "release" / "wormcube"
    if (checkout / "python" / "pyproject.toml").is_file() and os.access(built, os.X_OK):
        return str(built)
    found = shutil.which("wormcube")
    if found is None:
        raise Error("no program 'wormcube': build it (./run build), install it, or set WORMCUBE")
    return found


class File(str):
    """A temporary file's path, in a folder that lives as long as the path; commands and sentences show another name."""

    shown: str

    def __new__(cls, shown: str, text: str = "") -> "File":
        folder = tempfile.mkdtemp(prefix="wormcube-")
        made = super().__new__(cls, os.path.join(folder, "file" + pathlib.Path(shown).suffix))
        made.shown = shown
        weakref.finalize(made, shutil.rmtree, folder, True)
        write(made, text)
        return made


def shown(text: str, words: Iterable[str]) -> str:
    """A text with the names of temporary files that people see."""
    for word in words:
        if isinstance(word, File):
            text = text.replace(word, word.shown)
    return text


def write(path: Union[str, "os.PathLike[str]"], text: str) -> None:
    """Write a file, or an Error with its name."""
    try:
        pathlib.Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise Error(f"cannot write '{os.fspath(path)}': {error.strerror}") from error


def joined(name: str, value: Any) -> str:
    """A value as an option's word: a list, a range or an array is joined by commas."""
    if isinstance(value, (str, os.PathLike)) or not isinstance(value, Iterable):
        return str(value)
    words = [str(one) for one in value]
    if not words:
        raise UsageError(f"{name} is empty: give at least one value, or leave it out")
    return ",".join(words)


def words_of(options: Mapping[str, Any]) -> List[str]:
    """Keyword arguments as options: in_place=True is --in-place, bytes=[8, 64] is --bytes 8,64; a Schedule becomes a file."""
    words: List[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(option)
            continue
        text = value.as_file() if hasattr(value, "as_file") else joined(name, value)
        if text.startswith("-"):
            words.append(f"{option}={text}")
        else:
            words += [option, text]
    return words


class _Errors(threading.Thread):
    """Reads the program's standard error: the last sentence, and progress for those who ask."""

    def __init__(self, call: "Call", stream: IO[str], shown: bool) -> None:
        super().__init__(daemon=True)
        self.call = call
        self.stream = stream
        self.shown = shown
        self.lines: List[str] = []
        self.start()

    def run(self) -> None:
        with self.stream:
            for line in map(self.call.renamed, self.stream):
                self.lines.append(line.rstrip("\n"))
                del self.lines[:-1000]
                if self.shown:
                    sys.stderr.write(line)
                    sys.stderr.flush()

    def sentence(self) -> str:
        """The last sentence of the program, without its name, and the table below it."""
        self.join(GRACE)
        for at in range(len(self.lines) - 1, -1, -1):
            if self.lines[at].startswith("wormcube: "):
                return "\n".join([self.lines[at][len("wormcube: "):]] + self.lines[at + 1:]).rstrip()
        return "\n".join(self.lines).strip()


class Call:
    """One run of the program; `command` is the line to paste, without the options of `output`."""

    def __init__(self, words: Sequence[str], output: Sequence[str] = (), shown: bool = False) -> None:
        self.words = [find(), *words, *output]
        self.files = [word for word in self.words if isinstance(word, File)]
        if any("\0" in word for word in self.words):
            raise UsageError(f"a word of the command line has a NUL character: {next(word for word in words if chr(0) in word)!r}")
        self.command = shlex.join([word.shown if isinstance(word, File) else word for word in self.words[:1 + len(words)]])
        try:
            # A group of its own: Ctrl-C reaches the program once, from end().
            self.process = subprocess.Popen(self.words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                            encoding="utf-8", errors="replace", start_new_session=True)
        except OSError as error:
            raise Error(f"cannot run '{self.words[0]}': {error.strerror}; build it (./run build), install it, or set WORMCUBE",
                        command=self.command) from error
        assert self.process.stdout is not None and self.process.stderr is not None
        self.output = self.process.stdout
        self.errors = _Errors(self, self.process.stderr, shown)

    def renamed(self, text: str) -> str:
        """The program's output with the names of temporary files that people see."""
        return shown(text, self.files)

    def renamed_values(self, made: Dict[str, Any]) -> Dict[str, Any]:
        """The same in an object of JSON."""
        return {key: self.renamed(value) if isinstance(value, str) else value for key, value in made.items()}

    def _kill(self) -> None:
        """Kill the program and its children, which may hold its output open."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def end(self) -> List[str]:
        """End the program as Ctrl-C does, wait for it, and return the lines that it still wrote."""
        if self.process.returncode is not None:  # it ended by itself
            self.output.close()
            return []
        killer = threading.Timer(GRACE, self._kill)
        killer.start()
        try:
            self.process.send_signal(signal.SIGINT)
            with self.output:
                rest = self.output.readlines()
            self.process.wait()
            return rest
        except BaseException:
            self._kill()
            self.process.wait()
            raise
        finally:
            killer.cancel()

    def code(self) -> int:
        """Wait for the end and return the exit code; minus the number of a signal that killed the program."""
        code = self.process.wait()
        self.output.close()
        return code

    def error(self, code: int, results: Sequence[Any]) -> BaseException:
        """The exception of an exit code."""
        said = self.errors.sentence()
        kinds: Dict[int, Type[Error]] = {2: UsageError, 3: Deadlock, 4: TimeLimit, 143: Stopped}
        if code == 130:
            interrupted = KeyboardInterrupt(said or "stopped by Ctrl-C")
            setattr(interrupted, "results", results)
            return interrupted
        if code < 0:
            return Stopped(f"{_signal_name(-code)} ended the program" + (f"; it said: {said}" if said else ""), code, self.command, results)
        return kinds.get(code, Error)(said or f"the program ended with exit code {code} and printed no error", code, self.command, results)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _checked(line: str, call: Call) -> Dict[str, Any]:
    """A line's object, if it is one of a schema that this package reads."""
    try:
        row = json.loads(line, object_hook=call.renamed_values if call.files else None)
    except ValueError:
        row = None
    if not isinstance(row, dict):
        raise Error(f"'{call.words[0]}' printed a line that is not a JSON object: {line.strip()[:80]!r}", command=call.command)
    provenance = row.get("provenance")
    number = provenance.get("schema") if isinstance(provenance, dict) else None
    if not isinstance(provenance, dict) or not isinstance(number, int):
        raise Error(f"'{call.words[0]}' printed JSON without the number of its schema; is it wormcube?", command=call.command)
    if not SCHEMAS[0] <= number <= SCHEMAS[1]:
        older = "the program is older; rebuild it" if number < SCHEMAS[0] else "this package is older; install the program's own"
        known = str(SCHEMAS[0]) if SCHEMAS[0] == SCHEMAS[1] else f"{SCHEMAS[0]} to {SCHEMAS[1]}"
        raise Error(f"'{call.words[0]}' writes JSON of schema {number}, this package reads {known}: {older}", command=call.command)
    provenance["command"] = call.command
    return row


def rows(kind: Type[R], words: Sequence[str], progress: Progress = None, require: bool = False) -> Results[R]:
    """Run a command and return its results."""
    call = Call(words, ["--jsonl", "-"], shown=progress is True)
    results: Results[R] = Results()

    def take(line: str) -> None:
        result = kind.from_json(_checked(line, call))
        results.append(result)
        if callable(progress):
            progress(result)

    half = ""
    try:
        for line in call.output:
            if line.endswith("\n"):
                take(line)
            else:
                half = line
        code = call.code()
    except KeyboardInterrupt as stopped:
        for line in call.end():
            if line.endswith("\n"):
                results.append(kind.from_json(_checked(line, call)))
        setattr(stopped, "results", results)
        raise
    except BaseException:
        call.end()
        raise
    if code in (0, 1) and half:
        raise Error(f"the program's output ends within a line: {half[:80]!r}", code, call.command, results)
    wrong = any(result.json().get("passed", True) is not True for result in results)
    if code not in (0, 1) or (code == 1 and not wrong):
        raise call.error(code, results)
    if require:
        for result in results:
            if result.json().get("passed") is not True:
                raise Failed(finding(result), code, call.command, results)
    return results


def _output(words: Sequence[str], form: Sequence[str], progress: Progress) -> Tuple[str, Call]:
    call = Call(words, form, shown=progress is True)
    try:
        output = call.output.read()
        code = call.code()
    except BaseException:
        call.end()
        raise
    if code != 0:
        raise call.error(code, ())
    return output, call


def text(words: Sequence[str], output: Sequence[str] = (), progress: Progress = None) -> str:
    """Run a command and return what it prints, in a form that the options of `output` choose."""
    printed, call = _output(words, output, progress)
    return call.renamed(printed)


def whole(kind: Type[R], words: Sequence[str], output: Sequence[str] = (), progress: Progress = None) -> R:
    """Run a command whose JSON is one object, and return its result."""
    printed, call = _output(words, [*output, "--json", "-"], progress)
    return kind.from_json(_checked(printed, call))


def text_error(error: UsageError) -> Union[TextError, UsageError]:
    """A TextError, if the sentence begins with FILE:LINE."""
    said = str(error)
    place = said.split(": ")[0].rsplit(":", 1)
    if len(place) == 2 and place[1].isdigit():
        return TextError(said, error.code, error.command, error.results)
    return error
