"""What the tests of the Python package share."""
# SPDX-License-Identifier: Apache-2.0
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIONAL = ("numpy", "pandas", "networkx")
blocked = False


class _Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in OPTIONAL:
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        return None


def block_imports():
    """As on a machine without numpy, pandas and networkx."""
    global blocked
    blocked = True
    sys.meta_path.insert(0, _Blocker())


def has(module):
    """Whether a module can be imported."""
    try:
        __import__(module)
    except ImportError:
        return False
    return True


def needs(module):
    """Skips a test where a module is missing."""
    return unittest.skipUnless(has(module), f"{module} is missing")


def said(*words):
    """What the program prints, right or wrong."""
    done = subprocess.run([os.environ["WORMCUBE"], *words], capture_output=True, encoding="utf-8")
    return done.stdout + done.stderr


@functools.lru_cache(maxsize=None)
def proves_names():
    """Whether the program proves schedules by the names of their values (text 2)."""
    text = "wormcube schedule 2\ntopology ring:2\noperation barrier\nsteps 1\nstep 0\nnodes 0..1: send 0 to +1, receive 0 from -1\nend\n"
    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False) as file:
        file.write(text)
    done = subprocess.run([os.environ["WORMCUBE"], "check", "--schedule", file.name], capture_output=True, encoding="utf-8")
    os.unlink(file.name)
    return done.returncode == 0


def takes_schedules(command):
    """Skips a test where a command takes no schedule with names."""
    return unittest.skipUnless(proves_names() and "--schedule" in said(command, "--help"), f"{command} takes no schedule with names")


def needs_proof(test):
    """Skips a test where the program does not read text 2."""
    return unittest.skipUnless(proves_names(), "the program does not read schedules with names")(test)


def row(schema=3, **more):
    """A line of JSON, as a program may print it."""
    return json.dumps({"operation": "allgather", "topology": "ring:4", "passed": True, **more,
                       "provenance": {"schema": schema, "version": "0.1.0", "command": "wormcube run"}})


class Fake:
    """A program for a test: a shell script in a folder whose name has blanks and quotes."""

    def __init__(self, script):
        self.folder = tempfile.TemporaryDirectory(prefix="it's \"a\" folder ")
        self.path = os.path.join(self.folder.name, "worm cube")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(self.path, 0o755)

    def __enter__(self):
        import wormcube
        wormcube.program.path = self.path
        return self

    def __exit__(self, *_):
        import wormcube
        wormcube.program.path = None
        self.folder.cleanup()
