#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail where a process is left that carries a word in its environment, and end it.

usage: check_left.py NAME=VALUE [PID]

PID, and whoever has it as its parent, may carry the word. What is just ending gets two seconds.
"""
import os
import pathlib
import signal
import sys
import time


def read(pid, name):
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:                     # it has ended, or is another user's
        return b""


def parent(pid):
    return int((read(pid, "stat").rpartition(b")")[2].split() + [b"0", b"0"])[1])


def left(word, spared):
    """The processes, as {pid: command line}."""
    pids = [int(p) for p in os.listdir("/proc") if p.isdigit()]
    return {p: read(p, "cmdline").replace(b"\0", b" ").decode(errors="replace").strip()
            for p in pids if word in read(p, "environ").split(b"\0")
            and spared not in (p, parent(p)) and p != os.getpid()}


def main(word, spared=0):
    word, until = word.encode(), time.monotonic() + 2
    found = left(word, int(spared))
    while found and time.monotonic() < until:
        time.sleep(0.1)
        found = left(word, int(spared))
    for pid, command in found.items():
        job = any(v.startswith(b"BNR_JOB=") for v in read(pid, "environ").split(b"\0"))
        print(f"left over: {pid} {command}" + (" (of a job)" if job else ""))
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    if not found:
        print("none")
    return 1 if found else 0


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
