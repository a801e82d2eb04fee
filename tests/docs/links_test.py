#!/usr/bin/env python3
"""links.py must see missing files and headings, in documents and in sources."""
# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys
import tempfile

from links import absolute_paths, faults, names_of_documents

CASES = [  # text of a document, a part of its fault, or none
    ("[a](other.md)", ""),
    ("[a](missing.md)", "no file missing.md"),
    ("[a](other.md#a-heading-with-code)", ""),
    ("[a](other.md#no-heading)", "no heading #no-heading"),
    ("# Here\n[a](#here)", ""),
    ("[a](#there)", "no heading #there"),
    ("```\n[a](missing.md)\n```\n", ""),
    ("`[a](missing.md)`", ""),
    ("[a](https://example.org/missing.md)", ""),
]


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "other.md").write_text("# A heading, with `code`\n", encoding="utf-8")
        for text, expected in CASES:
            document = pathlib.Path(folder, "document.md")
            document.write_text(text, encoding="utf-8")
            found = " ".join(faults(document))
            if (expected not in found) or (found and not expected):
                wrong.append(f"{text!r}: expected {expected!r}, found {found!r}")
        source = pathlib.Path(folder, "source.cpp")
        source.write_text('"(docs/explanation/replay.md)" "(docs/' + 'nowhere.md)"', encoding="utf-8")
        if [fault.split(": ")[1] for fault in names_of_documents(source)] != ["no file docs/%s.md" % "nowhere"]:
            wrong.append("documents that sources name are not seen")
        picture = pathlib.Path(folder, "picture.svg")
        picture.write_text("<svg><text>wormcube draw --svg docs/a.svg, 5 MB/s</text><text>/somewhere/build/wormcube draw</text></svg>", encoding="utf-8")
        if [fault.split(": ")[1] for fault in absolute_paths(picture)] != ["absolute path /somewhere/build/wormcube"]:
            wrong.append("absolute paths in pictures are not seen")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
