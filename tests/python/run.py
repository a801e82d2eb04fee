#!/usr/bin/env python3
"""Runs a file of tests of the Python package.

usage: run.py PROGRAM FILE [--plain] [TEST..]

PROGRAM is wormcube; FILE is a name in this folder, without .py. --plain: numpy, pandas and networkx cannot be imported.
"""
# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "python"), str(HERE)]
sys.dont_write_bytecode = True

if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--plain"]
    if len(words) < 2:
        sys.exit(__doc__)
    os.environ["WORMCUBE"] = str(pathlib.Path(words[0]).resolve())
    import support
    if "--plain" in sys.argv:
        support.block_imports()
    unittest.main(module=words[1], argv=["run.py", *words[2:]], verbosity=1)
