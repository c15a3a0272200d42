#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail where two files define the same tag of a struct, union or enum: one noun, one thing.

usage: check_tags.py [SOURCE]

It reads the product alone: tests and examples are programs of their own. Macros are left out, for
there a tag may be an argument.
"""
import collections
import pathlib
import re
import sys

FOLDERS = ("include", "os", "channels", "diagnose", "bnr", "mpid", "mpi", "romio",
           "profile", "queues")
SOURCES = (".c", ".h", ".in", ".inc")
HIDDEN = re.compile(r"/\*.*?\*/|^[ \t]*#(?:\\\n|[^\n])*", re.M | re.S)
TAG = re.compile(r"\b(?:struct|union|enum)\s+(?:__attribute__\s*\(\(.*?\)\)\s*)?(\w+)\s*\{", re.S)


def tags(text):
    """Yield (tag, line) for each definition."""
    text = HIDDEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
    for match in TAG.finditer(text):
        yield match.group(1), text.count("\n", 0, match.start()) + 1


def main(root):
    places = collections.defaultdict(list)
    paths = [p.relative_to(root) for f in FOLDERS for p in sorted((root / f).rglob("*"))
             if p.suffix in SOURCES]
    for path in paths:
        for tag, line in tags((root / path).read_text(errors="replace")):
            places[tag].append(f"{path}:{line}")
    bad = [f"{there[0]}: the tag {tag} is also defined at {', '.join(there[1:])}"
           for tag, there in sorted(places.items()) if len(there) > 1]
    print("\n".join(bad) or f"tags ok: {len(places)}")
    return 1 if bad or not places else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
