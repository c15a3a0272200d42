#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail on functions, argument lists, files, folders and macros over their budget, and on hidden jumps.

usage: check_size.py [SOURCE]

It reads the house format: a function's braces stand alone at column 0. MPI functions have the
arguments that MPI gives them. The contracts in include/ are as long as they need to be, and so are
the comments over MPI functions, from which manual pages are made: no file is too long for them.
"""
import pathlib
import re
import sys

FUNCTION, ARGUMENTS, FILE_C, FILE_H, MACRO = 80, 7, 800, 300, 10
FOLDER, FOLDER_OF = 45, {"mpid": 30} # files in a folder
FOLDERS = ("include", "os", "channels", "diagnose", "bnr", "mpid", "mpi", "fortran", "romio", "profile",
           "queues", "examples", "test")
# Functions whose arguments MPI, ROMIO or libfabric gives.
GIVEN = ("MPI_", "PMPI_", "MPIO_", "ADIOI_", "fi_", "FORTRAN_", "callback_")
MANUAL = re.compile(r"^/\*(?:(?!\*/).)*\*/\n(?=(?:\w+[\s*]+)+PMPIX?_\w+\()", re.M | re.S)
JUMP = re.compile(r"\b(return|goto)\b")


def bare(text):
    """The text without what comments and literals say, line for line."""
    pattern = r"/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)


def argument_count(text):
    """Commas at the outermost level of a parenthesized list, plus one."""
    depth = commas = 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        commas += char == "," and depth == 0
    return commas + 1


def functions(lines):
    """Yield (name, first line, length, argument count)."""
    for i, line in enumerate(lines):
        if line.rstrip() != "{":
            continue
        start = i
        while start > 0 and lines[start - 1].strip() and lines[start - 1][0] not in "}#" \
                and not lines[start - 1].rstrip().endswith(";"):
            start -= 1
        match = re.search(r"(\w+)\s*\((.*)\)", " ".join(lines[start:i]))
        if match:
            end = next((k for k in range(i, len(lines)) if lines[k].startswith("}")), i)
            yield match.group(1), start + 1, end - start + 1, argument_count(match.group(2))


def macros(lines):
    """Yield (first line, length, text)."""
    i = 0
    while i < len(lines):
        start = i
        if re.match(r"\s*#\s*define\b", lines[i]):
            while i < len(lines) - 1 and lines[i].endswith("\\"):
                i += 1
            yield start + 1, i - start + 1, "\n".join(lines[start:i + 1])
        i += 1


def check(root, path):
    text = (root / path).read_text(errors="replace")
    lines = bare(text).rstrip("\n").split("\n")
    limit = FILE_C if path.suffix == ".c" else FILE_H
    count = len(lines) - sum(m.count("\n") for m in MANUAL.findall(text))
    if count > limit and path.parts[0] != "include":
        yield f"{path}: {count} lines, budget {limit}"
    for name, line, size, arguments in functions(lines):
        if size > FUNCTION:
            yield f"{path}:{line}: {name}() is {size} lines, budget {FUNCTION}"
        if arguments > ARGUMENTS and not name.startswith(GIVEN):
            yield f"{path}:{line}: {name}() takes {arguments} arguments, budget {ARGUMENTS}"
    for line, size, text in macros(lines):
        if size > MACRO:
            yield f"{path}:{line}: a macro of {size} lines, budget {MACRO}"
        if JUMP.search(text):
            yield f"{path}:{line}: a macro hides a return or goto"


def crowded(root):
    """Yield a message for each folder that has too many files."""
    for top in FOLDERS:
        for folder in (p for p in [root / top, *(root / top).rglob("*")] if p.is_dir()):
            count = sum(p.is_file() and p.suffix != ".pyc" for p in folder.iterdir())
            limit = FOLDER_OF.get(top, FOLDER)
            if count > limit:
                yield f"{folder.relative_to(root)}: {count} files, budget {limit}"


def main(root):
    paths = [p.relative_to(root) for top in FOLDERS for p in (root / top).rglob("*.[ch]")]
    bad = [message for path in sorted(paths) for message in check(root, path)]
    bad += crowded(root)
    print("\n".join(bad) or f"sizes ok: {len(paths)} files")
    return 1 if bad or not paths else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
