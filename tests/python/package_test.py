"""Types, version, and installations without a network."""
# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import support
import wormcube as wc

PACKAGE = support.ROOT / "python"
TRY = "import wormcube as wc; print(wc.check('allgather', 'ring:6', 'ring')[0].startups, wc.program.find(), wc.__file__)"


def run(*words, **options):
    """The output of a command that must succeed."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", **options)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, words))}\n{done.stdout}")
    return done.stdout


class Package(unittest.TestCase):
    def test_the_version_is_the_programs(self):
        self.assertEqual(run(os.environ["WORMCUBE"], "--version").split()[1], wc.__version__)

    def test_the_schema_is_the_programs(self):
        printed = json.loads(run(os.environ["WORMCUBE"], "machines", "t3d", "--json", "-"))
        schema = (printed[0] if isinstance(printed, list) else printed)["provenance"]["schema"]
        self.assertLessEqual(wc.program.SCHEMAS[0], schema)
        self.assertEqual(wc.program.SCHEMAS[1], schema)

    @unittest.skipUnless(shutil.which("mypy"), "mypy is missing")
    def test_types(self):
        with tempfile.TemporaryDirectory() as cache:
            self.assertIn("Success", run("mypy", "--cache-dir", cache, cwd=PACKAGE))

    @unittest.skipUnless(support.has("ensurepip"), "venv is missing (apt install python3-venv)")
    def test_pip_installs_it_without_a_network(self):
        with tempfile.TemporaryDirectory(prefix="it's \"a\" folder ") as folder:
            tree = pathlib.Path(folder) / "my tree"  # with a program where a build puts it
            shutil.copytree(PACKAGE, tree / "python", ignore=shutil.ignore_patterns("__pycache__", ".mypy_cache"))
            (tree / "CMakeLists.txt").write_text("# a checkout\n")
            (tree / "build/release").mkdir(parents=True)
            os.symlink(os.environ["WORMCUBE"], tree / "build/release/wormcube")
            environment = {name: value for name, value in os.environ.items() if name not in ("WORMCUBE", "PYTHONPATH")}
            environment.update(PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1", http_proxy="http://127.0.0.1:9", https_proxy="http://127.0.0.1:9")
            run(sys.executable, "-m", "venv", os.path.join(folder, "venv"), env=environment)
            python = os.path.join(folder, "venv", "bin", "python")
            for words in ((str(tree / "python"),), ("-e", str(tree / "python"))):
                run(python, "-m", "pip", "install", *words, env=environment, cwd=folder)
                startups, rest = run(python, "-c", TRY, env=environment, cwd=folder).split(" ", 1)
                self.assertEqual(startups, "5")
                self.assertTrue(rest.startswith(str(tree / "build/release/wormcube")), rest)
                self.assertIn(wc.__version__, run(python, "-m", "pip", "show", "wormcube", env=environment))
                run(python, "-m", "pip", "uninstall", "-y", "wormcube", env=environment)

    def test_the_archive_of_sources_builds_the_wheel(self):
        with tempfile.TemporaryDirectory() as folder:
            code = ("import sys; sys.dont_write_bytecode = True; sys.path.insert(0, 'backend'); import wormcube_build as b; "
                    f"print(b.build_sdist({folder!r}), b.build_wheel({folder!r}))")
            archive, wheel = run(sys.executable, "-c", code, cwd=PACKAGE).split()
            shutil.unpack_archive(os.path.join(folder, archive), folder)
            run(sys.executable, "-c", code.replace("b.build_sdist", "len"), cwd=os.path.join(folder, archive[:-len(".tar.gz")]))
            names = zipfile.ZipFile(os.path.join(folder, wheel)).namelist()
            self.assertIn("wormcube/py.typed", names)
            self.assertNotIn("wormcube/checkout.txt", names)


@unittest.skipUnless(os.environ.get("WORMCUBE_INSTALLED"), "nothing is installed")
class Installed(unittest.TestCase):
    """In the folder of `cmake --install`."""

    def test_it_is_installed_beside_the_program(self):
        prefix = pathlib.Path(os.environ["WORMCUBE_INSTALLED"])
        found = list(prefix.glob("lib/python*/*-packages/wormcube/__init__.py"))
        self.assertEqual(len(found), 1, list(prefix.glob("lib/*")))
        environment = {**os.environ, "PYTHONPATH": str(found[0].parents[1]), "PATH": f"{prefix}/bin:{os.environ['PATH']}"}
        del environment["WORMCUBE"]
        self.assertEqual(run(sys.executable, "-B", "-c", TRY, env=environment, cwd="/").split(), ["5", f"{prefix}/bin/wormcube", str(found[0])])
        self.assertEqual(list(found[0].parent.rglob("__pycache__")), [])
