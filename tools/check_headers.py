#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail where a header does not compile alone, or lacks its guard.

usage: check_headers.py SOURCE BUILD COMPILER...
"""
import concurrent.futures
import pathlib
import subprocess
import sys

FOLDERS = ("include", "os", "channels", "diagnose", "bnr", "mpid", "mpi", "romio",
           "profile", "queues")
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wundef",
         "-Wstrict-prototypes", "-Werror", "-fsyntax-only", "-x", "c"]


def check(source, build, compiler, path):
    """Messages for one header; it is included twice, so that its guard is tried too."""
    run = subprocess.run([*compiler, *FLAGS, "-I", source, "-I", build, "-I", build / "include",
                          "-I", build / "channels",
                          "-"], input=f'#include "{path}"\n' * 2, capture_output=True, text=True)
    return [f"{path}: does not compile alone\n{run.stderr}"] if run.returncode else []


def main(source, build, *compiler):
    source, build = pathlib.Path(source), pathlib.Path(build)
    paths = [p.relative_to(source) for f in FOLDERS for p in sorted((source / f).rglob("*.h"))]
    paths.append(build / "include/mpi.h")
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        bad = sum(pool.map(lambda p: check(source, build, compiler, p), paths), [])
    print("\n".join(bad) or f"headers ok: {len(paths)}")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
