#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when idle readers of a job's streams cost its messages instructions.

    idle_streams.py MPIEXEC VIREO STEPPER ICOUNT

The instructions of the calls of two ranks are counted alone, and with two `vireo streams` attached to
the job: one for what a rank writes, one for a tag of the user's.

    idle_streams.py MPIEXEC VIREO PROGRAM [ROUNDS]

tells what test/bench/latency.c or rate.c measures with 8 bytes instead, in turns, and judges nothing.

Exits with 77 (skipped) where the system permits no tracing.
"""
import os
import re
import subprocess
import sys

import gates

LIMIT = 60  # seconds
SLACK = 2  # a count may differ by so many from one run to the next
# Rank 0 attaches the readers to its parent, which is mpiexec, and waits until they are there.
RANK = '''
if [ "$READERS" ] && [ $BNR_RANK = 0 ]; then
    for words in "--rank 1 --tag stdout --reliable" "--tag 20"; do
        "$VIREO" streams $PPID $words >/dev/null 2>&1 &
    done
    sleep 0.5
fi
exec "$@"
'''


AWAKE = {"VIREO_YIELDS": "1000000000"}  # a rank that waits does not sleep


def run(mpiexec, vireo, words, readers, settings):
    environment = {**os.environ, "VIREO": vireo, "READERS": "1" if readers else "", **settings}
    done = subprocess.run([mpiexec, "-n", "2", "sh", "-c", RANK, "sh", *words], env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT,
                          check=False)
    if done.returncode:
        sys.exit(f"{words} ended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def count(mpiexec, vireo, *words):
    if not gates.tracing_works(words[0]):
        print("no permission to trace: skipped")
        return gates.SKIP
    alone, beside = (gates.least_steps(run(mpiexec, vireo, words, readers, gates.SPINNING))
                     for readers in (False, True))
    failed = 0 if alone else 1
    for name, steps in alone.items():
        over = beside.get(name, sys.maxsize) > steps + SLACK
        failed += over
        print(f"{name:18} {steps:6} {beside.get(name, 0):6}" + (" OVER" if over else ""))
    return 1 if failed else 0


def time(mpiexec, vireo, program, rounds="5"):
    took = {}
    for _ in range(int(rounds)):
        for readers in (False, True):
            text = run(mpiexec, vireo, [program, "--sizes", "8", "--seconds", "0.5"], readers, AWAKE)
            for name, unit, median in re.findall(r"^bench,mpi,8,([^,]+),([^,]+),\w+,([\d.]+)", text, re.M):
                took.setdefault((name, unit), {False: [], True: []})[readers].append(float(median))
    for (name, unit), seen in took.items():
        print(f"{name} of 8 bytes, medians of {rounds} runs, {unit}:")
        for readers, figures in seen.items():
            print("  with idle readers:" if readers else "  alone:            ",
                  " ".join(f"{figure:.1f}" for figure in sorted(figures)))
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit((count if os.path.basename(sys.argv[3]) == "stepper" else time)(*sys.argv[1:]))
