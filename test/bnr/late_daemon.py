#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Daemons that are late, or leave early. usage: late_daemon.py MPIEXEC VERSION

The command that starts one is killed when its time is up. What it has started lives on in a session of
its own: it says the version of another Vireo by the command's stdout, or it holds the command's pipes,
which mpiexec has taken for a link.
"""
import os
import select
import subprocess
import sys
import tempfile
import time

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


def run(options, launcher, hosts):
    """Run hostname on hosts of this machine, each started by a launcher of the shell's: $host, and "$@"."""
    with tempfile.TemporaryDirectory(prefix="vireo-late-") as folder:
        path = os.path.join(folder, "launcher")
        with open(path, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\nhost=$1; shift\n{launcher.replace('FOLDER', folder)}\n")
        os.chmod(path, 0o755)
        return subprocess.run([sys.argv[1], *options, "--launcher-cmd", path + " %h", "-host",
                               ",".join(h + ":1" for h in hosts), "-n", str(len(hosts)), "echo", "here"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S)


def waits():
    """One host comes at its second attempt, later than any daemon is given to reach mpiexec."""
    done = run(["--set", "launch_limit_ms=1500"], '[ $host != b ] || mkdir FOLDER/once 2>/dev/null && '
               '[ $host = b ] && sleep 30\nexec "$@"', ["localhost", "a", "b"])
    if done.returncode or done.stdout.split() != ["here"] * 3:
        sys.exit(f"not so: a daemon that has reached mpiexec waits for the others\ngot: {done}")
    print("ok: a daemon that has reached mpiexec waits for the others", flush=True)


def goes():
    """One daemon is killed while another is on its way."""
    done = run([], '[ $host = a ] || { sleep 1.5; exec "$@"; }\nexec 3<&0; "$@" <&3 & sleep 0.7\n'
               "kill -9 $!; wait", ["localhost", "a", "b"])
    if done.returncode != 1 or "a daemon on a: failed to stay until all hosts were there" not in done.stderr:
        sys.exit(f"not so: a daemon that ends before all are there is told of\ngot: {done}")
    print("ok: a daemon that ends before all are there is told of", flush=True)


def tells():
    """On a terminal a line says which host is awaited; a host that is down is not tried again."""
    with tempfile.TemporaryDirectory(prefix="vireo-late-") as folder:
        path = os.path.join(folder, "launcher")
        with open(path, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\nhost=$1; shift\n[ $host = a ] || exec sleep 30\nexec "$@"\n')
        os.chmod(path, 0o755)
        ours, theirs = os.openpty()
        job = subprocess.Popen([sys.argv[1], "--launcher-cmd", path + " %h", "-host",
                                "localhost:1,a:1,hangs:1", "-n", "3", "true"], stdin=subprocess.DEVNULL,
                               stderr=theirs)
        os.close(theirs)
        text, until = "", time.monotonic() + LIMIT_S
        while "\n" not in text and time.monotonic() < until:
            if select.select([ours], [], [], 1)[0]:
                text += os.read(ours, 4096).decode()
        job.terminate()
        job.wait()
        os.close(ours)
    if "mpiexec: waiting for hangs (no daemon there yet), of 2 hosts" not in text:
        sys.exit(f"not so: a line says which host is awaited\ngot: {text!r}")
    print("ok: a line says which host is awaited", flush=True)
    done = run([], '[ $host != down ] || { echo "ssh: connect to host down port 22: No route to host" >&2; '
               'exit 255; }\nexec "$@"', ["localhost", "down"])
    if done.returncode != 1 or "failed to connect (attempt 1)" not in done.stderr:
        sys.exit(f"not so: a host that is down is not tried again\ngot: {done}")
    print("ok: a host that is down is not tried again", flush=True)


def main():
    tells()
    waits()
    goes()
    check("a greeting that comes too late does mpiexec no harm", GREETS_LATE, [])
    check("mpiexec does not wait for one who holds its pipes", HOLDS_PIPES, ["--daemon-link", "stdio"])


main()
