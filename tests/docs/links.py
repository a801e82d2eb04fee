#!/usr/bin/env python3
"""Links of markdown files lead to files and headings that exist; so do the documents that sources, help texts and scripts name as docs/..
Pictures name no absolute path.

usage: links.py [DOCUMENT|PICTURE..]     without: all documents and their pictures, and all sources
"""
# SPDX-License-Identifier: Apache-2.0
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("apps", "bench", "cmake", "collectives", "docs", "runtime", "tests")
SOURCES = (".cpp", ".hpp", ".c", ".h", ".py", ".txt", ".cmake", ".json", ".js", ".mjs", ".in", "")


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


def names_of_documents(source):
    """The documents that a source names and that are not there."""
    for name in sorted(set(re.findall(r"(?<![\w/])docs/[\w/-]+\.md", source.read_text(encoding="utf-8", errors="replace")))):
        if not (ROOT / name).exists():
            yield f"{source}: no file {name}"


def absolute_paths(picture):
    """The texts of an SVG that name a file of the machine that drew it."""
    for text in re.findall(r">([^<>]*)</t", picture.read_text(encoding="utf-8")):
        for path in re.findall(r"(?:^|\s)(/[\w.-]+/\S+)", text):
            yield f"{picture}: absolute path {path}"


def main(arguments):
    given, sources = [pathlib.Path(name) for name in arguments], []
    documents, pictures = [file for file in given if file.suffix != ".svg"], [file for file in given if file.suffix == ".svg"]
    if not given:
        files = [*ROOT.glob("*.*"), ROOT / "run", *(file for folder in FOLDERS for file in (ROOT / folder).rglob("*") if "node_modules" not in file.parts)]
        documents = [file for file in files if file.suffix == ".md"]
        pictures = [file for file in files if file.suffix == ".svg"]
        sources = [file for file in files if file.is_file() and file.suffix in SOURCES]
    wrong = [fault for document in documents for fault in faults(document)] + [fault for source in sources for fault in names_of_documents(source)]
    wrong += [fault for picture in pictures for fault in absolute_paths(picture)]
    print("\n".join(wrong))
    return 1 if wrong or not documents + pictures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
