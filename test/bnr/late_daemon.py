#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A daemon that greets after its attempt was given up does mpiexec no harm. usage: late_daemon.py MPIEXEC

The command that starts it is killed when its time is up. What it has started lives on in a session of
its own, and says the version of another Vireo by the command's stdout.
"""
import os
import subprocess
import sys
import tempfile

LAUNCHER = """#!/bin/sh
setsid sh -c 'sleep 0.55; echo vireod 0.0.0; sleep 0.1' &
exec sleep 10
"""


def main():
    with tempfile.TemporaryDirectory(prefix="vireo-late-") as folder:
        path = os.path.join(folder, "launcher")
        with open(path, "w", encoding="ascii") as file:
            file.write(LAUNCHER)
        os.chmod(path, 0o755)
        done = subprocess.run([sys.argv[1], "--set", "launch_limit_ms=300", "--launcher-cmd", path + " %h",
                               "-host", "localhost:1,elsewhere:1", "-n", "2", "true"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              check=False, start_new_session=True)
    if done.returncode != 1 or "cannot start a daemon on elsewhere" not in done.stderr:
        sys.exit(f"not so: mpiexec says that there is no daemon, and ends with exit code 1\n"
                 f"got:    {done.returncode}, {done.stderr!r}")
    print("ok: a greeting that comes too late does mpiexec no harm")


main()
