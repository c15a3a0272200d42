#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What mpiexec --attach-info tells of a job that runs. usage: attach_info.py MPIEXEC [HOST OPTION...]

Three ranks run on this host; with HOST and options the last one runs on that host.
"""
import json
import os
import shutil
import subprocess
import sys
import time

LIMIT_S = 60
MPIEXEC = os.path.abspath(sys.argv[1])
OTHER = sys.argv[2] if len(sys.argv) > 2 else os.uname().nodename
OPTIONS = sys.argv[3:]


def same(claim, got, wanted):
    if got != wanted:
        sys.exit(f"not so: {claim}\ngot:    {got!r}\nwanted: {wanted!r}")
    print("ok:", claim, flush=True)


def ask(*words):
    return subprocess.run([MPIEXEC, *words], capture_output=True, text=True, timeout=LIMIT_S,
                          stdin=subprocess.DEVNULL, check=False)


def rows_of(job):
    """The rows, once all ranks have been started."""
    until = time.monotonic() + LIMIT_S
    while time.monotonic() < until:
        rows = [line.split(" ") for line in ask("--attach-info", str(job.pid)).stdout.splitlines()]
        if len(rows) == 3:
            return rows
        time.sleep(0.05)
    sys.exit("not so: the ranks of a job are told")


def check(job):
    rows = rows_of(job)
    here = os.uname().nodename
    same("each rank has a row, with its host", [row[:2] for row in rows],
         [["0", here], ["1", here], ["2", OTHER]])
    sleep = os.path.realpath(shutil.which("sleep"))
    for rank, host, pid, program in rows:
        if host == here:
            with open(f"/proc/{pid}/environ", "rb") as file:
                same(f"rank {rank}'s process is its own",
                     f"BNR_RANK={rank}".encode() in file.read().split(b"\0"), True)
        same(f"rank {rank}'s program is told", os.path.realpath(program), sleep)
    told = json.loads(ask("--output", "json", "--attach-info", str(job.pid)).stdout)
    same("the same as JSON", told, {"job": job.pid, "processes": [
        {"rank": int(r), "host": h, "pid": int(p), "executable": e} for r, h, p, e in rows]})
    same("a rank's process names the job, too",
         ask(f"--attach-info={rows[0][2]}").stdout.splitlines(), [" ".join(row) for row in rows])


def main():
    with subprocess.Popen([MPIEXEC, *OPTIONS, "-n", "3", "sleep", "1000"],
                          stdin=subprocess.DEVNULL) as job:
        try:
            check(job)
        finally:
            job.terminate()
    done = ask("--attach-info", str(job.pid))
    same("a job that has ended is told", (done.returncode, "its job has ended" in done.stderr),
         (1, True))
    done = ask("--attach-info=x")
    same("what is no number is refused", (done.returncode, "not 'x'" in done.stderr), (2, True))


main()
