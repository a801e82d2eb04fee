"""The exceptions of the package."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any, Optional, Sequence

__all__ = ["Deadlock", "Error", "Failed", "NodeError", "Stopped", "TextError", "TimeLimit", "UsageError"]


class Error(Exception):
    """What the package raises: the program's sentence, its exit code, its command line, and the results before it."""

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
    """A node program did what it may not do; its own exception, if any, is the cause."""


class TextError(Error, ValueError):
    """A schedule's text cannot be read: the file, the line, and what is wrong there."""
