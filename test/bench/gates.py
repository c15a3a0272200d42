#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when a call on the hot path needs more instructions than its gate.

    gates.py MPIEXEC STEPPER ICOUNT

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
         "Allreduce of 2": 640, "Allreduce kept": 630}
LIMIT = 60   # seconds
SKIP = 77


def tracing_works(stepper):
    outcome, _, _, _ = peers.run([stepper, "true"], dict(os.environ), LIMIT)
    return outcome == "ok"


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    mpiexec, stepper, icount = sys.argv[1:]
    if not tracing_works(stepper):
        print("no permission to trace: skipped")
        return SKIP
    # The helper waits awake while instructions are counted, or waking it would be among them.
    env = {**os.environ, "VIREO_YIELDS": "1000000000"}
    outcome, out, err, _ = peers.run([mpiexec, "-n", "2", stepper, icount], env, LIMIT)
    if outcome != "ok":
        print(f"the run {outcome}\n{out}{err}")
        return 1
    counts = {}
    for name, steps in re.findall(r"^steps,([^,]+),(\d+)$", out, re.M):
        counts.setdefault(name, []).append(int(steps))
    nothing = min(counts.pop("nothing", [0]))
    failed = 0
    for name in list(counts) + [n for n in GATES if n not in counts]:
        if name not in counts:
            print(f"{name:18} not counted")
            failed += 1
            continue
        steps = min(counts[name]) - nothing  # a round may meet a peer that sleeps
        gate = GATES.get(name)
        over = gate is not None and steps > gate
        failed += over
        verdict = f"  gate {gate}" if gate else ""
        print(f"{name:18} {steps:6}{verdict}" + (" OVER" if over else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main())
