#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail where the documents name what is not there, or leave out what is.

usage: check_docs.py [SOURCE]

In README.md, CONTRIBUTING.md and doc/*.md:
  - `name()` must be a function (or function pointer) of the sources; MPI_ names also those that are
    made from PMPI_ bodies; in "`name()` in `folder/file.c`", one of that file,
  - `folder/file.ext`, and `file.ext` after its folder's heading, must exist, as must what a link
    leads to.
doc/architecture.md must have a line for every folder of tests, and a paragraph of doc/decisions.md
at most 80 words.
"""
import pathlib
import re
import sys

FOLDERS = ("bnr", "channels", "diagnose", "examples", "include", "mpi", "mpid", "os", "profile",
           "queues", "romio", "test", "tools")
MADE = {"mpi.h", "slots.h", "chan_table.c", "version.h", "mpiexec.1", "heat.png"}   # by a build
FENCED = re.compile(r"^```.*?^```", re.M | re.S)
FUNCTION = re.compile(r"`(\w+)\(\)`")
PLACED = re.compile(r"`(\w+)\(\)`,? in\s+`([\w./-]+/[\w.-]+\.[ch])`")
FILE = re.compile(r"`((?:[\w.-]+/)*[\w.-]+\.(?:c|h|py|sh|txt|tsv|in|md|build|map|syms))((?:/\.\w+)*)`")
LINK = re.compile(r"\]\(([^)#:]+)\)")
HEADING = re.compile(r"^#+ .*?`([\w/.]+)/`", re.M)
# A definition at column 0, a static one too, or a pointer in a struct.
DEFINED = re.compile(r"^[A-Za-z_][\w\s*]*?[\s*](\w+)\s*\(|^\s+[\w\s*]+\(\*(\w+)\)\s*\(", re.M)


def defined_in(path):
    """Every function that a source defines or declares."""
    text = path.read_text(errors="replace")
    names = {a or b for a, b in DEFINED.findall(text)}
    names |= set(re.findall(r"^(?:static )?(?:inline )?__attribute__.*?\b(\w+)\(\w", text, re.M))
    # the type stands alone on the line before
    return names | set(re.findall(r"^(\w+)\(.*(?:\n .*)*\)\n\{", text, re.M))


def defined(root):
    """Every function of the sources."""
    names = set()
    for folder in FOLDERS:
        for path in (root / folder).rglob("*.[ch]"):
            names |= defined_in(path)
    for name in [n for n in names if n.startswith(("PMPI_", "PMPIX_"))]:
        names |= {name[1:], name[1:].removesuffix("_c"), name.removesuffix("_c")}
    return names


def sections(text):
    """Yield (folder that the heading names or "", the text below it)."""
    heads = [(m.start(), m.group(1)) for m in HEADING.finditer(text)]
    plain = [m.start() for m in re.finditer(r"^#", text, re.M)]
    starts = [0] + plain + [len(text)]
    for begin, end in zip(starts, starts[1:]):
        folder = next((f for at, f in heads if at == begin), "")
        yield folder, text[begin:end]


def files_named(text):
    """Yield (the name as written, the paths that it may mean)."""
    for folder, part in sections(text):
        for name, more in FILE.findall(part):
            stem = name.rsplit(".", 1)[0]
            for one in [name] + [stem + ext for ext in more.split("/") if ext]:
                yield one, [f"{folder}/{one}"] if folder and "/" not in one else [one]


def check(root, path, names):
    text = FENCED.sub("", (root / path).read_text())
    for name in sorted(set(FUNCTION.findall(text)) - names):
        yield f"{path}: there is no function {name}()"
    for name, file in PLACED.findall(text):
        if not (root / file).exists() or name not in defined_in(root / file):
            yield f"{path}: there is no function {name}() in {file}"
    for name, places in files_named(text):
        base = name.rsplit("/", 1)[-1]
        found = any((root / p).exists() for p in places)
        if not found and "/" not in name:
            found = any(root.glob(name)) or any(any((root / f).rglob(name))
                                                for f in FOLDERS + ("doc",))
        if not found and base not in MADE:
            yield f"{path}: there is no file {name}"
    for target in LINK.findall(text):
        if not ((root / path).parent / target).exists():
            yield f"{path}: a link leads to {target}, which is not there"


def left_out(root, path):
    """The folders of tests without a line; tools/gen_files.py lists the other files."""
    text = (root / path).read_text()
    for sub in sorted((root / "test").glob("*/")):
        if sub.name != "__pycache__" and f"`{sub.name}/`" not in text:
            yield f"{path}: no line for test/{sub.name}/"


def too_long(text, path):
    """The paragraphs of more than 80 words; headings and tables do not count."""
    for paragraph in re.split(r"\n\s*\n", text):
        words = paragraph.split()
        if len(words) > 80 and paragraph[0] not in "#|":
            yield f"{path}: {len(words)} words, at most 80: {' '.join(words[:6])} ..."


def main(root):
    documents = [n for n in ("README.md", "CONTRIBUTING.md") if (root / n).exists()]
    documents += [f"doc/{p.name}" for p in sorted((root / "doc").glob("*.md"))]
    names = defined(root)
    bad = [message for path in documents for message in check(root, path, names)]
    if "doc/architecture.md" in documents:
        bad += left_out(root, "doc/architecture.md")
    if "doc/decisions.md" in documents:
        bad += too_long((root / "doc/decisions.md").read_text(), "doc/decisions.md")
    print("\n".join(bad) or f"documents ok: {len(documents)}")
    return 1 if bad or not documents else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
