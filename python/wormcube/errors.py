"""The exceptions of the package."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, Optional, Sequence

__all__ = ["Deadlock", "Error", "Failed", "NodeError", "Stopped", "TextError", "TimeLimit", "UsageError"]


class Error(Exception):
    """What the package raises: a sentence, and the program's exit code, command line and results before the error.

    `code` is None and `command` is empty if the program was not run. `command` is the line to paste into a shell. A schedule without
    a file of its own is SCHEDULE.txt in it, which `schedule.write("SCHEDULE.txt")` makes; arrays are IN.npy and OUT.npy. The file of
    a networkx graph lasts as long as Python runs.
    """

    def __init__(self, sentence: str, code: Optional[int] = None, command: str = "", results: Sequence[Any] = ()) -> None:
        super().__init__(sentence)
        self.code = code
        self.command = command
        self.results: Sequence[Any] = results


class UsageError(Error, ValueError):
    """The program refused its arguments (exit code 2)."""


class Failed(Error):
    """A result that was required to pass did not; it is in `results`."""


class Deadlock(Error):
    """All nodes wait for each other (exit code 3)."""


class TimeLimit(Error, TimeoutError):
    """The program stopped at its time limit (exit code 4)."""


class Stopped(Error):
    """A signal ended the program."""


class NodeError(Error):
    """A node program did what it may not do; its own exception, if any, is the cause.

    `record` runs without the program, so `command` is empty. `schedule` has the steps up to the error: `error.schedule.picture(step)`
    draws one, `error.schedule.messages()` lists them.
    """

    schedule: Any = None


class TextError(Error, ValueError):
    """A schedule's text cannot be read: the file, the line, and what is wrong there."""
