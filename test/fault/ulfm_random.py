#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random programs go on while their ranks die.

usage: ulfm_random.py MPIEXEC ULFM_RANDOM [SEEDS [SEED]]

Each seed is a job of 2 to 8 ranks of ulfm_random.c, over shared memory, tcp, or both on hosts that are pretended, of which some
ranks kill themselves. Every other one must end well, with the same number as the rest.
"""
import os
import random
import re
import subprocess
import sys

LIMIT_S = 60
REGION = {"VIREO_REGION_AFTER": "1"}  # collectives share memory from the first one on
LOCAL = {"VIREO_TCP_ADDRESSES": "127.0.0.1"}
PLACES = [({}, []), (REGION, []), ({"VIREO_CHANNELS": "tcp,loopback"}, []), (LOCAL, ["--pretend-hosts", "2"]),
          ({**LOCAL, **REGION}, ["--pretend-hosts", "3"])]  # settings, options
DIED = re.compile(r"mpiexec: rank \d+ on \S+ \(pid \d+\) was killed by signal 9 \(Killed\); the job goes on")


def run(mpiexec, program, seed):
    """Returns how many have died; and None, or what went wrong."""
    dice = random.Random(seed)
    settings, options = dice.choice(PLACES)
    ranks = dice.randint(2, 8)
    deaths = dice.randint(0, ranks - 1)
    command = [mpiexec, "--timeout", str(LIMIT_S), *options, "-n", str(ranks), program, str(seed), str(deaths)]
    done = subprocess.run(command, env={**os.environ, **settings}, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=2 * LIMIT_S, check=False)
    died = len(DIED.findall(done.stderr))
    said = done.stdout.splitlines()
    good = len(said) == ranks - died > 0 and len(set(said)) == 1 and re.fullmatch(r"ok -?\d+", said[0])
    if good and done.returncode == (137 if died else 0):
        return died, None
    return died, f"{' '.join(command)} ({settings}): status {done.returncode}\n{done.stdout}{done.stderr}"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    mpiexec, program = sys.argv[1:3]
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 60
    first = int(sys.argv[4]) if len(sys.argv) > 4 else random.randrange(1 << 30)
    failed = died = 0
    for seed in range(first, first + seeds):
        dead, wrong = run(mpiexec, program, seed)
        died += dead
        failed += wrong is not None
        if wrong:
            print(f"not ok, seed {seed}: {wrong}", flush=True)
    print(f"{seeds} jobs, seeds {first} to {first + seeds - 1}, in which {died} ranks have died: {failed} failed")
    sys.exit(1 if failed or not died else 0)


if __name__ == "__main__":
    main()
