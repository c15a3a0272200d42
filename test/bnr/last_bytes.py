#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The last bytes of a rank come out, though its reader is slow. usage: last_bytes.py MPIEXEC

A rank writes until nothing takes its bytes any more, says how many they are, and ends. Its pipe or
terminal is full then. Later the reader of mpiexec's output begins to read: it gets all of them.
In the second round another process, which is none of the job's, has the rank's stdout open: the job
ends all the same.
"""
import os
import subprocess
import sys
import tempfile
import time

LIMIT_S = 60
STILL_S = 1.0       # longer than mpiexec waits for those who hold a dead rank's stdout (200 ms)

RANK = r"""
import fcntl, os, select, sys, time, tty
folder, holds = sys.argv[1:]
if os.isatty(1):
    tty.setraw(1)
elif holds == "1":
    fcntl.fcntl(1, 1031, 1 << 18)       # F_SETPIPE_SZ: mpiexec reads it in four pieces
os.set_blocking(1, False)
with open(f"{folder}/pid", "w") as file:
    file.write(str(os.getpid()))
os.rename(f"{folder}/pid", f"{folder}/began")
while holds == "1" and not os.path.exists(f"{folder}/held"):
    time.sleep(0.01)
count, until = 0, time.monotonic() + 1
while time.monotonic() < until:
    if not select.select([], [1], [], 0.05)[1]:
        continue
    try:
        count += os.write(1, b"x" * 4096)
        until = time.monotonic() + 1
    except BlockingIOError:
        time.sleep(0.05)
with open(f"{folder}/count", "w") as file:
    file.write(str(count))
os.rename(f"{folder}/count", f"{folder}/ended")
"""


def text_of(path):
    """What a file holds, once it is there."""
    until = time.monotonic() + LIMIT_S
    while not os.path.exists(path):
        if time.monotonic() > until:
            sys.exit(f"not so: {path} comes")
        time.sleep(0.01)
    with open(path, encoding="ascii") as file:
        return file.read()


def check(claim, options, is_held):
    with tempfile.TemporaryDirectory(prefix="vireo-last-") as folder:
        job = subprocess.Popen([sys.argv[1], *options, "-n", "1", sys.executable, "-c", RANK, folder,
                                str(int(is_held))], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        holder = -1
        try:
            pid = text_of(f"{folder}/began")
            if is_held:
                holder = os.open(f"/proc/{pid}/fd/1", os.O_WRONLY | os.O_NOCTTY)
                with open(f"{folder}/held", "w", encoding="ascii"):
                    pass
            wanted = int(text_of(f"{folder}/ended"))
            time.sleep(STILL_S)
            got = len(job.communicate(timeout=LIMIT_S)[0])
        except subprocess.TimeoutExpired:
            sys.exit(f"not so: {claim}: the job ends")
        finally:
            if holder >= 0:
                os.close(holder)
            job.kill()
            job.wait()
        if (got, job.returncode) != (wanted, 0):
            sys.exit(f"not so: {claim}\ngot:    {got}, exit code {job.returncode}\n"
                     f"wanted: {wanted}, exit code 0")
        print("ok:", claim, wanted, flush=True)


def main():
    for is_held in (False, True):
        held = ", which another process holds open" if is_held else ""
        check("all bytes of a pipe" + held, [], is_held)
        check("all bytes of a terminal" + held, ["--pty"], is_held)


main()
