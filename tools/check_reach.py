#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail where a source file reaches more of the project's headers than it may, through all includes.

usage: check_reach.py [SOURCE]

A file may reach 25. Those that reach more have a ceiling here, which may only fall: once a file is below its ceiling, the
ceiling must follow.
"""
import pathlib
import re
import sys

FOLDERS = ("os", "channels", "diagnose", "bnr", "mpid", "mpi", "romio", "profile", "queues")
MOST = 25
CEILINGS = {
    "bnr/run/run.c": 47, "bnr/run/run_apps.c": 30, "bnr/run/run_debugger.c": 36, "bnr/run/run_foreign.c": 31,
    "bnr/run/run_keepalive.c": 31, "bnr/run/run_names.c": 32, "bnr/run/run_orders.c": 30,
    "bnr/run/run_processes.c": 33, "bnr/run/run_report.c": 38, "bnr/run/run_room.c": 37, "bnr/run/run_spawn.c": 34,
    "bnr/run/run_streams.c": 35, "bnr/run/run_terminal.c": 33, "bnr/run/run_wide.c": 49, "bnr/run/run_words.c": 35,
    "bnr/tools/mpiexec.c": 31, "bnr/wide/daemon.c": 60, "bnr/wide/wide.c": 51,
}
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
        reach, most = len(reached(root, path, known)), CEILINGS.get(str(path), MOST)
        if reach > most:
            bad.append(f"{path}: reaches {reach} headers, at most {most}: name structs where pointers suffice")
        elif reach < most and most > MOST:
            bad.append(f"{path}: reaches {reach} headers: lower its ceiling of {most} in tools/check_reach.py")
    if not count:
        bad.append(f"no source file of the project is below {root}: name the folder that has bnr/ and mpi/ in it")
    print("\n".join(bad) or f"reach ok: {count} files, {len(CEILINGS)} of them above {MOST}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")))
