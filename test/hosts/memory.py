#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a rank needs before its first message does not grow with the job. usage: memory.py BUILD RANKS RANKS...

Runs a job of each size, on one host and on four that are pretended, and compares the median of the memory that belongs
to a rank alone with that of the smallest job: it may be 5 % more.
"""
import re
import subprocess
import sys

MORE = 1.05


def measure(build, ranks, options):
    done = subprocess.run([f"{build}/bnr/mpiexec", *options, "-n", str(ranks), f"{build}/test/hosts/scale", "memory"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
    found = re.search(r"memory at first (\d+) (\d+) (\d+)", done.stdout)
    if done.returncode or not found:
        sys.exit(f"not so: {ranks} ranks say what they need\n{done.stdout}{done.stderr[-2000:]}")
    return [int(n) for n in found.groups()]


def main(build, *sizes):
    wrong = False
    for options in ([], ["--pretend-hosts", "4"]):
        needs = {int(ranks): measure(build, ranks, options) for ranks in sizes}
        first = needs[min(needs)][1]
        for ranks, (least, median, most) in needs.items():
            wrong |= median > MORE * first
            print(f"{ranks} ranks {' '.join(options)}: {least} KiB, {median}, {most} (least, median, most)")
    sys.exit("not so: what a rank needs does not grow with the job" if wrong else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
