#!/usr/bin/env python3
"""sentences.py must see what it is for: long sentences, long averages, refused words; and leave code alone."""
# SPDX-License-Identifier: Apache-2.0
import sys

from sentences import faults, sentences

LONG = "Word" + " word" * 35 + "."
CASES = [  # text, a part of each fault
    ("A short sentence.", []),
    (LONG, ["36 words"]),
    ("First. " + LONG + " Last.", ["36 words"]),
    ("* An item.\n* " + LONG, ["36 words"]),
    ("An item\n" + " ".join(["word"] * 34) + " that goes on.", ["words"]),
    ((" ".join(["word"] * 25) + ". ") .capitalize() * 3, ["on average"]),
    ("The result is told.", ["'told'"]),
    ("What is `told` in code is a name.", []),
    ("```\n" + LONG + "\n```\n", []),
    ("| " + LONG + " | short |\n", ["36 words"]),
    ("| " + "short | " * 40 + "\n|---|---|\n", []),
    ("    " + LONG + "\n", []),
    ("## " + LONG + "\n", []),
    ("[" + " ".join(["word"] * 5) + "](" + "x" * 300 + ") is short.", []),
]


def main():
    wrong = []
    for text, expected in CASES:
        found, _ = faults("text", text)
        if len(found) < len(expected) or (found and not expected) or any(part not in " ".join(found) for part in expected):
            wrong.append(f"{text[:60]!r}: expected {expected}, found {found}")
    if [sentence for _, sentence, _ in sentences("One. Two? `a.b` three.")] != ["One.", "Two?", "code three."]:
        wrong.append(f"sentences are split wrongly: {list(sentences('One. Two? `a.b` three.'))}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
