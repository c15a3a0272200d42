#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Strangers at the door of a job say what they like: it goes on, and ends with all of its output.

usage: door.py MPIEXEC FUZZ_DOOR [SEED...]
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROUNDS = 6000
LINES = 100000
RANK = f"cat >/dev/null & touch up.$BNR_RANK; until [ -e go ]; do sleep 0.05; done; seq {LINES}"


def job(mpiexec, fuzz, seed):
    for name in pathlib.Path(".").glob("*"):
        name.unlink()
    with open("out", "wb") as out, open("err", "wb") as err:
        run = subprocess.Popen([mpiexec, "--set", "reader_wait_ms=1000", "--timeout", "60", "--stdin", "all",
                                "-n", "2", "sh", "-c", RANK], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        until = time.monotonic() + 20
        while not all(os.path.exists(f"up.{r}") for r in range(2)) and time.monotonic() < until:
            time.sleep(0.01)
        strangers = [subprocess.Popen([fuzz, str(run.pid), str(seed + i), str(ROUNDS)]) for i in range(2)]
        codes = [s.wait(60) for s in strangers[1:]]  # the last one ends before the job goes on
        open("go", "wb").close()
        codes += [strangers[0].wait(60)]
        run.wait(70)
    told = pathlib.Path("err").read_text(errors="replace").replace("\0", "")[-2000:]
    lines = pathlib.Path("out").read_text().count("\n")
    if run.returncode or any(codes) or lines != 2 * LINES:
        sys.exit(f"seed {seed}: mpiexec {run.returncode}, strangers {codes}, {lines} lines of "
                 f"{2 * LINES}\n{told}")
    print(f"ok: seed {seed}", flush=True)


def main():
    mpiexec, fuzz = map(os.path.abspath, sys.argv[1:3])
    seeds = [int(s) for s in sys.argv[3:]] or [1, 11, 21, 31]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for seed in seeds:
            job(mpiexec, fuzz, seed)


if __name__ == "__main__":
    main()
