#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Cases of the channels' conformance suite over ofi, each between two hosts with a slow line.

usage: test/hosts/run --delay 200 --loss 2 2 -- slow_channel.py BUILD CASE...

They run at once, as each waits for the line most of the time.
"""
import os
import socket
import subprocess
import sys
import time

SEND_NET = """import os, socket
s = socket.socket(socket.AF_UNIX)
s.connect("slow.sock")
socket.send_fds(s, [b"n"], [os.open("/proc/self/ns/net", os.O_RDONLY)])"""
PATIENCE = "12"  # limits of time are so many times as long


def other_net():
    """A descriptor of the other host's network. Its processes are not to be seen from here."""
    if os.path.exists("slow.sock"):
        os.remove("slow.sock")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind("slow.sock")
        door.listen()
        door.settimeout(30)
        command = ["sh", "-c", f'cd "{os.getcwd()}" && exec "$0" -c "$1"', sys.executable, SEND_NET]
        with subprocess.Popen([os.environ["HOSTS_PROGRAM"], "enter", "h1", *command]):
            caller, _ = door.accept()
            with caller:
                return socket.recv_fds(caller, 1, 1)[1][0]


def main(build, *cases):
    os.chdir(build)
    nets = [os.open("/proc/self/ns/net", os.O_RDONLY), other_net()]
    os.remove("slow.sock")
    command = ["tools/vireo-channel-test", "--checks-secret", "--tells-nothing", "--hides-descriptors", "--needs-receiver",
               "--patience", PATIENCE]
    for net in nets:
        command += ["--net", f"/proc/self/fd/{net}"]
    begin = time.monotonic()
    running = [subprocess.Popen([*command, os.path.abspath("mpi/libvireo-channel-ofi.so"), case],
                                pass_fds=nets, stdout=subprocess.PIPE, text=True,
                                env={**os.environ, "VIREO_CHANNEL_PARAMS": "ofi.provider=tcp;ofi_rxm"})
               for case in cases]
    failed = 0
    for child in running:
        out, _ = child.communicate()
        failed += child.returncode != 0
        print(out, end="", flush=True)
    print(f"{len(cases)} cases in {time.monotonic() - begin:.0f} s, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
