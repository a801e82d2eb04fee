#!/usr/bin/env python3
"""What mpirun reports after a run: JSON against docs/schemas, counts, the matrix, the text.

usage: report_test.py WORMCUBE FOLDER   where FOLDER has the compiled programs
"""
# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import jsonschema
except ImportError:
    jsonschema = None

PROGRAM = FOLDER = ""
SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "docs" / "schemas"


def run(arguments, code=0):
    done = subprocess.run([PROGRAM, "mpirun", *arguments.split()], cwd=FOLDER, encoding="utf-8", timeout=100, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == code, done.stderr
    return done


def run_json(arguments, code=0):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.json")
        run(f"--json {path} {arguments}", code)
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


class Report(unittest.TestCase):
    def check(self, document):
        if jsonschema is None:
            return
        texts = [(SCHEMAS / name).read_text(encoding="utf-8").replace("common.json#", "#") for name in ("mpirun.json", "common.json")]
        schema, common = map(json.loads, texts)
        schema["$defs"].update(common["$defs"])
        jsonschema.validate(document, schema)

    def test_locks_of_all_are_taken_where_they_are_used(self):
        ranks, epochs = 32, 10
        document = run_json(f"-n {ranks} ./lock_all")
        self.assertGreater(document["messages"], ranks * epochs * 5)  # its own lock and that of the next, each also given back; the access
        self.assertLess(document["messages"], ranks * epochs * ranks)

    def test_a_run_that_ends(self):
        document = run_json("--on ring:3 ./hello word")
        self.check(document)
        self.assertEqual((document["topology"], document["ranks"], document["exit_code"], document["ended_by"]), ("ring:3", 3, 0, None))
        self.assertEqual(document["calls"], {"MPI_Init": 3, "MPI_Comm_rank": 3, "MPI_Comm_size": 3, "MPI_Finalize": 3, "MPI_Send": 2, "MPI_Recv": 2,
                                             "MPI_Get_count": 2})
        self.assertEqual([(each["rank"], each["messages"], each["bytes"]) for each in document["by_rank"]], [(0, 0, 0), (1, 1, 32), (2, 1, 32)])
        for each in document["by_rank"]:
            self.assertGreater(each["inside_us"], 0)
            self.assertGreaterEqual(each["outside_us"], 0)
        self.assertEqual(sum(each["polls"] for each in document["by_rank"]), 0)
        self.assertGreater(document["messages"], 2)  # the end is a barrier
        self.assertEqual(document["bytes"], 64)

    def test_a_run_that_is_ended(self):
        document = run_json("-n 4 ./wrong wrong_tag", 3)
        self.check(document)
        self.assertTrue(document["ended_by"].startswith("deadlock: all 4 ranks wait"))
        self.assertIsNone(document["messages"])
        document = run_json("-n 4 --strict ./wrong left_over", 1)
        self.check(document)
        self.assertEqual(len(document["left"]), 4)

    def test_a_place_is_looked_up_once(self):
        with tempfile.TemporaryDirectory() as folder:
            asked = pathlib.Path(folder) / "asked"
            tool = pathlib.Path(folder) / "addr2line"
            tool.write_text(f'#!/bin/sh\necho "$@" >> {asked}\necho here.c:7\n', encoding="utf-8")
            tool.chmod(0o755)
            done = subprocess.run([PROGRAM, "mpirun", "-n", "200", "./wrong", "wrong_tag"], cwd=FOLDER, encoding="utf-8", timeout=100,
                                  stdin=subprocess.DEVNULL, capture_output=True, env=dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"))
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn("here.c:7", done.stderr)
            # 200 ranks have a copy of the program each, and wait in a call or two of it.
            lines = asked.read_text(encoding="utf-8").splitlines()
            self.assertLessEqual(len(lines), 2)
            self.assertEqual(len(lines), len(set(lines)))

    def test_rows_of_many_ranks_stay_narrow(self):
        rows = run("-n 200 ./wrong every_other", 3).stderr.splitlines()[2:4]
        self.assertRegex(rows[0], r"^0,2,4,[0-9,]+,\.\. \(100\)  MPI_Recv ")
        self.assertRegex(rows[1], r"^1,3,5,[0-9,]+,\.\. \(100\)  MPI_Recv ")
        self.assertLess(max(map(len, rows)), 120)

    def test_algorithms_are_reported(self):
        document = run_json("--on torus:4x4 --algorithm alltoall=suh-torus,allreduce=mesh ./collectives")
        self.check(document)
        by_name = {each["name"]: each for each in document["communicators"]}
        world = by_name["MPI_COMM_WORLD"]
        self.assertTrue(world["is_network"])
        for choice in world["collectives"]:
            if choice["operation"] == "alltoall":
                self.assertTrue(choice["asked_for"])
                self.assertTrue(choice["algorithm"].startswith("suh-torus"))
            if choice["operation"] == "barrier":
                self.assertFalse(choice["asked_for"])
        part = by_name["part 1 of MPI_COMM_WORLD"]
        self.assertFalse(part["is_network"])
        self.assertFalse(any(choice["algorithm"].startswith("suh-torus") for choice in part["collectives"]))

    def test_the_least_work_is_chosen(self):
        with_formula = run_json("--on torus:8x8 ./collectives")
        with_work = run_json("--on torus:8x8 --cost work ./collectives")
        chosen = []
        for document in (with_formula, with_work):
            self.check(document)
            world = {each["name"]: each for each in document["communicators"]}["MPI_COMM_WORLD"]
            chosen.append({(each["operation"], each["bytes"]): each["algorithm"] for each in world["collectives"]})
        self.assertEqual((with_formula["cost"], with_work["cost"]), ("formula", "work"))
        self.assertNotEqual(chosen[0], chosen[1])
        done = run("--on torus:8x8 --cost work --report ./collectives")
        self.assertRegex(done.stderr, r"MPI_COMM_WORLD +64 +allreduce +\d+ +\S+ +auto by work +\d+\b")

    def test_the_matrix(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "matrix.csv")
            run(f"--on ring:3 --matrix {path} ./hello word")
            rows = [[int(cell) for cell in line.split(",")] for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
        self.assertEqual(rows, [[0, 0, 0], [32, 0, 0], [32, 0, 0]])

    def test_the_report(self):
        done = run("--on ring:3 --report ./hello word")
        self.assertIn("# mpirun: 3 ranks on ring:3", done.stderr)
        self.assertRegex(done.stderr, r"MPI_Send +2\b")
        self.assertRegex(done.stderr, r"MPI_COMM_WORLD +3 +barrier +0 +\S+ +auto +3\b")
        self.assertNotIn("#", done.stdout)


    def test_a_grid(self):
        document = run_json("--on mesh:4x4 ./grid")
        self.check(document)
        grids = [each["grid"] for each in document["communicators"] if "grid" in each]
        self.assertIn({"sides": "16", "hops": 1.0, "hops_max": 1}, grids)  # a ring of all, reordered
        self.assertIn({"sides": "16", "hops": 30 / 16, "hops_max": 6}, grids)  # as they are: 12 of 1 hop, 3 of 4, one of 6

    def recorded(self, arguments, code=0):
        """The trace's events and the schedule's lines of a run."""
        with tempfile.TemporaryDirectory() as folder:
            trace, schedule = os.path.join(folder, "trace.json"), os.path.join(folder, "schedule.txt")
            run(f"--trace {trace} --write-schedule {schedule} {arguments}", code)
            checked = subprocess.run([PROGRAM, "check", "--schedule", schedule, "--json", "-"], encoding="utf-8", timeout=100, stdout=subprocess.PIPE, check=False)
            self.assertIn(checked.returncode, (0, 1))
            subprocess.run([PROGRAM, "replay", "--schedule", schedule, "--quiet"], timeout=100, stdout=subprocess.DEVNULL, check=True)
            return json.loads(pathlib.Path(trace).read_text(encoding="utf-8"))["traceEvents"], pathlib.Path(schedule).read_text(encoding="utf-8")

    @staticmethod
    def steps_of(schedule, count):
        """By step, the (from, to) of messages of this many bytes."""
        steps = []
        for line in schedule.splitlines():
            if line.startswith("step "):
                steps.append(set())
            if line.startswith("node ") and steps:
                node, ops = line[len("node "):].split(": ")
                for op in ops.split(", "):
                    words = op.split()
                    if words[0] == "send" and int(words[1]) == count:
                        steps[-1].add((int(node), int(words[3])))
        return [step for step in steps if step]

    def check_arrows(self, events):
        """Each arrow goes forward in time, from a call of one rank into a call of another, or itself, or to an access; returns their number."""
        calls = [each for each in events if each["ph"] == "X" and each["cat"] in ("call", "access")]
        starts = {each["id"]: each for each in events if each["ph"] == "s"}
        ends = {each["id"]: each for each in events if each["ph"] == "f"}
        self.assertEqual(starts.keys(), ends.keys())
        for number, start in starts.items():
            self.assertLessEqual(start["ts"], ends[number]["ts"])
            for end in (start, ends[number]):
                self.assertTrue(any(call["tid"] == end["tid"] and call["ts"] <= end["ts"] + 0.001 and end["ts"] <= call["ts"] + call["dur"] + 0.001 for call in calls))
        return len(starts)

    def test_a_chain_takes_a_step_for_each_message(self):
        events, schedule = self.recorded("--on ring:5 ./recorded chain")
        self.assertEqual(self.steps_of(schedule, 64), [{(0, 1)}, {(1, 2)}, {(2, 3)}, {(3, 4)}])
        arrows = self.check_arrows(events)
        slices = [each for each in events if each["ph"] == "X" and each["cat"] == "message"]
        self.assertEqual(len(slices), arrows)
        self.assertEqual(sorted(each["name"] for each in slices if each["args"]["bytes"] == 64), [f"from {rank}" for rank in range(4)])
        names = [each["args"]["name"] for each in events if each["name"] == "thread_name"]
        self.assertEqual(names, [f"rank {rank}" for rank in range(5)])

    def test_what_is_under_way_together_is_one_step(self):
        for options in ("--on ring:4", "--on ring:4 --eager 0 --workers 2"):
            _, schedule = self.recorded(f"{options} ./recorded exchange")
            both_ways = {(rank, (rank + way) % 4) for rank in range(4) for way in (1, 3)}
            self.assertEqual(self.steps_of(schedule, 64), [both_ways] * 3)

    def test_accesses_are_recorded(self):
        events, schedule = self.recorded("--on ring:3 ./recorded accesses")
        self.check_arrows(events)
        slices = [each for each in events if each["ph"] == "X" and each["cat"] == "access"]
        found = sorted((each["tid"] - 1, each["name"], each["args"]["bytes"]) for each in slices)
        self.assertEqual(found, [(0, "to 1", 64), (1, "MPI_Put by 0", 64), (1, "to 2", 0), (1, "to 2", 0), (1, "to 2", 32), (2, "MPI_Accumulate by 2", 16),
                                (2, "MPI_Get by 1", 32), (2, "MPI_Win_lock by 1", 0), (2, "MPI_Win_unlock by 1", 0), (2, "to 2", 16)])
        put = next(each for each in slices if each["args"]["bytes"] == 64 and each["tid"] == 1)
        call = next(each for each in events if each["name"] == "MPI_Put")
        self.assertTrue(call["ts"] <= put["ts"] and put["ts"] + put["dur"] <= call["ts"] + call["dur"] + 0.001)
        arrows = {each["id"]: each["tid"] for each in events if each["ph"] == "s"}
        ends = {each["id"]: each for each in events if each["ph"] == "f"}
        by_access = {(arrows[number], end["tid"]) for number, end in ends.items() for each in slices if each["tid"] == end["tid"] and each["ts"] == end["ts"]}
        self.assertTrue({(1, 2), (2, 3), (3, 3)} <= by_access)
        for count, ends_of_message in ((64, (0, 1)), (32, (1, 2)), (16, (2, 2))):
            self.assertEqual(self.steps_of(schedule, count), [{ends_of_message}])
        steps = schedule.split("\nstep ")
        of_put, of_get = (next(i for i, step in enumerate(steps) if f"send {count} to" in step) for count in (64, 32))
        self.assertLess(of_put, of_get)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "matrix.csv")
            run(f"--on ring:3 --matrix {path} ./recorded accesses")
            rows = [[int(cell) for cell in line.split(",")] for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
        self.assertEqual(rows, [[0, 64, 0], [0, 0, 32], [0, 0, 16]])

    def test_what_is_not_recorded(self):
        events, schedule = self.recorded("--on ring:3 ./recorded marked")
        self.assertEqual(len(self.steps_of(schedule, 64)), 1)
        self.assertEqual(len([each for each in events if each["name"] == "MPI_Sendrecv"]), 3)
        self.assertEqual(len([each for each in events if each["ph"] == "i"]), 9)

    def test_modelled_clocks(self):
        chain = run("--on ring:5 --clock steps ./recorded timed").stdout.split()
        self.assertEqual(sorted(chain), ["0", "1", "2", "3", "4"])
        again = [run(f"--on ring:5 --workers {workers} --clock model --compute-speed 0 --ts 10 --tw 0.01 --hop 2 ./recorded timed").stdout for workers in (1, 2)]
        # 64 bytes a hop: 10 + 2 + 0.64 us each, and a microsecond for each rank's own look.
        self.assertEqual(sorted(again[0].split(), key=float), [f"{each:.2f}" for each in (1, 13.64, 26.28, 38.92, 51.56)])
        self.assertEqual(sorted(again[0].split()), sorted(again[1].split()))
        put = [run(f"--on ring:3 --clock {clock} ./recorded timed_put").stdout for clock in ("steps", "model --compute-speed 0 --ts 10 --tw 0.01 --hop 2")]
        self.assertEqual(put, ["1.00\n", "12.64\n"])
        document = run_json("--on ring:5 --clock steps ./recorded chain")
        self.check(document)
        self.assertEqual((document["clock"], document["model_us"]), ("steps", None))
        self.assertGreater(document["longest_chain"], 4)  # and the end is a barrier

    def test_a_deadlock_is_recorded(self):
        events, _ = self.recorded("-n 4 ./wrong wrong_tag", 3)
        self.assertEqual(len([each for each in events if each.get("args") == {"returned": False}]), 4)

    def test_collectives_are_recorded(self):
        events, schedule = self.recorded("--on torus:2x2 --algorithm alltoall=shift ./collectives")
        self.assertGreater(self.check_arrows(events), 100)
        self.assertTrue(schedule.startswith("wormcube schedule 1\ntopology torus:2x2\n"))


if __name__ == "__main__":
    PROGRAM, FOLDER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
