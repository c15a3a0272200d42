#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Windows and files are revoked.

usage: revoked.py MPIEXEC REVOKED [SCENARIO]

Each scenario of revoked.c, with several numbers of ranks and kinds of windows, on one host, over tcp, and on two hosts that are
pretended.
"""
import sys
import tempfile

import job

SCENARIOS = ["fence", "start", "wait", "lock", "open_epoch", "operations", "failed", "file", "dead_file"]
KINDS = ["0", "1"]  # of test/mpi/win/windows.h: memory of the library, and of the program
PLACES = [({}, []), ({"VIREO_CHANNELS": "tcp,loopback"}, []),
          ({"VIREO_TCP_ADDRESSES": "127.0.0.1"}, ["--pretend-hosts", "2"])]  # settings, options


def run(mpiexec, program, place, ranks, words):
    """Returns None, or what went wrong."""
    dead = words[0] in ("failed", "dead_file")
    if "file" in words[0]:  # ROMIO does not give back the memory of an access that ends so
        place = {**place[0], "LSAN_OPTIONS": "detect_leaks=0"}, place[1]
    done, told = job.run(mpiexec, place, ranks, [program, *words])
    if done.stdout.split() == ["ok"] * (ranks - dead) and done.returncode == ({"failed": 137, "dead_file": 142}.get(words[0], 0)):
        return None
    return told


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    mpiexec, program = sys.argv[1:3]
    count = job.Count()
    with tempfile.TemporaryDirectory() as folder:
        for scenario in sys.argv[3:] or SCENARIOS:
            for place in PLACES:
                for ranks in 2, 4:
                    for kind in KINDS if "file" not in scenario else [f"{folder}/file"]:
                        count.add(run(mpiexec, program, place, ranks, [scenario, kind]))
    print(f"{count.jobs} jobs, {count.failed} failed")
    sys.exit(1 if count.failed or not count.jobs else 0)


if __name__ == "__main__":
    main()
