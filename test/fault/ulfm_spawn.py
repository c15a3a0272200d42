#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A process of a job or of one that it has spawned dies, and all others go on.

usage: ulfm_spawn.py MPIEXEC ULFM_SPAWN

Each kind and side of ulfm_spawn.c, with several numbers of ranks, over shared memory, tcp, and two hosts that are pretended.
"""
import sys

import job

RANKS = [(2, 1), (1, 2), (3, 3)]  # parents, children
PLACES = [({}, []), ({"VIREO_CHANNELS": "tcp,loopback"}, []),
          ({"VIREO_TCP_ADDRESSES": "127.0.0.1"}, ["--pretend-hosts", "2"])]  # settings, options


def run(mpiexec, program, place, ranks, words):
    """Returns None, or what went wrong."""
    done, text = job.run(mpiexec, place, ranks[0], [program, *words, str(ranks[1])])
    told = done.stderr.count(" was killed by signal 9 (Killed); the job goes on\n")
    if done.stdout.split() == ["ok"] * sum(ranks) and told == 1 and done.returncode == 137:
        return None
    return text


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    count = job.Count()
    for place in PLACES:
        for kind in "inter", "merged":
            for side in "parent", "child":
                for ranks in RANKS:
                    if ranks[side == "child"] == 1:
                        continue  # nobody would be left there
                    count.add(run(*sys.argv[1:3], place, ranks, [kind, side]))
    print(f"{count.jobs} jobs, {count.failed} failed")
    sys.exit(1 if count.failed or not count.jobs else 0)


if __name__ == "__main__":
    main()
