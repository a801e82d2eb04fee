"""The algorithms of the textbooks and of msccl-tools: applied to data, proved by the program, compared with the built-in ones."""
# SPDX-License-Identifier: Apache-2.0
import unittest

import wormcube as wc
from cases import CASES, MSCCL, PIPELINES, options_on
from support import needs, needs_proof
from wormcube import msccl_examples, textbook
from wormcube.topology import network


def recorded():
    """Every algorithm on every network of its row: the row, and its schedule."""
    for case in CASES:
        for on in case[2].split():
            options = options_on(case[3], network(on).nodes)
            yield case, wc.record(getattr(textbook, case[0]), on, case[1], block=64 * options.get("parts", 1), **options)


def program_of(name):
    return getattr(msccl_examples, name, None) or getattr(textbook, name)


def counted(schedule):
    """Messages, values sent, values combined."""
    gaps = [line.gap for step in schedule.steps_ for line in step.values() if line.gap is not None] + list(schedule.end.values())
    values = sum(len(op.values) for step in schedule.steps_ for line in step.values() for op in line.ops if hasattr(op, "to"))
    return [len(schedule.messages()), values, sum(len(gap.pairs) for gap in gaps)]


def stages():
    """The operations of 8 nodes in msccl-tools' pipelines: the row, the reduce-scatter, and the allgather."""
    for row in PIPELINES:
        yield row, wc.record(program_of(row[1]), "complete:8", "reduce_scatter", parts=row[3], commutative=True), wc.record(
            program_of(row[2]), "complete:8", "allgather")


def combined(left, right):
    """Element by element: the nodes whose elements are combined, in this order."""
    return [(a[0] + b[0], *a[1:]) for a, b in zip(left, right)]


def sorted_ranks(blocks):
    return None if blocks is None else [sorted_ranks(block) if isinstance(block, list) else (tuple(sorted(block[0])), *block[1:]) for block in blocks]


class Applied(unittest.TestCase):
    """On blocks whose elements say where they come from."""

    def check(self, schedule):
        call, parts = schedule.call, schedule.parts

        def block(ranks, number):
            return [(tuple(ranks), number, element) for element in range(parts)]
        inputs = []
        for node in range(schedule.nodes):
            given = [block((node,), number) for number in range(call.gives(node))]
            inputs.append(given if call.gives_list() else given[0] if given else None)
        for node, ends in enumerate(schedule.apply(inputs, combined)):
            wanted = [block(word, number) for word, number in call.ends(node)]
            wanted = wanted if call.ends_list() and wanted else wanted[0] if wanted else None
            if schedule.commutative:
                ends, wanted = sorted_ranks(ends), sorted_ranks(wanted)
            self.assertEqual(ends, wanted, f"node {node}")

    def test_textbook(self):
        for case, schedule in recorded():
            with self.subTest(case[0], on=schedule.on):
                self.check(schedule)
                self.assertEqual(wc.Schedule.parse(schedule.text).text, schedule.text)

    def test_msccl_examples(self):
        for name, operation, nodes, options, *_ in MSCCL:
            with self.subTest(name, nodes=nodes):
                self.check(wc.record(program_of(name), f"complete:{nodes}", operation, **options))
        for (file, *_), first, last in stages():
            with self.subTest(file):
                self.check(first)
                self.check(last)

    def test_every_algorithm_is_in_the_tables(self):
        self.assertEqual(sorted({case[0] for case in CASES}), sorted(textbook.__all__))
        self.assertEqual(sorted(({row[0] for row in MSCCL} | {row[1] for row in PIPELINES}) - set(textbook.__all__)), sorted(msccl_examples.__all__))

    @needs("numpy")
    def test_numpy(self):
        import numpy
        schedule = wc.record(textbook.ring_sum, "ring:5", "allreduce", parts=5, commutative=True)
        data = [numpy.random.default_rng(r).integers(0, 1000, 17) for r in range(5)]
        self.assertTrue(all((x == sum(data)).all() for x in schedule.apply(data, numpy.add)))


class Counts(unittest.TestCase):
    def test_those_of_the_files_that_msccl_tools_writes(self):
        """Sends, chunks sent and chunks combined, as counted in the XML files."""
        for name, operation, nodes, options, file, *counts in MSCCL:
            with self.subTest(file):
                self.assertEqual(counted(wc.record(program_of(name), f"complete:{nodes}", operation, **options)), counts)

    def test_those_of_the_pipelines(self):
        for (file, _, _, chunks, *counts), first, last in stages():
            with self.subTest(file):
                sent, values, combinations = counted(first)
                sent_last, blocks, _ = counted(last)
                self.assertEqual([sent + 8 + sent_last, values + 8 * chunks + blocks * chunks, combinations], counts)

    def test_those_of_the_built_in_algorithms(self):
        for (name, operation, _, _, built_in), schedule in recorded():
            with self.subTest(name, on=schedule.on, built_in=built_in):
                same, = wc.check(operation, schedule.on, built_in, **schedule.call.options())
                messages, size = schedule.messages(), schedule.sizes.block
                largest = {message.step: 0 for message in messages}
                for message in messages:
                    largest[message.step] = max(largest[message.step], message.bytes)
                self.assertEqual((len(largest), len(messages), sum(largest.values()) / size, sum(message.bytes for message in messages) / size),
                                 (same.startups, same.messages, same.transmission_blocks, same.total_blocks))


class Proved(unittest.TestCase):
    @needs_proof
    def test_textbook(self):
        for case, schedule in recorded():
            with self.subTest(case[0], on=schedule.on):
                schedule.require()

    @needs_proof
    def test_msccl_examples(self):
        """Some send several messages over a link in a step: GPUs have several channels."""
        for name, operation, nodes, options, *_ in MSCCL:
            with self.subTest(name, nodes=nodes):
                found = wc.record(program_of(name), f"complete:{nodes}", operation, **options).check(ports="all")
                self.assertTrue(found.delivered and found.exactly_once, found.problems)
        for (file, *_), first, last in stages():
            with self.subTest(file):
                self.assertTrue(first.require(ports="all").exactly_once and last.require(ports="all").exactly_once)
