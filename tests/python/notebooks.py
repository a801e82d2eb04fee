#!/usr/bin/env python3
"""Runs a notebook as a script.

usage: notebooks.py NOTEBOOK OUTPUT     write it with its outputs; `jupyter nbconvert --to html OUTPUT` makes a page of it
"""
# SPDX-License-Identifier: Apache-2.0
import ast
import contextlib
import io
import json
import pathlib
import sys


def cells(path):
    """The code cells."""
    notebook = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    return notebook, [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def shown(value):
    """What a notebook shows of a value."""
    html = {"text/html": value._repr_html_()} if hasattr(value, "_repr_html_") else {}
    return {"text/plain": repr(value), **html}


def run(path, namespace=None):
    """Runs all cells; the notebook, with its outputs."""
    notebook, code = cells(path)
    namespace = {"__name__": "notebook"} if namespace is None else namespace
    for number, cell in enumerate(code, 1):
        tree = ast.parse("".join(cell["source"]))
        last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed, cell["outputs"] = io.StringIO(), []
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, f"cell {number}", "exec"), namespace)
            value = None if last is None else eval(compile(last, f"cell {number}", "eval"), namespace)
        if printed.getvalue():
            cell["outputs"].append({"output_type": "stream", "name": "stdout", "text": printed.getvalue()})
        if value is not None:
            cell["outputs"].append({"output_type": "execute_result", "execution_count": number, "metadata": {}, "data": shown(value)})
        cell["execution_count"] = number
    return notebook


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pathlib.Path(sys.argv[2]).write_text(json.dumps(run(sys.argv[1])), encoding="utf-8")
