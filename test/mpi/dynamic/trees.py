#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random trees of jobs that spawn each other: all end as they should, and nothing is left.

usage: trees.py MPIEXEC TREES FIRST COUNT [OPTION-OF-MPIEXEC...]

TREES is test/mpi/dynamic/trees.c; the seeds are FIRST and the COUNT - 1 next ones.
"""
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import marked    # noqa: E402

LIMIT = 60 # seconds
mpiexec, trees, first, count, *options = sys.argv[1:]
mark = f"VIREO_TEST_TREES={os.getpid()}"


def main():
    failed = 0
    for seed in range(int(first), int(first) + int(count)):
        done = subprocess.run(["timeout", "-k", "5", str(LIMIT), mpiexec, *options, "-n", str(1 + seed % 3), trees, str(seed)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
                              env=os.environ | dict([mark.split("=")]))
        said = [line for line in (done.stdout + done.stderr).splitlines() if "was killed by signal 9" not in line]
        left = marked.left(mark)
        if done.returncode or said or left:
            failed += 1
            print(f"FAILED: seed {seed}: exit code {done.returncode}, left {left}", *said, sep="\n", flush=True)
    print(f"{int(count)} seeds, {failed} failed")
    sys.exit(bool(failed))


main()
