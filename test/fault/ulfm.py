#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Survivors call the functions of fault tolerance, and go on.

usage: ulfm.py MPIEXEC ULFM [SCENARIO]

Nothing asks mpiexec to let the ranks go on: it does so for a program that has these functions and
MPI_ERRORS_RETURN. Each scenario of ulfm.c, with several numbers of ranks, over shared memory, tcp, tcp whose idle
connections are let go, and two hosts that are pretended.
"""
import re
import sys

import job

# scenario: the ranks that die, or None: as DIE says; the numbers of ranks
SCENARIOS = {
    "known": (1, [3, 4]), "order": (1, [3, 5]), "two": (2, [4, 5]), "told_late": (1, [3, 8]),
    "revoked": (0, [2, 3, 5, 8]), "interrupted": (0, [2, 3, 5]), "crossing": (0, [2, 3, 5]),
    "revoke_and_die": (2, [4, 6, 8]),
    "agreed": (0, [1, 2, 3, 5, 8]), "acknowledged": (1, [2, 3, 5]), "dying": (None, [2, 3, 4, 6, 8]),
    "told_by_agreement": (1, [2, 3, 5, 8]),
    "chain": (None, [2, 3, 5, 8]), "world_shrunk": (2, [3, 4, 6, 8]), "inter": (1, [3, 4, 5, 8]),
    "last_agreed": (1, [4, 8, 16]), "forgotten": (0, [3]),
}
DIE = {"dying": lambda ranks: ranks // 2, "chain": lambda ranks: ranks - 1}
LAST = {"revoke_and_die"} # whose survivors wait for no death
REGION = {"VIREO_REGION_AFTER": "1"}  # collectives share memory from the first one on
LET_GO = {"VIREO_CONNECTIONS_MOST": "1", "VIREO_CONNECTIONS_IDLE_MS": "0"}
PLACES = [({}, []), (REGION, []), ({"VIREO_CHANNELS": "tcp,loopback"}, []), ({"VIREO_CHANNELS": "tcp,loopback", **LET_GO}, []),
          ({"VIREO_TCP_ADDRESSES": "127.0.0.1"}, ["--pretend-hosts", "2"])]  # settings, options


def run(mpiexec, program, place, ranks, scenario):
    """Returns None, or what went wrong."""
    done, text = job.run(mpiexec, place, ranks, [program, scenario])
    told = done.stderr.count(" was killed by signal 9 (Killed); the job goes on\n")
    if scenario in LAST: # the job does not go on where the others have ended before the death is seen
        told += done.stderr.count(" was killed by signal 9 (Killed)\n")
    dead = SCENARIOS[scenario][0] if scenario not in DIE else DIE[scenario](ranks)
    if done.stdout.split() == ["ok"] * (ranks - dead) and told == dead and done.returncode == (137 if dead else 0):
        return None
    return text


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    mpiexec, program = sys.argv[1:3]
    count = job.Count()
    for scenario in sys.argv[3:] or SCENARIOS:
        for place in PLACES:
            for ranks in SCENARIOS[scenario][1]:
                count.add(run(mpiexec, program, place, ranks, scenario))
    ended, text = job.run(mpiexec, ({}, ["--on-failure", "abort"]), 3, [program, "known"])
    is_wrong = ended.returncode != 137 or "ok" in ended.stdout.split() or "goes on" in ended.stderr
    count.add(text if is_wrong else None)
    reported, text = job.run(mpiexec, ({}, ["--report"]), 3, [program, "known"])
    has_failures = re.search(r"^Failures:\n  after \d+\.\d\d s: rank 2 on \S+ \(pid \d+\) was killed by signal 9 \(Killed\); "
                             r"the job goes on$", reported.stderr, re.M)
    count.add(None if has_failures else f"who has died, of what, and when: {text}")
    print(f"{count.jobs} jobs, {count.failed} failed")
    sys.exit(1 if count.failed or not count.jobs else 0)


if __name__ == "__main__":
    main()
