"""Ten exercises for a course: each has a task, and a checker that proves the student's program and compares it with the bound."""
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import dataclasses
import html
import re
from typing import Any, Callable, Dict, List, Optional, Tuple

from .commands import check as check_command
from .errors import Error, NodeError
from .record import Program, record
from .result import cell, finding
from .schedule import Schedule
from .topology import network

__all__ = ["EXERCISES", "Exercise", "Report", "check"]


@dataclasses.dataclass(frozen=True)
class Exercise:
    """A task: an operation on networks, and what the program may need at most."""

    number: int
    title: str
    task: str
    operation: str
    networks: Tuple[str, ...]
    goal: Callable[[int], int]
    transmitted: Optional[Callable[[int], float]] = None
    neighbours: bool = False
    right: bool = False
    pairs: bool = False
    options: Tuple[Tuple[str, Any], ...] = ()

    def record_options(self, nodes: int) -> Dict[str, Any]:
        """The options of record(); 'p' stands for the number of nodes."""
        return {name: nodes if value == "p" else value for name, value in self.options}


def _log(p: int) -> int:
    return (p - 1).bit_length()


EXERCISES: Dict[int, Exercise] = {exercise.number: exercise for exercise in (
    Exercise(1, "A ring", "Allgather on a ring: send only to the neighbour on the right, in p - 1 steps.",
             "allgather", ("ring:6", "ring:7"), lambda p: p - 1, neighbours=True, right=True),
    Exercise(2, "Doubling", "Allgather on 2^d nodes in d steps: partners exchange all that they hold.",
             "allgather", ("hypercube:3", "torus:4x4"), _log, pairs=True),
    Exercise(3, "A tree", "Broadcast from node 0 in ceil(log2 p) steps, for any number of nodes.",
             "broadcast", ("complete:7", "petersen"), _log),
    Exercise(4, "An exchange", "Alltoall in p - 1 steps, for any number of nodes: each block in a message of its own, straight to its node.",
             "alltoall", ("complete:5", "ring:6"), lambda p: p - 1, transmitted=lambda p: p - 1),
    Exercise(5, "Pairs", "Alltoall on 2^d nodes in p - 1 steps, in which each node sends to the node that it receives from.",
             "alltoall", ("hypercube:3", "torus:4x4"), lambda p: p - 1, transmitted=lambda p: p - 1, pairs=True),
    Exercise(6, "A pipeline", "Broadcast of 8 parts along the line 0, 1, .., p - 1, in p + 6 steps: each node sends part k to the right while "
             "part k + 1 comes in.",
             "broadcast", ("line:5", "ring:6"), lambda p: p + 6, transmitted=lambda p: (p + 6) / 8, neighbours=True, right=True, options=(("parts", 8),)),
    Exercise(7, "A sum in order", "Reduce to node 0 in ceil(log2 p) steps. The operator need not commute: lower ranks stand on the left.",
             "reduce", ("complete:7", "hypercube:3"), _log),
    Exercise(8, "A sum around a ring", "Allreduce of p parts around a ring, in 2 p - 2 steps of one part each. The operator commutes. In errors, 0/1 is "
             "part 1 of node 0's block, and {1..4 0}/1 is part 1 of the blocks of nodes 1 to 4 and 0, combined in this order.",
             "allreduce", ("ring:5", "ring:8"), lambda p: 2 * p - 2, transmitted=lambda p: 2 * (p - 1) / p, neighbours=True,
             options=(("parts", "p"), ("commutative", True))),
    Exercise(9, "Prefixes", "Scan on 2^d nodes in d steps: node r ends with the blocks of the nodes 0 to r combined.",
             "scan", ("hypercube:3", "complete:16"), _log),
    Exercise(10, "A torus", "Allgather on a torus with messages between neighbours only, in as few steps as the sides allow. Hint: the rings of one dimension "
             "first, then those of the other.",
             "allgather", ("torus:4x4", "torus:3x5"), lambda p: {16: 6, 15: 6}[p], transmitted=lambda p: p - 1, neighbours=True),
)}


class Report:
    """What a checker found: `passed`, and a sentence for each network; `schedules` to draw, those of programs that failed up to the error."""

    def __init__(self, exercise: Exercise) -> None:
        self.exercise = exercise
        self.passed = True
        self.sentences: List[str] = []
        self.schedules: List[Schedule] = []

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "not yet"
        return f"Exercise {self.exercise.number}, {self.exercise.title}: {verdict}\n" + "\n".join(f"  {sentence}" for sentence in self.sentences)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        verdict = "passed" if self.passed else "not yet"
        items = "".join(f"<li>{html.escape(sentence)}</li>" for sentence in self.sentences)
        return f"<p><b>Exercise {self.exercise.number}, {html.escape(self.exercise.title)}: {verdict}</b></p><ul>{items}</ul>"


def _unlike_pair(schedule: Schedule) -> str:
    sent = {(message.step, message.source, message.to) for message in schedule.messages()}
    for step, source, to in sorted(sent):
        if (step, to, source) not in sent:
            return f"step {step}: node {source} sends to {to}, which does not send to it"
    return ""


def _fault(exercise: Exercise, schedule: Schedule, block: int) -> Tuple[str, str]:
    """What is wrong, or nothing; and the figures."""
    nodes = schedule.nodes
    found = schedule.check(ports="one")
    if found.passed is not True:
        return finding(found), ""
    bound = check_command(exercise.operation, schedule.on, "auto", ports="one", bytes=block)[0].lower_bound
    goal = exercise.goal(nodes)
    startups, transmitted = found.startups or 0, (found.transmission_bytes or 0) / block
    least, least_sent = (bound.startups, bound.transmission_blocks) if bound is not None else (None, None)
    figures = (f"{startups} start-ups (goal {goal}, bound {cell(least)}), {cell(transmitted)} blocks transmitted (bound {cell(least_sent)})")
    if startups > goal:
        return f"it is right, but needs {startups} start-ups, and {goal} will do", figures
    if exercise.transmitted is not None and transmitted > exercise.transmitted(nodes) + 1e-9:
        return f"it is right, but transmits {cell(transmitted)} blocks, and {cell(exercise.transmitted(nodes))} will do", figures
    if exercise.neighbours and (found.max_hops or 0) > 1:
        return f"it is right, but a message travels {found.max_hops} links: send to neighbours only", figures
    other = next((message for message in schedule.messages() if message.to != (message.source + 1) % nodes), None)
    if exercise.right and other is not None:
        return f"it is right, but step {other.step}: node {other.source} sends to {other.to}: send only to the neighbour on the right", figures
    single = _unlike_pair(schedule) if exercise.pairs else ""
    if single:
        return f"it is right, but {single}", figures
    return "", figures


def check(number: int, program: Program) -> Report:
    """Prove a student's program on the exercise's networks, and compare it with the goal and the bound."""
    if number not in EXERCISES:
        raise Error(f"there is no exercise {number}; there are 1 to {len(EXERCISES)}")
    exercise = EXERCISES[number]
    report = Report(exercise)
    for on in exercise.networks:
        nodes = network(on).nodes
        options = exercise.record_options(nodes)
        block = 64 * int(options.get("parts", 1))
        try:
            schedule = record(program, on, exercise.operation, block=block, **options)
        except NodeError as error:
            report.passed = False
            hint = re.sub(r"(, unless|:) record\(\.\., .*", "", str(error))  # students do not call record
            report.sentences.append(f"{on}: {hint}")
            if error.schedule is not None:
                report.schedules.append(error.schedule)
            continue
        report.schedules.append(schedule)
        wrong, figures = _fault(exercise, schedule, block)
        report.passed = report.passed and not wrong
        report.sentences.append(f"{on}: {wrong}" if wrong else f"{on}: proved; {figures}")
    return report
