#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random trees of jobs that spawn each other: all end as they should, and nothing is left.

usage: trees.py MPIEXEC TREES FIRST COUNT [OPTION-OF-MPIEXEC...]

TREES is test/mpi/dynamic/trees.c; the seeds are FIRST and the COUNT - 1 next ones.
"""
import os
import subprocess
import sys
import time

LIMIT = 60 # seconds
mpiexec, trees, first, count, *options = sys.argv[1:]
mark = f"VIREO_TEST_TREES={os.getpid()}"


def living():
    """Processes that trees have left."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = open(f"/proc/{pid}/environ", "rb").read()
        except OSError:
            continue
        if mark.encode() in environment.split(b"\0"):
            found.append(int(pid))
    return found


def main():
    failed = 0
    for seed in range(int(first), int(first) + int(count)):
        done = subprocess.run(["timeout", "-k", "5", str(LIMIT), mpiexec, *options, "-n", str(1 + seed % 3), trees, str(seed)],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
                              env=os.environ | dict([mark.split("=")]))
        said = [line for line in (done.stdout + done.stderr).splitlines() if "was killed by signal 9" not in line]
        until = time.monotonic() + 10
        while living() and time.monotonic() < until:
            time.sleep(0.05)
        if done.returncode or said or living():
            failed += 1
            print(f"FAILED: seed {seed}: exit code {done.returncode}, left {living()}", *said, sep="\n", flush=True)
    print(f"{int(count)} seeds, {failed} failed")
    sys.exit(bool(failed))


main()
