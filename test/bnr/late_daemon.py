#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A daemon whose attempt was given up does mpiexec no harm. usage: late_daemon.py MPIEXEC VERSION

The command that starts it is killed when its time is up. What it has started lives on in a session of
its own: it says the version of another Vireo by the command's stdout, or it holds the command's pipes,
which mpiexec has taken for a link.
"""
import os
import subprocess
import sys
import tempfile

LIMIT_S = 30
GREETS_LATE = "sleep 0.55; echo vireod 0.0.0; sleep 0.1"
HOLDS_PIPES = "echo vireod VERSION; for i in $(seq 600); do test -e FOLDER/launcher || exit; sleep 0.1; done"


def check(claim, command, options):
    with tempfile.TemporaryDirectory(prefix="vireo-late-") as folder:
        path = os.path.join(folder, "launcher")
        with open(path, "w", encoding="ascii") as file:
            command = command.replace("FOLDER", folder).replace("VERSION", sys.argv[2])
            file.write(f"#!/bin/sh\nsetsid sh -c '{command}' &\nexec sleep 10\n")
        os.chmod(path, 0o755)
        job = subprocess.Popen([sys.argv[1], "--set", "launch_limit_ms=300", *options, "--launcher-cmd",
                                path + " %h", "-host", "localhost:1,elsewhere:1", "-n", "2", "true"],
                               stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
        try:
            text = job.communicate(timeout=LIMIT_S)[1]
        except subprocess.TimeoutExpired:
            job.kill()
            job.wait()
            sys.exit(f"not so: {claim}\ngot:    it has not ended after {LIMIT_S} s")
    if job.returncode != 1 or "cannot start a daemon on elsewhere" not in text:
        sys.exit(f"not so: {claim}\ngot:    {job.returncode}, {text!r}")
    print("ok:", claim, flush=True)


def main():
    check("a greeting that comes too late does mpiexec no harm", GREETS_LATE, [])
    check("mpiexec does not wait for one who holds its pipes", HOLDS_PIPES, ["--daemon-link", "stdio"])


main()
