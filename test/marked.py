# SPDX-License-Identifier: BSD-3-Clause
"""Processes that a test has started, known by a variable of their environment."""
import os
import signal
import time


def living(mark):
    """Those with this variable, "NAME=VALUE"."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environment = open(f"/proc/{pid}/environ", "rb").read()
        except OSError:
            continue
        if mark.encode() in environment.split(b"\0"):
            found.append(int(pid))
    return found


def kill(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:  # it has ended
            pass


def left(mark, seconds=10):
    """Those that still live after so long."""
    until = time.monotonic() + seconds
    while living(mark) and time.monotonic() < until:
        time.sleep(0.05)
    return living(mark)
