#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The report says who tells of deaths, and it is so. usage: deaths_told.py MPIEXEC SURVIVORS

A rank of survivors.c is killed, under Vireo's mpiexec, Debian's Hydra and Open MPI's mpirun. The last two have to be told that
others go on, and then tell nobody: what ranks know, they know by connections, and on one host by the memory that they share.
Hydra ends the others all the same now and then.
"""
import os
import shutil
import subprocess
import sys

LIMIT_S = 60
RANKS = 3
AFTER_US = "300000" # when it is killed: no launcher hears of MPI_Init any more
TOLD = "Deaths: mpiexec tells all ranks of each that dies\n"
UNTOLD = "Deaths: this launcher ({}) tells ranks of none. A rank finds a peer of its host dead by the memory that they share"
ROOT = ["--allow-run-as-root"] if os.geteuid() == 0 else []
LAUNCHERS = {  # options, the sentence, whether the others always go on
    "mpiexec.hydra": (["-disable-auto-cleanup"], UNTOLD.format("pmi"), False),
    "mpirun.openmpi": ([*ROOT, "--oversubscribe", "--enable-recovery"], UNTOLD.format("pmix"), True),
}


def run(launcher, how, program, settings):
    """Returns whether the survivors go on, and the sentence is there."""
    options, sentence, goes_on = how
    words = [launcher, *options, "-n", str(RANKS), program, "recv", "1", "1", AFTER_US]
    environment = {n: v for n, v in os.environ.items() if not n.startswith(("BNR_", "PMI_", "PMIX_"))}
    done = subprocess.run(["timeout", "-k", "5", str(LIMIT_S), *words], env={**environment, **settings}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors="replace", check=False)
    good = (not goes_on or done.stdout.split().count("ok") == RANKS - 1) and done.returncode != 124 and done.stderr.count(sentence) == 1
    name = f"{os.path.basename(launcher)} {settings.get('VIREO_CHANNELS', '')}"
    print(f"{'ok' if good else 'not ok'}: {name}" + ("" if good else f": status {done.returncode}\n{done.stdout}"
          f"{done.stderr}"), flush=True)
    return good


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    mpiexec, program = sys.argv[1:]
    good = run(mpiexec, (["--report", "--enable-recovery"], TOLD, True), program, {})
    for name, how in LAUNCHERS.items():
        if shutil.which(name):
            for channels in ({"VIREO_CHANNELS": "tcp,loopback"}, {}):
                good &= run(name, how, program, {"VIREO_REPORT": "1", **channels})
        else:
            print(f"{name} is not tried: it is not there")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
