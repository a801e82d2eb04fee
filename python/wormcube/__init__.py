"""wormcube in Python: the program as functions, algorithms as generators, players in notebooks."""
# SPDX-License-Identifier: Apache-2.0
from . import program
from .commands import Page, Picture, algorithms, best, check, draw, fft, machines, plot, replay, reproduce, run, show, transpose
from .blocks import Block, join
from .comparison import Comparison, compare
from .errors import Deadlock, Error, Failed, NodeError, Stopped, TextError, TimeLimit, UsageError
from .record import Node, record
from .result import Result, Results
from .results import Algorithm, Best, Check, Fft, Machine, Replay, Reproduction, Run, Transpose
from .schedule import Message, Schedule
from .topology import Topology, topology
from .version import __version__ as __version__

__all__ = [
    "Algorithm", "Best", "Block", "Check", "Comparison", "Deadlock", "Error", "Failed", "Fft", "Machine", "Message", "Node", "NodeError", "Page", "Picture", "Replay",
    "Reproduction", "Result", "Results", "Run", "Schedule", "Stopped", "TextError", "TimeLimit", "Topology", "Transpose", "UsageError",
    "algorithms", "best", "check", "compare", "draw", "fft", "join", "machines", "plot", "program", "record", "replay", "reproduce", "run", "show", "topology",
    "transpose",
]
