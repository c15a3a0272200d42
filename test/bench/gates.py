#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a call on the hot path needs more instructions than its gate.

    gates.py MPIEXEC STEPPER ICOUNT [FIFO]

FIFO is the channel of doc/channel-howto.md, which is loaded at run time: its MPI_Isend stands beside one of a channel
that is built in, each with the channel's own instructions.
The count is exact on any machine, so it is a test and not a benchmark. Exits
with 77 (skipped) where the system permits no tracing.
"""

import os
import re
import signal
import sys

import peers

GATES = {"Isend 8 B": 150, "Recv arrived": 280, "Irecv unmatched": 180, "Wait complete": 40,
         "Wait received": 75, "Barrier self": 280, "Allreduce self": 730, "Barrier of 2": 300,
         "Allreduce of 2": 640, "Allreduce kept": 600,
         "Put 8 B": 60, "Flush": 30, "Fetch_and_op": 70}
FEWER = {"Allreduce kept": "Allreduce of 2"}  # what is prepared once costs less than what is said at each call
ALIKE = {"Ibarrier behind 2000": "Ibarrier behind 100"}  # those that wait already make a start no dearer
BUILT_IN, LOADED = {"Isend 8 B": 330}, {"Isend 8 B": 240}  # over tcp, and over the howto's FIFOs
LIMIT = 60   # seconds
SKIP = 77


def tracing_works(stepper):
    outcome, _, _, _ = peers.run([stepper, "true"], dict(os.environ), LIMIT)
    return outcome == "ok"


# The helper waits awake while instructions are counted, or waking it would be among them. Polls of the other do not
# yield, as they do where others run on its processor.
SPINNING = {"VIREO_SPIN_US": "100000000", "VIREO_YIELDS": "0"}


def least_steps(text):
    """The least instructions of each call over the rounds that stepper has told."""
    counts = {}
    for name, steps in re.findall(r"^steps,([^,]+),(\d+)$", text, re.M):
        counts[name] = min(int(steps), counts.get(name, sys.maxsize))
    return counts


def count(arguments, settings):
    """The same of icount, less those of the markers, or None."""
    mpiexec, stepper, icount = arguments
    env = {**os.environ, **SPINNING, **settings}
    outcome, out, err, _ = peers.run([mpiexec, "-n", "2", stepper, icount], env, LIMIT)
    if outcome != "ok":
        print(f"the run {outcome}\n{out}{err}")
        return None
    counts = least_steps(out)
    nothing = counts.pop("nothing", 0)
    return {name: steps - nothing for name, steps in counts.items()}


def judge(counts, gates, label=""):
    """Print the counts. Returns how many are over their gates, or are not there."""
    failed = 0
    for name in list(counts) + [n for n in gates if n not in counts]:
        if name not in counts:
            print(f"{name:18} not counted")
            failed += 1
            continue
        gate = gates.get(name)
        over = gate is not None and counts[name] > gate
        verdict = f"  gate {gate}" if gate else ""
        if name in FEWER and counts[name] >= counts.get(FEWER[name], 0):
            over, verdict = True, f"  not fewer than {FEWER[name]}"
        if name in ALIKE and 4 * counts[name] > 5 * counts.get(ALIKE[name], 0):
            over, verdict = True, f"  more than {ALIKE[name]}"
        failed += over
        print(f"{name + label:18} {counts[name]:6}{verdict}" + (" OVER" if over else ""))
    return failed


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    arguments = sys.argv[1:4]
    if not tracing_works(arguments[1]):
        print("no permission to trace: skipped")
        return SKIP
    counts = count(arguments, {})
    failed = counts is None or judge(counts, GATES)
    ways = {"tcp": (BUILT_IN, {"VIREO_TCP_ADDRESSES": "127.0.0.1"}), "fifo": (LOADED, {"VIREO_CHANNEL_PATH": sys.argv[-1]})}
    for channel, (gates, settings) in ways.items() if len(sys.argv) == 5 else ():
        counts = count(arguments, {"VIREO_CHANNELS": channel + ",loopback", **settings})
        failed += counts is None or judge({n: counts[n] for n in gates if n in counts}, gates, ", " + channel)
    return 1 if failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main())
