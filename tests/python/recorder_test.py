"""The recorder, text 2 and apply: what needs no program."""
# SPDX-License-Identifier: Apache-2.0
import unittest

import wormcube as wc
from wormcube import textbook

RING_3 = """wormcube schedule 2
topology ring:3
operation allgather
block 1024
steps 2

step 0
node 0: send 1024 to 1 [0], receive 1024 from 2
node 1: send 1024 to 2 [1], receive 1024 from 0
node 2: send 1024 to 0 [2], receive 1024 from 1

step 1
node 0: send 1024 to 1 [2], receive 1024 from 2
node 1: send 1024 to 2 [0], receive 1024 from 0
node 2: send 1024 to 0 [1], receive 1024 from 1

end
"""


def short(node, out):
    yield


def nothing(node, mine, out):
    return
    yield


class Texts(unittest.TestCase):
    def test_a_ring(self):
        schedule = wc.record(textbook.ring, "ring:3", "allgather")
        self.assertEqual(schedule.text, RING_3)
        self.assertEqual((schedule.on, schedule.nodes, schedule.steps, schedule.operation, schedule.arguments, schedule.parts, schedule.commutative),
                         ("ring:3", 3, 2, "allgather", {}, 1, False))
        self.assertEqual(schedule.messages()[0], (0, 0, 1, 1024, "0"))
        self.assertEqual(repr(schedule), "<Schedule of allgather on ring:3: 2 steps>")

    def test_parts_words_and_the_end(self):
        schedule = wc.record(textbook.ring_sum, "ring:2", "allreduce", parts=2, commutative=True, block=8, about="a sum")
        self.assertEqual(schedule.text, """wormcube schedule 2
topology ring:2
operation allreduce
block 8
parts 2
commutative
about a sum
steps 2

step 0
node 0: send 4 to 1 [0/0], receive 4 from 1
node 1: send 4 to 0 [1/1], receive 4 from 0

step 1
node 0: combine 4 [1/1+0/1], send 4 to 1 [{1 0}/1], receive 4 from 1
node 1: combine 4 [0/0+1/0], send 4 to 0 [{0..1}/0], receive 4 from 0

end
""")

    def test_phases_rearranging_and_nodes_that_end_early(self):
        def program(node, mine, out):
            node.phase("all of it")
            out[0] = mine
            if node.rank == 0:
                node.rearrange(16)
                yield node.send(1, mine)
                yield node.send(2, mine)
            elif node.rank == 1:
                out[0] = yield node.receive(0)
            else:
                yield
                out[0] = yield node.receive(0)
        text = wc.record(program, "line:3", "broadcast", block=16).text
        self.assertIn("phase 0..1 all of it\n", text)
        self.assertIn("node 0: rearrange 16, send 16 to 1 [0]\n", text)
        self.assertIn("step 1\nnode 0: send 16 to 2 [0]\nnode 1: end\n", text)
        self.assertEqual(wc.Schedule.parse(text).text, text)

    def test_relative_lines_are_read(self):
        text = RING_3.split("step 0")[0] + ("step 0\nnodes 0..2: send 1024 to +1 [+0], receive 1024 from -1\n"
                                            "step 1\nnodes 0..2: send 1024 to +1 [-1], receive 1024 from -1\nend\n")
        self.assertEqual(wc.Schedule.parse(text).text, RING_3)

    def test_a_wrong_line_is_named(self):
        with self.assertRaises(wc.TextError) as caught:
            wc.Schedule.parse(RING_3.replace("send 1024 to 1 [2]", "sent 1024 to 1 [2]"), "my file")
        self.assertEqual(str(caught.exception), "my file:13: send, receive, rearrange, combine or end expected, not 'sent 1024 to 1 [2]'")
        self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaisesRegex(wc.TextError, "^x:1: the first line of a schedule is 'wormcube schedule 2'$"):
            wc.Schedule.parse("", "x")


class Faults(unittest.TestCase):
    """Each sentence of NodeError, with its node and step."""

    def fails(self, program, sentence, on="ring:6", operation="allgather", **options):
        with self.assertRaises(wc.NodeError) as caught:
            wc.record(program, on, operation, **options)
        self.assertEqual(str(caught.exception), sentence)
        return caught.exception

    def test_a_send_that_nobody_receives(self):
        def program(node, mine, out):
            yield node.send(node.right, mine) if node.rank == 0 else None
        self.fails(program, "node 0, step 0: sends to node 1, which receives nothing")

    def test_a_send_to_a_node_that_receives_from_others(self):
        def program(node, mine, out):
            if node.rank in (0, 4):
                yield node.send(5, mine)
            elif node.rank == 5:
                yield node.receive(4)
            else:
                yield
        error = self.fails(program, "node 0, step 0: sends to node 5, which does not receive from node 0")
        self.assertEqual([(message.source, message.to) for message in error.schedule.messages()], [(0, 5), (4, 5)])
        self.assertEqual((error.command, error.code), ("", None))

        def tags(node, mine, out):
            yield (node.send(1, mine), node.send(1, mine, tag=2)) if node.rank == 0 else node.receive(0, tag=2) if node.rank == 1 else None
        self.fails(tags, "node 0, step 0: sends to node 1, which does not receive from node 0 with tag 0")

        def twice(node, mine, out):
            yield [node.send(1, mine)] * 2 if node.rank == 0 else node.receive(0) if node.rank == 1 else None
        self.fails(twice, "node 0, step 0: sends to node 1, which receives fewer messages from node 0")

    def test_a_receive_that_nobody_sends(self):
        def program(node, mine, out):
            yield
            yield node.receive(0, tag=7) if node.rank == 1 else None
        self.fails(program, "node 1, step 1: receives from node 0 with tag 7, which sends it nothing")

    def test_peers_that_do_not_exist(self):
        def program(node, mine, out):
            yield node.send(9, mine)
        self.fails(program, "node 0, step 0: sends to node 9 of 6")

        def to_itself(node, mine, out):
            yield node.receive(node.rank)
        self.fails(to_itself, "node 0, step 0: receives from itself")

    def test_something_else_is_yielded(self):
        def program(node, mine, out):
            yield 3
        self.fails(program, "node 0, step 0: yields 3, neither a send nor a receive")

    def test_results_that_are_missing_or_wrong(self):
        self.fails(nothing, "node 0, step 0: ends without its block 0")

        def wrong(node, mine, out):
            out[:] = [mine] * node.size
            return
            yield
        self.fails(wrong, "node 0, step 0: ends with 0 as its block 1; expected 1")

        def too_late(node, mine, out):
            out[node.rank] = mine
            out[node.right] = yield node.send(node.right, mine), node.receive(node.left)
        self.fails(too_late, "node 0, step 1: ends with 2 as its block 1; expected 1; node 2 sent 2 in step 0", on="ring:3")

        def not_yielded(node, mine, out):
            out[0] = node.receive(node.left)
            yield
        self.fails(not_yielded, "node 0, step 1: ends with <receive from 5> as its block 0, which is not a block")

        def data(node, mine, out):
            out[0] = "a"
            return
            yield
        self.fails(data, "node 0, step 0: ends with 'a' as its block 0, which is not a block")

        def appended(node, mine, out):
            out.append(mine)
            return
            yield
        self.fails(appended, "node 0, step 0: ends with 7 blocks in its result, not 6: fill the places, do not append")

    def test_the_programs_own_exception_is_the_cause(self):
        def program(node, mine, out):
            yield
            out[7 if node.rank == 3 else 0] = mine
            yield
        error = self.fails(program, "node 3, step 1: IndexError: list assignment index out of range")
        self.assertIsInstance(error.__cause__, IndexError)

    def test_combinations(self):
        def order(node, mine, out):
            got = yield node.exchange(node.rank ^ 1, mine)
            out[0] = node.combine(max(mine, got, key=str), min(mine, got, key=str))
        self.fails(order, "node 0, step 1: combines 1 with 0: lower ranks must be on the left, unless record(.., commutative=True)",
                   on="ring:2", operation="allreduce")

        def twice(node, mine, out):
            out[0] = node.combine(mine, mine)
            return
            yield
        self.fails(twice, "node 0, step 0: combines 0 with 0: node 0's twice", on="ring:2", operation="allreduce", commutative=True)

        def no_block(node, mine, out):
            out[0] = node.combine(mine, None)
            return
            yield
        self.fails(no_block, "node 0, step 0: combines None, which is not a block", on="ring:2", operation="allreduce")

    def test_parts(self):
        def program(node, mine, out):
            mine.split(3)
            yield
        self.fails(program, "node 0, step 0: splits 0 of 4 parts into 3: record(.., parts=P) needs a multiple of 3", parts=4)

    def test_a_program_without_an_end(self):
        def program(node, mine, out):
            while True:
                yield
        self.fails(program, "node 0, step 100: still running; most_steps is 100", most_steps=100)

    def test_the_lowest_step_and_rank_is_named(self):
        def program(node, mine, out):
            for _ in range(node.size - node.rank):
                yield
            raise KeyError("x")
        self.fails(program, "node 5, step 1: KeyError: 'x'")


class Refusals(unittest.TestCase):
    def refused(self, sentence, program, *words, **options):
        with self.assertRaises(wc.UsageError) as caught:
            wc.record(program, *words, **options)
        self.assertEqual(str(caught.exception), sentence)

    def test_what_record_refuses(self):
        def function(node, mine, out):
            return None
        ring = textbook.ring
        self.refused("function is not a generator function: it has no yield", function, "ring:4", "allgather")
        self.refused("allgather has no argument 'root'", ring, "ring:4", "allgather", root=1)
        self.refused("root 4 is out of range; nodes are 0 to 3", textbook.tree, "ring:4", "broadcast", root=4)
        self.refused("the node program has no parameter 'hops'", ring, "ring:4", "allgather", options={"hops": 2})
        self.refused("a node program has the parameters (node, given, result), and those of options; short has (node, out): too many positional arguments",
                     short, "ring:4", "allgather")
        self.refused("allgather combines nothing: leave out commutative", ring, "ring:4", "allgather", commutative=True)
        self.refused("sizes: node 1 gives 1 block, and sizes[1] is None", ring, "ring:4", "allgatherv", sizes=[8])
        with self.assertRaisesRegex(wc.UsageError, r"^unknown operation 'allgathr' \(did you mean 'allgather'\?\); available: broadcast reduce allgather"):
            wc.record(ring, "ring:4", "allgathr")

    def test_permutations(self):
        def rotate(node, mine, out):
            out[0] = yield [node.send((node.rank + 1) % 3, mine), node.receive((node.rank - 1) % 3)]
        schedule = wc.record(rotate, "ring:3", "permute", permutation=[1, 2, 0])
        self.assertIn("operation permute permutation 1,2,0\n", schedule.text)
        self.refused("permutation: 1 is repeated, as the image of nodes 0 and 2; the first missing number is 2", rotate, "ring:3", "permute",
                     permutation=[1, 0, 1])
        self.refused("the permutation has 2 images for 3 nodes; give one for each node", rotate, "ring:3", "permute", permutation="1,0")
        self.refused("shuffle needs an even number of nodes, not 3", rotate, "ring:3", "permute", permutation="shuffle")

    def test_a_network_is_a_text_a_topology_or_a_graph(self):
        self.refused("a network is a text, a Topology or a networkx graph, not int", textbook.ring, 4, "allgather")


class Data(unittest.TestCase):
    """apply(): lists and texts are data too, so it needs no numpy."""

    def test_blocks_and_lists_of_blocks(self):
        gathered = wc.record(textbook.bruck, "ring:5", "allgather").apply(list("abcde"))
        self.assertEqual(gathered, [list("abcde")] * 5)
        exchanged = wc.record(textbook.exchange, "ring:3", "alltoall").apply([["aa", "ab", "ac"], ["ba", "bb", "bc"], ["ca", "cb", "cc"]])
        self.assertEqual(exchanged[1], ["ab", "bb", "cb"])

    def test_an_operator_and_its_order(self):
        done = wc.record(textbook.reduce_in_order, "line:5", "reduce").apply(list("abcde"), lambda left, right: left + right)
        self.assertEqual(done, ["abcde", None, None, None, None])
        scanned = wc.record(textbook.scan, "hypercube:2", "scan").apply(list("abcd"), lambda left, right: left + right)
        self.assertEqual(scanned, ["a", "ab", "abc", "abcd"])

    def test_parts_are_cut_and_joined(self):
        done = wc.record(textbook.pipeline, "line:3", "broadcast", parts=4).apply(["abcdefg", None, None])
        self.assertEqual(done, ["abcdefg"] * 3)

    def test_what_is_refused(self):
        ring = wc.record(textbook.ring, "ring:3", "allgather")
        with self.assertRaisesRegex(wc.UsageError, "^2 inputs for 3 nodes$"):
            ring.apply(["a", "b"])
        with self.assertRaisesRegex(wc.UsageError, "^inputs is NoneType; expected a list with one input for each of 3 nodes$"):
            ring.apply(None)
        with self.assertRaisesRegex(wc.UsageError, r"^allreduce combines: apply\(inputs, operator\)$"):
            wc.record(textbook.allreduce_doubling, "ring:2", "allreduce").apply(["a", "b"])
        with self.assertRaisesRegex(wc.Error, "^step 1, node 0: sends 1 to 1, which it does not hold$"):
            wc.Schedule.parse(RING_3.replace("to 1 [2]", "to 1 [1]")).apply(["a", "b", "c"])
        halves = wc.record(textbook.halving, "hypercube:1", "reduce_scatter").text.replace("combine 1024 [0.0+1.0]", "combine 1024 [0.1+1.0]")
        with self.assertRaisesRegex(wc.Error, "^end, node 0: combines 0.1 with 1.0: not the same block and part$"):
            wc.Schedule.parse(halves).apply([["a", "b"], ["c", "d"]], lambda left, right: left + right)
        with self.assertRaisesRegex(wc.Error, "^node 0 ends without 1, its block 1$"):
            wc.Schedule.parse(RING_3.replace("to 0 [1]", "to 0 [2]")).apply(["a", "b", "c"])


class Names(unittest.TestCase):
    def test_every_public_name_has_help(self):
        self.assertEqual(list(wc.__all__), sorted(wc.__all__))
        for name in wc.__all__:
            self.assertTrue(getattr(wc, name).__doc__, name)
        for kind in (wc.Schedule, wc.Node, wc.Topology, wc.Result, wc.Results, wc.Block, wc.Page):
            for name, member in vars(kind).items():
                if not name.startswith("_") and (callable(member) or isinstance(member, (property, classmethod))):
                    self.assertTrue((member.__func__ if isinstance(member, classmethod) else member).__doc__, f"{kind.__name__}.{name}")
        for name in ("rank", "size", "left", "right", "topology"):
            self.assertTrue(wc.Node.__slots__[name], name)
        self.assertIn("`sizes`", wc.Topology.__doc__)
        for name in textbook.__all__:
            self.assertTrue(getattr(textbook, name).__doc__, name)
