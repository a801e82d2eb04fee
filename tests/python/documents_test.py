"""Every code block of the pages, the docstrings and the notebooks runs."""
# SPDX-License-Identifier: Apache-2.0
import contextlib
import doctest
import importlib
import io
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import notebooks
import support
import wormcube as wc
from cases import CASES, options_on
from wormcube import exercises, textbook
from wormcube.topology import network

GUIDE = support.ROOT / "docs/how-to/python.md"
SOLUTIONS = {1: "ring", 2: "doubling", 3: "tree", 4: "exchange", 5: "pairwise", 6: "pipeline", 7: "reduce_in_order", 8: "ring_sum", 9: "scan", 10: "torus"}
BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
SCRIPT = """<script>
const wait = setInterval(() => {
  const frames = [...document.querySelectorAll("iframe")], ready = frames.filter((frame) => frame.contentDocument?.body?.dataset.ready !== undefined);
  const broken = [...document.images].filter((image) => image.naturalWidth === 0);
  if (ready.length < frames.length) return;
  clearInterval(wait);
  document.title = `${ready.length} frames ready, ${broken.length} images broken`;
}, 200);
</script>"""


def blocks(path):
    """The Python blocks of a page: line, code, and the text block right below, if there is one."""
    text = path.read_text(encoding="utf-8")
    for found in re.finditer(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", text, re.M | re.S):
        yield text.count("\n", 0, found.start()) + 2, found.group(1), found.group(2)


class Pages(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder.name)

    @support.needs_proof
    def test_the_guide(self):
        """A block that needs a library reports which, if the library is missing."""
        namespace = {}
        for line, code, expected in blocks(GUIDE):
            printed = io.StringIO()
            try:
                with contextlib.redirect_stdout(printed):
                    exec(compile("\n" * (line - 1) + code, str(GUIDE), "exec"), namespace)
            except wc.Error as error:
                if " needs " not in str(error) or support.has(str(error).split(" needs ")[1].split(":")[0]):
                    raise
                continue
            if expected is not None:
                self.assertEqual(printed.getvalue(), expected, f"{GUIDE.name}:{line}")

    def test_the_page_of_algorithms(self):
        """The programs on the page, pasted into a file of one's own, record what those of the package record."""
        namespace = {}
        with contextlib.redirect_stdout(io.StringIO()):
            for _, code, _ in blocks(support.ROOT / "docs/reference/python-algorithms.md"):
                exec(code, namespace)
        for name, operation, networks, options, _ in CASES:
            for on in networks.split():
                with self.subTest(name, on=on):
                    arguments = options_on(options, network(on).nodes)
                    self.assertEqual(wc.record(namespace[name], on, operation, **arguments).text,
                                     wc.record(getattr(textbook, name), on, operation, **arguments).text)

    def test_docstrings(self):
        attempted = 0
        for module in pkgutil.iter_modules(wc.__path__):
            result = doctest.testmod(importlib.import_module(f"wormcube.{module.name}"))
            self.assertEqual(result.failed, 0, module.name)
            attempted += result.attempted
        self.assertGreater(attempted, 3)


def left_ring(node, mine, out):
    out[node.rank] = held = mine
    for t in range(node.size - 1):
        held = yield node.send(node.left, held), node.receive(node.right)
        out[(node.rank + 1 + t) % node.size] = held


class Notebooks(unittest.TestCase):
    folder = support.ROOT / "python/notebooks"

    def test_they_are_stored_without_outputs(self):
        for path in self.folder.glob("*.ipynb"):
            for cell in notebooks.cells(path)[1]:
                self.assertEqual((cell["outputs"], cell["execution_count"]), ([], None), path.name)

    @support.needs_proof
    def test_the_example(self):
        outputs = [output for cell in notebooks.run(self.folder / "example.ipynb")["cells"] for output in cell.get("outputs", [])]
        printed = "".join(output.get("text", "") for output in outputs)
        self.assertIn("node 0, step 0: sends to node 1, which receives nothing", printed)
        self.assertIn("must be a multiple of 4; torus:6x6 has 6", printed)
        data = [output["data"] for output in outputs if "data" in output]
        self.assertEqual(sum("<table>" in one.get("text/html", "") for one in data), 4)
        self.assertTrue(any("<p>bruck up to " in one.get("text/html", "") for one in data))  # where they cross
        self.assertEqual(sum("data:image/svg+xml" in one.get("text/html", "") or "<iframe" in one.get("text/html", "") for one in data), 4)

    @unittest.skipIf(support.blocked, "nbconvert runs the kernel in a process of its own, which imports what is installed")
    @unittest.skipUnless(support.has("nbconvert") and support.has("ipykernel"), "nbconvert and ipykernel are missing")
    @support.needs_proof
    def test_nbconvert_executes_them(self):
        """The kernel listens on sockets in a folder: another program may take a port between its choice and its use."""
        environment = {**os.environ, "PYTHONPATH": str(support.ROOT / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
        for name in ("example", "exercises"):
            with tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--output-dir", folder,
                                       "--KernelManager.transport=ipc", f"--KernelManager.ip={folder}/kernel", self.folder / f"{name}.ipynb"],
                                      stderr=subprocess.STDOUT, stdout=subprocess.PIPE, encoding="utf-8", env=environment, timeout=900)
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertTrue(any(cell["outputs"] for cell in notebooks.cells(os.path.join(folder, f"{name}.ipynb"))[1]))

    @unittest.skipUnless(BROWSER, "chromium is missing")
    def test_what_notebooks_show_loads_in_a_browser_without_a_request(self):
        """Players, plots, tables, schedules and reports; light and dark."""
        unsolved = exercises.check(1, lambda node, mine, out: (yield))
        compared = wc.compare("allgather", "ring:4", ["ring", "bruck"], bytes=[8, 4096])
        values = [wc.topology("torus:4x4"), wc.check("allgather", "ring:4", ["ring", "bruck"]), wc.draw("allgather", "ring:4", "ring"), unsolved,
                  wc.plot(wc.algorithms("allgather", "ring:4")), compared, compared.plot(), wc.machines(),
                  wc.record(textbook.ring, "ring:4", "allgather")]
        page = "<!doctype html><title>loading</title><body>" + "<hr>".join(value._repr_html_() for value in values) + SCRIPT
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "outputs.html")
            with open(path, "w", encoding="utf-8") as file:
                file.write(page)
            for theme in ([], ["--blink-settings=preferredColorScheme=0"]):
                done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", "--disable-background-networking",
                                       "--host-resolver-rules=MAP * ~NOTFOUND", "--enable-logging=stderr", "--virtual-time-budget=60000", *theme, "--dump-dom",
                                       f"file://{path}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=300)
                self.assertRegex(done.stdout[:2000], '<title>[12] frames ready, 0 images broken</title>', done.stderr)
                self.assertNotIn("CONSOLE", done.stderr)

    def test_the_exercises_have_their_tasks(self):
        notebook, code = notebooks.cells(self.folder / "exercises.ipynb")
        text = "".join("".join(cell["source"]) for cell in notebook["cells"])
        for number, exercise in exercises.EXERCISES.items():
            self.assertIn(f"## {number}. {exercise.title}\n\n{exercise.task}\n", text)
            self.assertIn(f"check({number}, program_{number})", text)

    def test_unsolved_exercises_say_what_is_missing(self):
        for cell in notebooks.run(self.folder / "exercises.ipynb")["cells"][1:]:
            for output in cell.get("outputs", []):
                self.assertRegex(output["data"]["text/plain"], r"^Exercise \d+, .*: not yet\n  \S+: node \d, step 1: ends without its block 0\n  \S+: [^\n]*$")
                self.assertIn("not yet", output["data"]["text/html"])

    def test_errors_in_exercises_advise_what_students_can_do(self):
        def order(node, mine, result):
            got = yield node.exchange(node.rank ^ 1, mine) if node.rank < 2 else None
            result[0] = node.combine(max(mine, got, key=str), min(mine, got, key=str))
        report = exercises.check(7, order)
        self.assertEqual(report.sentences[0], "complete:7: node 0, step 1: combines 1 with 0: lower ranks must be on the left")
        self.assertEqual(len(report.schedules), 2)

    @support.needs_proof
    def test_solved_exercises_pass(self):
        for number, name in SOLUTIONS.items():
            with self.subTest(name):
                report = exercises.check(number, getattr(textbook, name))
                self.assertTrue(report.passed, str(report))
                for sentence in report.sentences:
                    self.assertRegex(sentence, r"^\S+: proved; \d+ start-ups \(goal \d+, bound \d+\), \S+ blocks transmitted \(bound \S+\)$")

    @support.needs_proof
    def test_solutions_that_are_right_but_slow_are_not_accepted(self):
        for number, program, sentence in ((2, textbook.ring, "it is right, but needs 7 start-ups, and 3 will do"),
                                          (1, textbook.bruck, "it is right, but a message travels 2 links: send to neighbours only"),
                                          (1, left_ring, "it is right, but step 0: node 0 sends to 5: send only to the neighbour on the right"),
                                          (2, textbook.bruck, "it is right, but step 0: node 0 sends to 7, which does not send to it"),
                                          (5, textbook.exchange, "it is right, but step 0: node 0 sends to 1, which does not send to it"),
                                          (4, textbook.bruck_exchange, "it is right, but transmits 5 blocks, and 4 will do")):
            with self.subTest(number):
                report = exercises.check(number, program)
                self.assertFalse(report.passed)
                self.assertIn(sentence, str(report))


