#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each rank that waits for one that is killed gets an error.

usage: survivors.py MPIEXEC SURVIVORS [SEEDS [SEED]]

For each call that may wait for another rank, a job over each channel, and over both: one rank, chosen by the seed, is
killed at a moment, chosen by the seed. survivors.c says what is asked of the others.
"""
import os
import random
import sys

import job

ALONE = ["any", "any_wait", "any_probe"]  # with two ranks, as no other may be left
CALLS = ALONE + """recv wait test waitany persistent partitioned probe mprobe iprobe improbe ssend sendrecv any_left
    barrier bcast bcast_victim gather gatherv scatter scatterv scatterv_gaps scatterv_late allgather allgatherv
    alltoall alltoallv alltoallw reduce allreduce reduce_scatter reduce_scatter_block scan exscan inter_barrier inter_allreduce
    dup inter_dup idup split create create_group from_group intercomm_create from_groups""".split()
REGION = {"VIREO_REGION_AFTER": "1"}  # collectives share memory from the first one on
PLACES = [({}, []), (REGION, []), ({"VIREO_CHANNELS": "tcp,loopback"}, []),
          ({}, ["--pretend-hosts", "2"])]  # settings, options
if "HOSTS_LIST" in os.environ:  # inside of test/hosts/run
    PLACES = [({}, ["--launcher-cmd", os.environ["HOSTS_PROGRAM"] + " enter %h", "--host",
                    os.environ["HOSTS_LIST"]])]
COUNTS = [1, 300, 100000]  # eager, and by rendezvous


def run(mpiexec, program, place, ranks, args):
    """Returns None, or what went wrong."""
    done, told = job.run(mpiexec, place, ranks, [program, *args], ["--enable-recovery"])
    return None if done.stdout.split() == ["ok"] * (ranks - 1) else told


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    mpiexec, program = sys.argv[1:3]
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    first = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 30)
    count = job.Count()
    for seed in range(first, first + seeds):
        dice = random.Random(seed)
        for place in PLACES:
            for call in CALLS:
                ranks = 2 if call in ALONE else dice.randint(3, 6)
                args = [call, str(dice.choice(COUNTS)), str(dice.randrange(ranks)),
                        str(dice.choice([0, dice.randrange(30000)]))]
                count.add(run(mpiexec, program, place, ranks, args), f", seed {seed}")
    print(f"{count.jobs} jobs, seeds {first} to {first + seeds - 1}: {count.failed} failed")
    return count.failed != 0


if __name__ == "__main__":
    sys.exit(main())
