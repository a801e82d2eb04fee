#!/usr/bin/env python3
"""What mpirun tells after a run: JSON against docs/schemas, counts, the matrix, the report's words.

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

    def test_a_run_that_ends(self):
        document = run_json("--on ring:3 ./hello word")
        self.check(document)
        self.assertEqual((document["topology"], document["ranks"], document["exit_code"], document["ended_by"]), ("ring:3", 3, 0, None))
        self.assertEqual(document["calls"], {"MPI_Init": 3, "MPI_Comm_rank": 3, "MPI_Comm_size": 3, "MPI_Finalize": 3, "MPI_Send": 2, "MPI_Recv": 2,
                                             "MPI_Get_count": 2})
        self.assertEqual(document["sent"], [{"rank": 0, "messages": 0, "bytes": 0}, {"rank": 1, "messages": 1, "bytes": 32},
                                            {"rank": 2, "messages": 1, "bytes": 32}])
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

    def test_algorithms_are_told(self):
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


if __name__ == "__main__":
    PROGRAM, FOLDER = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
