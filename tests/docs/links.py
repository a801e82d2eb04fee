#!/usr/bin/env python3
"""Links of all markdown files lead to files, and to headings, that exist. Without an argument: all *.md that git tracks, or all below the root.

usage: links.py [DOCUMENT..]
"""
# SPDX-License-Identifier: Apache-2.0
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def anchors(document):
    """The names that GitHub gives to headings."""
    text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-") for heading in headings}


def faults(document):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(document.read_text(encoding="utf-8"))):
        if re.match(r"\w+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (document.parent / path).resolve() if path else document
        if not file.exists():
            yield f"{document}: no file {path}"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"{document}: no heading #{anchor} in {path or 'it'}"


def main(arguments):
    documents = [pathlib.Path(name) for name in arguments]
    if not documents:
        folders = ("apps", "bench", "collectives", "docs", "runtime", "tests")
        documents = [*ROOT.glob("*.md"), *(file for folder in folders for file in (ROOT / folder).rglob("*.md") if "node_modules" not in file.parts)]
    wrong = [fault for document in documents for fault in faults(document)]
    print("\n".join(wrong))
    return 1 if wrong or not documents else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
