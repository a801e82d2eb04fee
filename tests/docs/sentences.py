#!/usr/bin/env python3
"""Measures the sentences of the documents: none may be longer than 35 words, and 20 are the most on average.

usage: sentences.py [DOCUMENT..]     without: docs/**/*.md, except what the program writes, and the README.md of some folders

Code and headings are left out, and what stands between backticks is one word. Cells of tables must be as short, but do not count for the average.
Some words are refused, because there is a plainer one.
"""
# SPDX-License-Identifier: Apache-2.0
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST, MEAN = 35, 20
FOLDERS = (".", "apps", "apps/draw", "bench", "collectives", "runtime")
GENERATED = ("reference/algorithms.md", "reference/commands.md", "reference/json.md")
REFUSED = {"told": "reported, printed", "tells": "shows, prints", "mended": "fixed", "in vain": "unsuccessful", "run dry": "dry run", "goes first": "overrides",
           "foretells": "predicts", "so many": "the number itself", "hands over": "yields", "preset": "default", "again and again": "repeatedly"}


def split(prose):
    prose = re.sub(r"`[^`]*`", "code", prose)
    prose = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", prose).replace("*", "")
    return [one.strip() for one in re.split(r"(?<=[.!?])[\")]*\s+(?=[A-Z\"(]|code\b|wormcube\b)", prose) if one.strip()]


def sentences(text):
    """The sentences of a document: line of the paragraph, text, and whether it stands in a table."""
    paragraphs, lines, start, code = [], [], 0, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        stripped = line.strip()
        code ^= stripped.startswith("```")
        item = re.match(r"([*>-]|\d+\.) ", stripped)
        prose = stripped and not code and not stripped.startswith(("```", "#", "|", "<!--", "![")) and (lines or not line.startswith("    "))
        if lines and (item or not prose):
            paragraphs.append((start, lines))
            lines = []
        if prose:
            start = start if lines else number
            lines.append(stripped[item.end():] if item else stripped)
        elif stripped.startswith("|") and not code:
            for cell in re.split(r"(?<!\\)\|", stripped):
                yield from ((number, one, True) for one in split(cell) if re.search(r"\w", one))
    for start, lines in paragraphs:
        yield from ((start, one, False) for one in split(" ".join(lines)))


def words(sentence):
    return [word for word in sentence.split() if re.search(r"\w", word)]


def faults(name, text):
    """What is wrong with a document's sentences, and the length of each."""
    wrong, lengths = [], []
    for line, sentence, cell in sentences(text):
        length = len(words(sentence))
        if not cell:
            lengths.append(length)
        if length > LONGEST:
            wrong.append(f"{name}:{line}: {length} words: {sentence[:90]}..")
        for word, plain in REFUSED.items():
            if re.search(rf"\b{word}\b", sentence, re.IGNORECASE):
                wrong.append(f"{name}:{line}: '{word}'; write: {plain}")
    mean = sum(lengths) / max(1, len(lengths))
    if mean > MEAN:
        wrong.append(f"{name}: {mean:.1f} words a sentence on average, more than {MEAN}")
    return wrong, lengths


def main(arguments):
    documents = [pathlib.Path(name) for name in arguments] or [*(ROOT / folder / "README.md" for folder in FOLDERS), *sorted((ROOT / "docs").rglob("*.md"))]
    documents = [document for document in documents if not document.as_posix().endswith(GENERATED)]
    wrong, every = [], []
    for document in documents:
        of_document, lengths = faults(str(document.relative_to(ROOT)) if document.is_relative_to(ROOT) else str(document), document.read_text(encoding="utf-8"))
        wrong += of_document
        every += lengths
    every.sort()
    if every:
        print(f"{len(documents)} documents, {len(every)} sentences, {sum(every)} words: mean {sum(every) / len(every):.1f}, 90th percentile {every[len(every) * 9 // 10]}, "
              f"longest {every[-1]}")
    print("\n".join(wrong))
    return 1 if wrong or not every else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
