"""The package with the program, and with programs that die, hang, or are another version."""
# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import unittest

import support
import wormcube as wc
from support import Fake, needs, row
from wormcube import textbook

INTERRUPTED = """
import sys, time
sys.path.insert(0, {package!r})
import wormcube as wc
wc.program.path = {path!r}
wc.program.GRACE = 1.0
try:
    wc.run("allgather", "ring:4", progress=lambda result: print("row", flush=True))
except KeyboardInterrupt as stopped:
    print(len(stopped.results), "kept")
"""


class Commands(unittest.TestCase):
    def test_check(self):
        results = wc.check("allgather", "ring:6", "ring")
        one, = results
        self.assertIsInstance(one, wc.Check)
        self.assertEqual((one.operation, one.algorithm, one.topology, one.nodes, one.startups, one.passed), ("allgather", "ring", "ring:6", 6, 5, True))
        self.assertEqual(one.json()["startups"], 5)
        self.assertEqual(one.extra, {})
        self.assertIs(one.require(), one)
        self.assertIs(results.require(), results)
        self.assertIn("<th>startups</th>", results._repr_html_())
        self.assertIn("allgather", str(one))

    def test_lists_of_networks_and_options(self):
        results = wc.check("alltoall", ["ring:4", "ring:5"], "shift", bytes=64, ports="one")
        self.assertEqual([result.nodes for result in results], [4, 5])
        self.assertEqual(list(results.by("topology")), ["ring:4", "ring:5"])
        self.assertEqual([result.nodes for result in results.where(lambda result: result.nodes > 4)], [5])

    def test_iterables_of_sizes(self):
        for sizes in (range(64, 192, 64), (size for size in (64, 128))):
            self.assertEqual([result.block_bytes for result in wc.replay("allgather", "ring:4", "ring", bytes=sizes)], [64, 128])
        if support.has("numpy"):
            import numpy
            self.assertEqual(len(wc.replay("allgather", "ring:4", "ring", bytes=numpy.array([64, 128]))), 2)
        with self.assertRaisesRegex(wc.UsageError, "has a NUL character"):
            wc.check("allgather", "ring:4\0")
        with self.assertRaisesRegex(wc.UsageError, "^bytes is empty: give at least one value, or leave it out$"):
            wc.check("allgather", "ring:4", bytes=[])

    def test_what_is_no_operation(self):
        schedule = wc.record(textbook.ring, "ring:4", "allgather")
        with self.assertRaisesRegex(wc.UsageError, r"^draw: an operation is a name such as 'allgather', not a Schedule; for a schedule: schedule.draw\(\)$"):
            wc.draw(schedule, "ring:8")

    def test_run(self):
        one, = wc.run("allreduce", "ring:4", "recursive-doubling", bytes=64, iterations=3, operator="sum", in_place=True, require=True)
        self.assertIsInstance(one, wc.Run)
        self.assertTrue(one.passed)
        self.assertGreater(one.time_median_us, 0)

    def test_best_replay_algorithms_machines_topology(self):
        best, = wc.best("alltoall", "torus:4x4", bytes=1024, ports="one")
        self.assertTrue(any(best.winner.startswith(row.algorithm) for row in best.ranking))
        replayed, = wc.replay("allgather", "ring:4", "ring", machine="t3d")
        self.assertGreater(replayed.time_ps, 0)
        self.assertEqual((replayed.passed, replayed.require(), wc.Results([replayed]).passed), (None, replayed, None))
        self.assertEqual(wc.Results([best]).require(), [best])
        self.assertIn(f"runner_up {best.ranking[1].algorithm}", str(best))
        with self.assertRaisesRegex(wc.UsageError, r"^Best has no key 'winer' \(did you mean 'winner'\?\)$"):
            wc.Results([best]).by("winer")
        self.assertIn("ring", [each.algorithm for each in wc.algorithms("allgather", "ring:4") if each.admitted])
        self.assertIn("t3d", [machine.name for machine in wc.machines()])
        torus = wc.topology("torus:4x4")
        self.assertEqual((torus.nodes, torus.diameter, torus.sizes, len(torus.cables)), (16, 4, (4, 4), 32))
        self.assertEqual((torus.coordinates(7), torus.neighbour(7, 1, 1), torus.rank((1, 3))), ((1, 3), 4, 7))

    def test_reproduce(self):
        rows = wc.reproduce("suh")
        self.assertGreater(len(rows), 0)

    def test_pages_and_pictures(self):
        page = wc.draw("allgather", "ring:4", "ring")
        self.assertIn("<!doctype html>", page.html[:200].lower())
        self.assertTrue(page._repr_html_().startswith('<iframe srcdoc="'))
        picture = wc.plot(wc.run("allgather", "ring:4", "ring", bytes=[8, 64], iterations=1))
        self.assertIn("<svg", picture.svg[:1000])
        self.assertIn('src="data:image/svg+xml;base64,', picture._repr_html_())
        one, = wc.run("allgather", "ring:4", "ring", bytes=8, iterations=1)
        self.assertIn("<svg", wc.plot(one, [one]).svg)
        schedule = wc.record(textbook.ring, "ring:4", "allgather")
        for what, sentence in ((schedule, r"^plot\(\) takes results of .* or reproduce, not a Schedule; for a schedule: plot\(schedule\.run\(bytes=\[8, 512\]\)\)$"),
                               ([], "^nothing to plot: there are no results$")):
            with self.assertRaisesRegex(wc.Error, sentence):
                wc.plot(what)
        with self.assertRaisesRegex(wc.UsageError, "^plot: argument 1 has 0 results with times;"):
            wc.plot(schedule.check())
        with tempfile.TemporaryDirectory() as folder:
            for what, name, sentence in ((picture, "x.html", "cannot save 'x.html': a picture is saved as .svg, .pdf or .png; "
                                                             "plot(.., html=True) makes a page"),
                                         (page, "x.svg", "cannot save 'x.svg': a page is saved as .html"),
                                         (page, "/no/x.html", "cannot write '/no/x.html': No such file or directory"),
                                         (picture, "/no/x.svg", "cannot write '/no/x.svg': No such file or directory")):
                with self.assertRaises(wc.Error) as caught:
                    what.save(name)
                self.assertEqual(str(caught.exception), sentence)
            picture.save(os.path.join(folder, "plot.svg"))
            with open(os.path.join(folder, "plot.svg"), encoding="utf-8") as file:
                self.assertEqual(file.read(), picture.svg)
            if shutil.which("rsvg-convert"):
                picture.save(os.path.join(folder, "plot.pdf"))
                with open(os.path.join(folder, "plot.pdf"), "rb") as file:
                    self.assertEqual(file.read(5), b"%PDF-")
            page.save(os.path.join(folder, "a b.html"))
            with open(os.path.join(folder, "a b.html"), encoding="utf-8") as file:
                self.assertEqual(file.read(), page.html)

    @needs("numpy")
    def test_fft_and_transpose(self):
        import numpy
        data = numpy.arange(64.0).reshape(8, 8)
        turned, result = wc.transpose(data, on="ring:4")
        self.assertTrue(result.passed and (turned == data.T).all())
        spectrum, result = wc.fft(data.astype(complex), on="ring:4")
        self.assertTrue(result.passed and numpy.allclose(spectrum, numpy.fft.fft2(data)))

    @needs("pandas")
    def test_frames(self):
        frame = wc.check("alltoall", "ring:5", "all").frame()
        self.assertEqual(list(frame[["algorithm", "startups"]].columns), ["algorithm", "startups"])
        self.assertEqual(wc.record(textbook.ring, "ring:4", "allgather").frame().groupby("step").bytes.sum().tolist(), [4096] * 3)

    @needs("networkx")
    def test_graphs(self):
        import networkx
        graph = wc.topology("torus:4x4").graph()
        self.assertEqual((networkx.diameter(graph), graph.nodes[7]["coordinates"], graph.edges[0, 1]), (4, (1, 3), {"dimension": 1, "hops": 1}))
        schedule = wc.record(textbook.tree, networkx.petersen_graph(), "broadcast")
        self.assertTrue(schedule.on.startswith("graph:"))
        self.assertEqual(schedule.graph().number_of_edges(), 9)
        found, = wc.check("broadcast", networkx.petersen_graph(), "binomial")
        self.assertTrue(found.passed)
        with self.assertRaisesRegex(wc.UsageError, r"convert_node_labels_to_integers\(graph\)$"):
            wc.check("broadcast", networkx.grid_graph((2, 2)))

    def test_what_optional_libraries_are_for(self):
        for module, call in (("pandas", lambda: wc.machines().frame()), ("networkx", lambda: wc.topology("ring:4").graph()),
                             ("numpy", lambda: wc.transpose([[1.0]]))):
            if not support.has(module):
                with self.assertRaisesRegex(wc.Error, rf"^\w+\(\) needs {module}: apt install python3-{module}, or pip install {module}$"):
                    call()

    def test_shown_schedules_are_those_of_the_program(self):
        schedule = wc.show("allgather", "ring:4", "ring")
        self.assertEqual((schedule.nodes, schedule.steps, len(schedule.messages())), (4, 3, 12))

    def test_files(self):
        with tempfile.TemporaryDirectory(prefix="it's \"a\" folder ") as folder:
            path = os.path.join(folder, "a ring.txt")
            schedule = wc.record(textbook.ring, "ring:4", "allgather")
            schedule.write(path)
            self.assertEqual(wc.Schedule.read(path).text, schedule.text)
            with open(path, "w", encoding="utf-8") as file:
                file.write("# no header\nwormcube schedule 2\ntopology ring:4\nstep 0\n")
            with self.assertRaisesRegex(wc.TextError, "a ring.txt:3: the header has no 'steps'$"):
                wc.Schedule.read(path)
            with open(path, "w", encoding="utf-8") as file:
                file.write("<!-- no schedule -->")
            with self.assertRaisesRegex(wc.TextError, "a ring.txt:1: not XML"):
                wc.Schedule.read(path)
            with self.assertRaisesRegex(wc.Error, "^cannot read '.*no such file': No such file or directory$"):
                wc.Schedule.read(os.path.join(folder, "no such file"))

    @support.needs_proof
    def test_other_formats_are_written_and_read_again(self):
        schedule = wc.record(textbook.ring, "ring:4", "allgather")
        with tempfile.TemporaryDirectory(prefix="it's \"a\" folder ") as folder:
            for name, beginning in (("goal", "num_ranks 4\n"), ("msccl", "<algo name=")):
                path = os.path.join(folder, f"a ring.{name}")
                schedule.convert(name, path)
                with open(path, encoding="utf-8") as file:
                    self.assertTrue(file.read().startswith(beginning), name)
                again = wc.Schedule.read(path)
                self.assertEqual((again.nodes, again.steps, [(message.source, message.to) for message in again.messages()]),
                                 (4, 3, [(message.source, message.to) for message in schedule.messages()]))
            self.assertEqual((again.operation, again.require(ports="all").messages), ("allgather", 12))  # MSCCL XML has names
            schedule.convert("chakra", os.path.join(folder, "a ring"))  # a file for each node
            self.assertEqual(sorted(name for name in os.listdir(folder) if name.endswith(".et")), [f"a ring.{node}.et" for node in range(4)])
            sent = [(message.step, message.source, message.to, message.bytes) for message in schedule.messages()]
            for name in ("a ring", "a ring.2.et"):
                again = wc.Schedule.read(os.path.join(folder, name))
                self.assertEqual([(message.step, message.source, message.to, message.bytes) for message in again.messages()], sent, name)
                self.assertEqual((again.nodes, again.operation, again.name), (4, None, name))
            os.remove(os.path.join(folder, "a ring.3.et"))
            with self.assertRaisesRegex(wc.UsageError, "a ring: rank 0, node 1: comm_src 3; expected 0 to 2$"):
                wc.Schedule.read(os.path.join(folder, "a ring"))
            schedule.convert("c", os.path.join(folder, "ring.c"))
            self.assertIn("int MPI_Allgather(", pathlib.Path(folder, "ring.c").read_text(encoding="utf-8"))

    @support.needs_proof
    def test_other_formats_that_cannot_be_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kept")
            with open(path, "w", encoding="utf-8") as file:
                file.write("before")
            for name, sentence in (("xml", "unknown format 'xml': convert() writes 'goal', 'msccl', 'c', 'chakra', write() writes text 2"),
                                   ("msccl", "MSCCL XML has allreduce, allgather, alltoall and reduce_scatter; this is broadcast")):
                with self.subTest(name), self.assertRaises(wc.UsageError) as caught:
                    wc.record(textbook.tree, "ring:4", "broadcast").convert(name, path)
                self.assertEqual(str(caught.exception), sentence)
            with self.assertRaisesRegex(wc.UsageError, r"cannot write '.*no folder/ring\.0\.et'"):
                wc.record(textbook.tree, "ring:4", "broadcast").convert("chakra", os.path.join(folder, "no folder", "ring"))
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read(), "before")

    def test_threads(self):
        found = []
        threads = [threading.Thread(target=lambda n=n: found.append(wc.check("allgather", f"ring:{n}", "ring")[0].startups)) for n in range(3, 7)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(found), [2, 3, 4, 5])


COMPARED = {"operation": "allgather", "topology": "ring:4", "nodes": 4, "arguments": {}, "cost": "formula", "cost_model": {}, "crossovers": [],
            "explanation": ["ring: fewer bytes"], "sizes": [{"block_bytes": 8, "fastest": "ring", "margin": 2.0, "calls": [
                {"algorithm": "ring", "time_us": 1.5}, {"algorithm": "bruck", "time_us": 3.0}]}],
            "provenance": {"schema": 3, "version": "0.1.0", "command": "wormcube compare", "settings": {"algorithm": ["ring", "bruck"]}}}


class Comparisons(unittest.TestCase):
    def look_at(self, compared):
        self.assertEqual(list(compared.rows()[0]), ["block_bytes", "ring", "bruck", "fastest"])
        self.assertIn("<svg", compared.plot().svg)
        self.assertIn("<th>bruck (us)</th>", compared._repr_html_())
        self.assertGreater(len(compared.explanation), 0)
        self.assertIn(compared.explanation[0], str(compared))
        if support.has("pandas"):
            self.assertEqual(compared.frame().shape, (len(compared.sizes), 4))

    def test_what_compare_writes(self):
        swing = {"sizes": [{"block_bytes": 8, "fastest": "swing", "margin": 2.0, "calls": [
            {"algorithm": "swing", "options": {"form": form}, "time_us": time} for form, time in (("latency", 3.0), ("parts", 1.5))]}]}
        given = {"provenance": {**COMPARED["provenance"], "settings": {"algorithm": ["swing:form=latency", "swing:form=parts"]}}}
        self.assertEqual(wc.Comparison.from_json({**COMPARED, **swing, **given}).rows(),
                         [{"block_bytes": 8, "swing:form=latency": 3.0, "swing:form=parts": 1.5, "fastest": "swing:form=parts"}])
        script = f"""while [ "$1" != --plot ]; do shift; done\necho '<svg/>' > "$2"\necho '{json.dumps(COMPARED)}'\n"""
        with Fake(script):
            compared = wc.compare("allgather", "ring:4", ["ring", "bruck"], bytes=8)
        self.look_at(compared)
        self.assertEqual(compared.rows(), [{"block_bytes": 8, "ring": 1.5, "bruck": 3.0, "fastest": "ring"}])

    @unittest.skipIf("unknown" in support.said("compare", "--help") or "Subcommands" in support.said("compare", "--help"), "the program has no command compare")

    def test_a_figure_names_no_temporary_file(self):
        schedule = wc.show("allgather", "ring:4", "bruck", bytes=8)
        drawn = wc.compare("allgather", "ring:4", ["ring", schedule], bytes=[8, 64]).plot().svg
        self.assertIn("wormcube compare allgather", drawn)
        self.assertNotIn(tempfile.gettempdir(), drawn)

    def test_the_program(self):
        compared = wc.compare("allgather", "ring:6", ["ring", "bruck"], bytes=[8, 4096])
        self.look_at(compared)
        self.assertEqual(shlex.split(compared.provenance["command"])[1:], "compare allgather --on ring:6 --algorithm ring,bruck --bytes 8,4096".split())
        schedule = wc.record(textbook.bruck, "ring:6", "allgather")
        for compared in (wc.compare("allgather", "ring:6", ["ring", schedule], bytes=8), wc.compare("allgather", "ring:6", "ring", bytes=8, schedule=schedule)):
            self.assertEqual((list(compared.rows()[0]), compared.rows()[0]["fastest"]), (["block_bytes", "ring", "schedule", "fastest"], "schedule"))
        with self.assertRaisesRegex(wc.UsageError, "^compare takes one schedule, not 2$"):
            wc.compare("allgather", "ring:6", ["ring", schedule, schedule])


class Errors(unittest.TestCase):
    def test_usage(self):
        with self.assertRaises(wc.UsageError) as caught:
            wc.check("alltoall", "torus:6x6", "suh-torus")
        error = caught.exception
        self.assertIsInstance(error, ValueError)
        self.assertEqual(error.code, 2)
        self.assertIn("must be a multiple of 4; torus:6x6 has 6", str(error))
        self.assertFalse(str(error).startswith("wormcube"))
        again = subprocess.run(error.command, shell=True, capture_output=True, encoding="utf-8")
        self.assertEqual((again.returncode, again.stderr.strip()), (2, f"wormcube: {error}"))

    def test_words_that_look_like_options(self):
        with self.assertRaisesRegex(wc.UsageError, "--no-such-option"):
            wc.check("allgather", "ring:4", no_such_option=True)

    def test_commands_and_sentences_name_no_temporary_file(self):
        schedule = wc.Schedule.parse(wc.record(textbook.ring, "ring:3", "allgather").text.replace("to 1 [2]", "to 1 [0]"))
        with tempfile.TemporaryDirectory(prefix="it's a folder ") as folder:
            path = os.path.join(folder, "a ring.txt")
            for name in ("SCHEDULE.txt", path):
                for call in (schedule.run, schedule.draw):
                    with self.assertRaises(wc.UsageError) as caught:
                        call()
                    self.assertTrue(str(caught.exception).startswith(f"{name}: the schedule does not perform allgather: "), caught.exception)
                    self.assertIn(f" --schedule {shlex.quote(name)}", caught.exception.command)
                    self.assertFalse(caught.exception.command.endswith("-"), caught.exception.command)
                schedule.write(path)
            self.assertEqual(wc.Schedule.read(path).name, "a ring.txt")
            again = subprocess.run(caught.exception.command, shell=True, capture_output=True, encoding="utf-8")
            self.assertEqual((again.returncode, again.stderr.splitlines()[0]), (2, f"wormcube: {caught.exception}"))
        found = wc.record(textbook.ring, "ring:3", "allgather").check()
        self.assertEqual(shlex.split(found.provenance.command)[1:], ["check", "--schedule", "SCHEDULE.txt", "--ports", "auto"])
        with self.assertRaisesRegex(wc.Error, "^cannot write '/no/ring.txt': No such file or directory$"):
            schedule.write("/no/ring.txt")

    def test_a_time_limit(self):
        with self.assertRaises(wc.TimeLimit) as caught:
            wc.run("alltoall", "torus:8x8", "shift", bytes="64K", iterations=100000, time_limit=1)
        self.assertIsInstance(caught.exception, TimeoutError)
        self.assertEqual(caught.exception.code, 4)

    def test_a_graph_file_with_blanks_and_quotes(self):
        with tempfile.TemporaryDirectory(prefix="it's \"a\" folder ") as folder:
            path = os.path.join(folder, "a graph.txt")
            with open(path, "w", encoding="utf-8") as file:
                file.write("0 1\n1 2\n2 0\n")
            self.assertEqual(wc.topology(f"graph:{path}").nodes, 3)
            schedule = wc.record(textbook.ring, f"graph:{path}", "allgather")
            self.assertEqual(wc.Schedule.parse(schedule.text).text, schedule.text)

    def test_no_program(self):
        given, where = os.environ.pop("WORMCUBE"), os.environ["PATH"]
        here = wc.program.__file__
        try:
            os.environ["PATH"] = "/nowhere"
            wc.program.__file__ = "/nowhere/wormcube/program.py"
            with self.assertRaises(wc.Error) as caught:
                wc.machines()
            self.assertEqual(str(caught.exception), "no program 'wormcube': build it (./run build), install it, or set WORMCUBE")
            os.environ["WORMCUBE"] = "/no/such program"
            with self.assertRaises(wc.Error) as caught:
                wc.machines()
            self.assertEqual(str(caught.exception), "cannot run '/no/such program': No such file or directory; "
                                                    "build it (./run build), install it, or set WORMCUBE")
        finally:
            os.environ.update(WORMCUBE=given, PATH=where)
            wc.program.__file__ = here


class Fakes(unittest.TestCase):
    """Programs that do not behave."""

    def fails(self, script, kind, sentence, rows=0):
        with Fake(script):
            with self.assertRaises(kind) as caught:
                wc.run("allgather", "ring:4")
        self.assertEqual(str(caught.exception), sentence)
        self.assertEqual(len(caught.exception.results), rows)
        return caught.exception

    def test_it_dies(self):
        self.fails(f"echo '{row()}'\nkill -9 $$\n", wc.Stopped, "SIGKILL ended the program", rows=1)
        self.fails("echo 'wormcube: memory is scarce' >&2\nkill -ABRT $$\n", wc.Stopped, "SIGABRT ended the program; it said: memory is scarce")
        self.fails("exit 7\n", wc.Error, "the program ended with exit code 7 and printed no error")

    def test_exit_codes(self):
        self.fails("echo 'wormcube: a first' >&2; echo 'wormcube: no such thing' >&2; exit 2\n", wc.UsageError, "no such thing")
        self.fails(f"echo '{row()}'; echo 'wormcube: deadlock: 4 of 4 nodes wait' >&2; exit 3\n", wc.Deadlock, "deadlock: 4 of 4 nodes wait", rows=1)
        self.fails("echo 'wormcube: stopped' >&2; exit 143\n", wc.Stopped, "stopped")

    def test_half_a_line(self):
        half = row()[:40]
        self.fails(f"echo '{row()}'\nprintf '%s' '{half}'\n", wc.Error, f"the program's output ends within a line: {half!r}", rows=1)
        self.fails(f"printf '%s' '{half}'\nkill -9 $$\n", wc.Stopped, "SIGKILL ended the program")

    def test_what_is_no_json(self):
        with Fake("echo hello\n") as fake:
            with self.assertRaisesRegex(wc.Error, "printed a line that is not a JSON object: 'hello'$"):
                wc.machines()
            fake.folder  # the folder has blanks and quotes
        with Fake("echo '{}'\n"):
            with self.assertRaisesRegex(wc.Error, "printed JSON without the number of its schema; is it wormcube\\?$"):
                wc.machines()

    def test_another_version(self):
        for schema, sentence in ((2, "writes JSON of schema 2, this package reads 3: the program is older; rebuild it"),
                                 (9, "writes JSON of schema 9, this package reads 3: this package is older; install the program's own")):
            with Fake(f"echo '{row(schema)}'\n"):
                with self.assertRaises(wc.Error) as caught:
                    wc.run("allgather", "ring:4")
            self.assertTrue(str(caught.exception).endswith(sentence), caught.exception)

    def test_keys_of_a_newer_program_are_kept(self):
        with Fake(f"echo '{row(colour='red')}'\n"):
            one, = wc.run("allgather", "ring:4")
        self.assertEqual((one.extra, one.json()["colour"]), ({"colour": "red"}, "red"))

    def test_a_wrong_result_is_a_result(self):
        wrong = row(passed=False, failures=["node 2: byte 7 is wrong"])
        with Fake(f"echo '{wrong}'\nexit 1\n"):
            one, = wc.run("allgather", "ring:4")
            self.assertIs(one.passed, False)
            for call in (one.require, lambda: wc.run("allgather", "ring:4", require=True)):
                with self.assertRaises(wc.Failed) as caught:
                    call()
                self.assertEqual((str(caught.exception), len(caught.exception.results)), ("node 2: byte 7 is wrong", 1))

    def test_much_on_both_streams(self):
        with Fake(f"for i in $(seq 3000); do echo 'wormcube: a note of some length, {'x' * 60}' >&2; done\necho '{row()}'\n"):
            self.assertEqual(len(wc.run("allgather", "ring:4")), 1)

    def test_40_000_rows(self):
        with Fake(f"yes '{row()}' | head -n 40000\n"):
            results = wc.run("allgather", "ring:4")
        self.assertEqual(len(results), 40000)
        self.assertTrue(results.passed)
        self.assertEqual(len(str(results).splitlines()), 40001)

    def test_progress(self):
        seen = []
        with Fake(f"""echo '{row()}'; read answer < "$(dirname "$0")/answer"; echo '{row(topology='ring:5')}'\n""") as fake:
            answer = os.path.join(fake.folder.name, "answer")
            os.mkfifo(answer)

            def take(result):
                if not seen:  # the program waits: it prints the next row when this one has been seen
                    with open(answer, "w", encoding="utf-8") as file:
                        file.write("go\n")
                seen.append(result.topology)
            wc.run("allgather", "ring:4", progress=take)
            self.assertEqual(seen, ["ring:4", "ring:5"])
        with Fake(f"echo '{row()}'\n"):
            def failing(result):
                raise RuntimeError("enough")
            with self.assertRaisesRegex(RuntimeError, "^enough$"):
                wc.run("allgather", "ring:4", progress=failing)


class Interrupts(unittest.TestCase):
    """Ctrl-C in Python ends the program too."""

    def started(self, code):
        """Python that runs this code, and heeds Ctrl-C even if these tests run in the background of a shell; stopped at its first row."""
        child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, encoding="utf-8",
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.addCleanup(child.stdout.close)
        self.assertEqual(child.stdout.readline(), "row\n")
        return child

    def interrupted(self, script):
        with Fake(script) as fake:
            code = INTERRUPTED.format(package=str(support.ROOT / "python"), path=fake.path)
            child = self.started(code)
            child.send_signal(signal.SIGINT)
            output = child.communicate(timeout=60)[0]
            marker = os.path.join(fake.folder.name, "pid")
            with open(marker, encoding="utf-8") as file:
                pid = int(file.read())
            with self.assertRaises(ProcessLookupError):
                os.kill(pid, 0)
        return output

    def test_a_program_that_ends_with_rows(self):
        script = f"""echo $$ > "$(dirname "$0")/pid"\ntrap 'echo '\\''{row()}'\\''; exit 130' INT\necho '{row()}'\nwhile :; do sleep 0.1; done\n"""
        self.assertEqual(self.interrupted(script), "2 kept\n")

    def test_a_program_that_hangs_is_killed(self):
        script = f"""trap '' INT\necho $$ > "$(dirname "$0")/pid"\necho '{row()}'\nexec sleep 100\n"""
        self.assertEqual(self.interrupted(script), "1 kept\n")

    def test_a_program_whose_child_holds_the_output_is_killed_with_it(self):
        script = f"""trap '' INT\necho $$ > "$(dirname "$0")/pid"\necho '{row()}'\nsleep 100\n"""
        self.assertEqual(self.interrupted(script), "1 kept\n")

    def test_a_program_that_hangs_after_its_output(self):
        script = f"""trap '' INT\necho $$ > "$(dirname "$0")/pid"\necho '{row()}'\nexec >&- 2>&-\nexec sleep 100\n"""
        self.assertEqual(self.interrupted(script), "1 kept\n")

    def test_the_real_program(self):
        code = INTERRUPTED.format(package=str(support.ROOT / "python"), path=os.environ["WORMCUBE"])
        code = code.replace('"ring:4", ', '"ring:4", "ring", bytes=[8, 64, 512, 4096], iterations=200000, ').replace("GRACE = 1.0", "GRACE = 30.0")
        child = self.started(code)
        child.send_signal(signal.SIGINT)
        self.assertRegex(child.communicate(timeout=120)[0], r"^(row\n)*[1-3] kept\n$")


class Proofs(unittest.TestCase):
    """By the program, which reads text 2."""

    @support.needs_proof
    def test_a_proof(self):
        schedule = wc.record(textbook.ring, "ring:6", "allgather")
        found = schedule.require()
        self.assertEqual((found.startups, found.messages, found.passed, found.exactly_once), (5, 30, True, True))
        built_in, = wc.check("allgather", "ring:6", "ring")
        self.assertEqual(found.startups, built_in.startups)

    @support.needs_proof
    def test_a_finding(self):
        text = wc.record(textbook.ring, "ring:3", "allgather").text.replace("to 1 [2]", "to 1 [0]")
        schedule = wc.Schedule.parse(text)
        self.assertIs(schedule.check().passed, False)
        with self.assertRaises(wc.Failed) as caught:
            schedule.require()
        self.assertEqual(str(caught.exception), "node 1 ends without 2, its block 2")
        self.assertEqual(len(caught.exception.results), 1)

    @support.needs_proof
    def test_several_ports(self):
        def both_ways(node, mine, out):
            out[node.rank] = mine
            got = yield node.send(node.right, mine), node.send(node.left, mine), node.receive(node.left), node.receive(node.right)
            out[node.left], out[node.right] = got
        schedule = wc.record(both_ways, "ring:3", "allgather")
        with self.assertRaises(wc.Failed) as caught:
            schedule.require(ports="one")
        self.assertEqual(str(caught.exception),
                         'step 0: node 0 sends 2 messages, and nodes have one port: require(ports="all") gives each one per link')
        self.assertEqual(str(schedule.check(ports="one")).splitlines()[1:], ["step 0: node 0 sends 2 messages"])
        self.assertTrue(schedule.require(ports="all").passed)
        self.assertEqual(schedule.require().ports, "all")

    @support.needs_proof
    def test_another_operation(self):
        with self.assertRaisesRegex(wc.UsageError, "^root: arguments need as_, the operation that they belong to$"):
            wc.record(textbook.ring, "ring:3", "allgather").check(root=1)
        self.assertTrue(wc.record(textbook.ring, "ring:3", "allgather").check(as_="gather", root=1).passed)

    @support.needs_proof
    def test_a_replay(self):
        replayed = wc.record(textbook.ring, "ring:4", "allgather").replay(machine="t3d")
        self.assertGreater(replayed.time_ps, 0)
        self.assertRegex(str(replayed), r"^operation allgather  schedule ring  topology ring:4  block_bytes 1024  time_ps \d+  ")

    @support.needs_proof
    def test_a_plot_has_a_line_for_each_schedule(self):
        schedules = [wc.record(program, "ring:4", "allgather") for program in (textbook.ring, textbook.bruck)]
        replays = [schedule.replay(bytes=[64, 512]) for schedule in schedules]
        self.assertEqual([(replay.schedule, replay.block_bytes) for those in replays for replay in those],
                         [(name, size) for name in ("ring", "bruck") for size in (64, 512)])
        plotted = wc.plot(replays).svg
        self.assertIn(">ring<", plotted)
        self.assertIn(">bruck<", plotted)
        self.assertNotIn(">schedule<", plotted)
        self.assertNotRegex(plotted, r"/wormcube-\w{8}/")
        self.assertIn(">bruck<", wc.plot([schedule.replay(machine="t3d") for schedule in schedules]).svg)
        self.assertIn(">bruck (schedule)<", wc.plot(replays, wc.replay("allgather", "ring:4", "bruck", bytes=[64, 512])).svg)

    @support.takes_schedules("run")
    def test_a_run(self):
        ran = wc.record(textbook.ring, "ring:4", "allgather").run(bytes=64, iterations=3, require=True)
        self.assertEqual((ran.passed, ran.algorithm, ran.source), (True, "ring", "SCHEDULE.txt"))
        several = wc.record(textbook.ring, "ring:4", "allgather").run(bytes=[64], iterations=1)
        self.assertEqual([result.block_bytes for result in several], [64])

    def test_a_player(self):
        schedule = wc.record(textbook.ring, "ring:4", "allgather")
        drawn = schedule.draw().text
        self.assertIn('"algorithm":"ring"', drawn)
        self.assertIn("<h1>allgather on ring:4, ring</h1>", drawn)
        self.assertNotRegex(drawn, r"/wormcube-\w{8}/")
        self.assertIn("<svg", schedule.picture(2).svg)
        self.assertTrue(schedule._repr_html_().startswith("<iframe"))
        schedule.page_limit = 10
        self.assertEqual(schedule._repr_html_().count("data:image/svg+xml"), 3)

    def test_without_the_program_a_notebook_shows_the_messages(self):
        schedule = wc.record(textbook.ring, "ring:12", "allgather")
        wc.program.path = "/no/such/program"
        try:
            shown = schedule._repr_html_()
        finally:
            wc.program.path = None
        self.assertIn("<th>bytes</th>", shown)
        self.assertIn("32 more messages", shown)
