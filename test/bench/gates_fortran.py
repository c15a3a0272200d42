#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when an 8 B send or receive of Fortran needs many more instructions than C's.

    gates_fortran.py MPIEXEC STEPPER ICOUNT_FORTRAN

Exits with 77 (skipped) where the system permits no tracing.
"""
import os
import signal
import sys

import gates
import peers

# More than C's, with one or two to spare for other compilers. The aim is 20 for each.
MORE = {"Send mpi": 20, "Recv mpi": 22, "Send mpi_f08": 26, "Recv mpi_f08": 28}


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    mpiexec, stepper, icount = sys.argv[1:]
    if not gates.tracing_works(stepper):
        print("no permission to trace: skipped")
        return gates.SKIP
    outcome, out, err, _ = peers.run([mpiexec, "-n", "1", stepper, icount], dict(os.environ), gates.LIMIT)
    if outcome != "ok":
        print(f"the run {outcome}\n{out}{err}")
        return 1
    counts = gates.least_steps(out)
    nothing = counts.get("nothing", 0)
    failed = 0
    for name, more in MORE.items():
        c_name = name.split()[0] + " C"
        if name not in counts or c_name not in counts:
            print(f"{name}: not counted")
            failed = 1
            continue
        over = counts[name] - counts[c_name]
        verdict = " OVER" if over > more else ""
        print(f"{name:14} {counts[name] - nothing:5}, {over} more than C; gate {more}{verdict}")
        failed |= over > more
    return failed


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main())
