#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""An address of a daemon that does not answer holds mpiexec up no longer than the limit says.

usage: silent_address.py MPIEXEC VERSION

The command that starts the daemon names an address of loopback, whose listener has no room: the kernel
drops what comes, as a firewall does. mpiexec gives that up, connection and all, and ends.
"""
import os
import socket
import struct
import subprocess
import sys
import tempfile
import time

LIMIT_S = 45        # a connection that is not given up holds it for more than 100 s


def fill(address):
    """A listener whose queue is full, and what fills it."""
    listener = socket.socket()
    listener.bind((address, 0))
    listener.listen(0)
    held = [listener]
    while True:
        one = socket.socket()
        one.settimeout(0.5)
        held.append(one)
        try:
            one.connect(listener.getsockname())
        except TimeoutError:
            return listener.getsockname()[1], held


def main():
    mpiexec, version = sys.argv[1:]
    port, held = fill("127.77.0.1")
    place = struct.pack(">III", port, 1, 4) + socket.inet_aton("127.77.0.1") + bytes(12)
    with tempfile.TemporaryDirectory(prefix="vireo-silent-") as folder:
        path = os.path.join(folder, "launcher")
        with open(path, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\necho vireod {version}\necho at {place.hex()}\nexec sleep 60\n")
        os.chmod(path, 0o755)
        begun = time.monotonic()
        job = subprocess.Popen([mpiexec, "--set", "launch_limit_ms=4000", "--launcher-cmd", path + " %h",
                                "-host", "localhost:1,elsewhere:1", "-n", "2", "true"],
                               stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            text = job.communicate(timeout=LIMIT_S)[1]
        except subprocess.TimeoutExpired:
            job.kill()
            sys.exit(f"not so: mpiexec ends within {LIMIT_S} s\ngot:    {job.communicate()[1]!r}")
    if job.returncode != 1 or "has not reached mpiexec in time" not in text:
        sys.exit(f"not so: mpiexec says that the daemon was not there in time\n"
                 f"got:    {job.returncode}, {text!r}")
    print(f"ok: mpiexec ends after {time.monotonic() - begun:.1f} s")
    for one in held:
        one.close()


main()
