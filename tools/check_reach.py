#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail where a source file reaches more of the project's headers than it may, through all includes.

usage: check_reach.py [SOURCE]

A file may reach 25.
"""
import pathlib
import re
import sys

FOLDERS = ("os", "channels", "diagnose", "bnr", "mpid", "mpi", "romio", "profile", "queues")
MOST = 25
INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)


def reached(root, path, known):
    """The headers that a file includes, and those that they include."""
    if path in known:
        return known[path]
    known[path] = found = set()     # ends circles, too
    for name in INCLUDE.findall((root / path).read_text(errors="replace")):
        header = pathlib.Path(name) if (root / name).exists() else path.parent / name
        if (root / header).exists():
            found |= {header} | reached(root, header, known)
    return found


def main(root):
    known, bad, count = {}, [], 0
    for path in (p.relative_to(root) for f in FOLDERS for p in sorted((root / f).rglob("*.c"))):
        count += 1
        reach = len(reached(root, path, known))
        if reach > MOST:
            bad.append(f"{path}: reaches {reach} headers, at most {MOST}: name structs where pointers suffice")
    if not count:
        bad.append(f"no source file of the project is below {root}: name the folder that has bnr/ and mpi/ in it")
    print("\n".join(bad) or f"reach ok: {count} files, none above {MOST}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
