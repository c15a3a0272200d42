#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random programs go on while their ranks die.

Each seed is a job of ulfm_random.c, over shared memory, tcp, tcp whose idle connections are let go, both on hosts that are
pretended, or a fabric, in which some ranks kill themselves or exit. Every other one must end well, with the same number as the rest.
"""
import argparse
import random
import re
import sys

import job

LIMIT_S = 120
RANKS = 8  # of most jobs, at most
REGION = {"VIREO_REGION_AFTER": "1"}  # collectives share memory from the first one on
LOCAL = {"VIREO_TCP_ADDRESSES": "127.0.0.1"}
LET_GO = {"VIREO_CHANNELS": "tcp,loopback", "VIREO_CONNECTIONS_MOST": "1", "VIREO_CONNECTIONS_IDLE_MS": "0"}
PLACES = [({}, []), (REGION, []), ({"VIREO_CHANNELS": "tcp,loopback"}, []), (LET_GO, []), (LOCAL, ["--pretend-hosts", "2"]),
          ({**LOCAL, **REGION}, ["--pretend-hosts", "3"])]  # settings, options
FABRIC = ({"VIREO_CHANNELS": "ofi,loopback", "VIREO_CHANNEL_PARAMS": "ofi.provider=tcp;ofi_rxm,ofi.address=127.0.0.1"}, [])
DIED = re.compile(r"mpiexec: rank \d+ on \S+ \(pid \d+\) (was killed by signal 9 \(Killed\)|exited with code 3)"
                  r"(?:; the job goes on$|$(?!(?s:.*)^mpiexec: rank \d+ on ))", re.M)  # the job may end with the last
STATUS = {"w": 137, "e": 3}  # of mpiexec, by how the first has died


def run(args, seed):
    """Returns the number of ranks, and how many have died; and None, or what went wrong."""
    dice = random.Random(seed)
    place = dice.choice(PLACES + [FABRIC] * args.fabric)
    ranks = dice.randint(2, args.ranks if not dice.randrange(4) else min(RANKS, args.ranks))
    deaths = dice.randint(0, ranks - 1)
    done, told = job.run(args.mpiexec, place, ranks, [args.program, str(seed), str(deaths)], limit_s=LIMIT_S)
    died = DIED.findall(done.stderr)
    said = done.stdout.splitlines()
    good = len(said) == ranks - len(died) > 0 and len(set(said)) == 1 and re.fullmatch(r"ok -?\d+", said[0])
    if good and done.returncode == (STATUS[died[0][0]] if died else 0):
        return ranks, len(died), None
    return ranks, len(died), told


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fabric", action="store_true", help="one place is libfabric's provider tcp;ofi_rxm")
    parser.add_argument("--ranks", type=int, default=RANKS, help="of every fourth job, at most")
    for name in "mpiexec", "program":
        parser.add_argument(name)
    parser.add_argument("seeds", type=int, nargs="?", default=15)
    parser.add_argument("first", type=int, nargs="?", default=random.randrange(1 << 30))
    args = parser.parse_args()
    count = job.Count()
    died = most = 0
    for seed in range(args.first, args.first + args.seeds):
        ranks, dead, wrong = run(args, seed)
        died += dead
        most = max(most, ranks)
        count.add(wrong, f", seed {seed}")
    print(f"{args.seeds} jobs, seeds {args.first} to {args.first + args.seeds - 1}, of up to {most} ranks, in which {died} ranks "
          f"have died: {count.failed} failed")
    sys.exit(1 if count.failed or not died else 0)


if __name__ == "__main__":
    main()
