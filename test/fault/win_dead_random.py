#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A member of a window dies at a random instant, in epochs of each kind.

usage: win_dead_random.py MPIEXEC WIN_DEAD_RANDOM [SEEDS [SEED]]

Each seed is a job of 2 to 8 ranks of win_dead_random.c, over shared memory, tcp, or both on hosts that are pretended.
"""
import collections
import random
import re
import sys
import tempfile

import job

LOCAL = {"VIREO_TCP_ADDRESSES": "127.0.0.1"}
PLACES = [({}, []), ({}, []), ({"VIREO_CHANNELS": "tcp,loopback"}, []), (LOCAL, ["--pretend-hosts", "2"]),
          (LOCAL, ["--pretend-hosts", "3"])]  # settings, options
GIVEN_BACK = re.compile(r"rank \d+ died with a lock of rank \d+, which is given back")


def run(mpiexec, program, seed, counts):
    """Returns None, or what went wrong."""
    dice = random.Random(seed)
    place = dice.choice(PLACES)
    ranks = dice.randint(2, 8)
    with tempfile.NamedTemporaryFile() as notes:
        done, told = job.run(mpiexec, place, ranks, [program, str(seed), notes.name], ["--enable-recovery"])
    said = done.stdout.splitlines()
    counts["locks given back"] += len(GIVEN_BACK.findall(done.stderr))
    if len(said) == ranks - 1 and len(set(said)) == 1 and said[0].startswith("ok ") and done.returncode == 137:
        counts[said[0][3:]] += 1
        return None
    return told


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    mpiexec, program = sys.argv[1:3]
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 20
    first = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 30)
    count = job.Count()
    counts = collections.Counter()
    for seed in range(first, first + seeds):
        count.add(run(mpiexec, program, seed, counts), f", seed {seed}")
    told = ", ".join(f"{number} {what}" for what, number in sorted(counts.items()))
    print(f"{seeds} jobs, seeds {first} to {first + seeds - 1}: {told}; {count.failed} failed")
    sys.exit(1 if count.failed else 0)


if __name__ == "__main__":
    main()
