#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Connections break between ranks that live: of each pair one ends, the same for all, and the others go on.

usage: parted.py MPIEXEC PARTED

The scenarios of parted.c, on one host and on hosts that are pretended. A rank that is stopped is no failure.
"""
import re
import sys

import job

LIVENESS_MS = 1000  # after which a host that says nothing is lost: less than a rank is stopped or busy
AGREED_MS = 15000   # decided in 3 s; the machine may be busy
# scenario: ranks, those that end, and why
SCENARIOS = {
    "pair": (4, {2: 1}), "lonely": (5, {0: None}), "busy": (3, {1: 0}), "stopped": (3, {}),
}
PLACES = [[], ["--pretend-hosts", "2"]]


def run(mpiexec, program, scenario, options):
    """Returns None, or what went wrong."""
    ranks, ends = SCENARIOS[scenario]
    settings = {"VIREO_CHANNELS": "tcp,loopback", "VIREO_TCP_ADDRESSES": "127.0.0.1",
                "VIREO_LIVENESS_MS": str(LIVENESS_MS)}
    done, told = job.run(mpiexec, (settings, options), ranks, [program, scenario])
    said = [re.fullmatch(rf"ok {ranks - len(ends)} (\d+)", line) for line in done.stdout.splitlines()]
    good = len(said) == ranks - len(ends) and all(s and int(s[1]) < AGREED_MS for s in said)
    for rank, other in ends.items():
        lost = rf"rank {other} is" if other is not None else r"rank \d+ is"
        good &= bool(re.search(rf"rank {rank} on \S+ \(pid \d+\) exited with code 1; the job goes on\n", done.stderr))
        good &= bool(re.search(rf"the job goes on without it: its connection with {lost} lost, though both live\n", done.stderr))
    if good and done.returncode == (1 if ends else 0) and done.stderr.count("exited") == len(ends):
        print(f"ok: {scenario} {' '.join(options)}: {' '.join(s[1] for s in said)} ms")
        return None
    return told


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    wrong = [text for scenario in SCENARIOS for options in PLACES if (text := run(*sys.argv[1:3], scenario, options))]
    for text in wrong:
        print(f"not ok: {text}")
    print(f"{len(SCENARIOS) * len(PLACES)} jobs, {len(wrong)} failed")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
