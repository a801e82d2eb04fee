#!/usr/bin/env python3
"""examples.py: right examples pass, and each kind of wrong one is detected."""
# SPDX-License-Identifier: Apache-2.0
import pathlib
import tempfile
import unittest

import examples


def wrongs(text):
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder, "document.md")
        document.write_text(text, encoding="utf-8")
        return examples.run(document, pathlib.Path(folder))


def console(*lines, mark=""):
    return "\n".join([mark, "```console", *lines, "```", ""])


class Examples(unittest.TestCase):
    def test_right_ones_pass(self):
        self.assertEqual(wrongs(console("$ echo 'a   b'", "a b")), [])
        self.assertEqual(wrongs(console("$ printf 'a\\nb\\nc\\nd\\n'", "a", "...", "d")), [])
        self.assertEqual(wrongs(console("$ echo a b c", "a b ..")), [])
        self.assertEqual(wrongs(console("$ echo took 3.5 us", "took 12 us", mark="<!-- times -->")), [])
        self.assertEqual(wrongs("```text in.txt\nhello\n```\n" + console("$ cat in.txt", "hello")), [])
        self.assertEqual(wrongs(console("$ true    # a comment")), [])

    def test_other_output_is_seen(self):
        for command, line in [("echo a", "b"), ("echo a b", "a"), ("printf 'a\\nb\\n'", "a"), ("echo 3", "4"),
                              ("echo b a", "b b .."), ("true", "a")]:
            self.assertEqual(len(wrongs(console("$ " + command, line))), 1, command)

    def test_masks_hide_numbers_only(self):
        self.assertEqual(len(wrongs(console("$ echo took 3 ms", "took 3 us", mark="<!-- times -->"))), 1)
        self.assertEqual(len(wrongs(console("$ echo torus:8x8", "torus:4x4", mark="<!-- times -->"))), 1)

    def test_times_without_a_machine_are_seen(self):
        block = console("$ echo wall time 3 us", "wall time 4 us", mark="<!-- times -->")
        self.assertEqual(len(wrongs(block)), 1)
        self.assertEqual(wrongs("Measured on 2 cores:\n\n" + block), [])

    def test_a_failing_command_is_seen(self):
        self.assertEqual(len(wrongs(console("$ false"))), 1)
        self.assertEqual(len(wrongs(console("$ echo a; false", "..."))), 1)
        self.assertEqual(wrongs(console("$ echo wormcube: no; false", "wormcube: no")), [])

    def test_a_document_without_examples_is_seen(self):
        self.assertEqual(len(wrongs("text\n")), 1)
        self.assertEqual(len(wrongs(console("$ false", mark="<!-- not run -->"))), 1)


if __name__ == "__main__":
    unittest.main()
