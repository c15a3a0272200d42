#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Strangers at the port of a job that accepts: garbage, silence, half a conversation, a wrong proof. None learns
anything or gets in, and the process with the port's name connects all the same.

usage: strangers.py MPIEXEC JOBS

JOBS is test/mpi/dynamic/jobs.c.
"""
import os
import re
import socket
import subprocess
import sys

LIMIT = 60 # seconds
GARBAGE = 10 << 20
mpiexec, jobs = sys.argv[1:]
failed = 0


def claim(text, holds, *told):
    global failed
    failed += not holds
    print(f"{'ok' if holds else 'FAILED'}: {text}", *([] if holds else told), flush=True)


def start(*words):
    return subprocess.Popen(["timeout", "-k", "5", str(LIMIT), mpiexec, "-n", "2", jobs, *words], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def call(port):
    stranger = socket.create_connection(("127.0.0.1", port), timeout=20)
    return stranger


def hear(stranger, most=64):
    """What comes back, up to the end of the connection."""
    heard = b""
    try:
        while len(heard) < most and (more := stranger.recv(most)):
            heard += more
    except (ConnectionError, TimeoutError):
        pass
    return heard


def main():
    server = start("accept")
    name = server.stdout.readline().strip()
    match = re.fullmatch(r"vireo1\.[0-9a-f]{32}\.([0-9]+)@.*", name)
    claim("the job tells its port", match, name, server.communicate()[0] if not match else "")
    if not match:
        sys.exit(1)
    port = int(match[1])

    silent = [call(port) for _ in range(100)]
    noisy = call(port)
    sent = 0
    try:
        noise = os.urandom(1 << 16)
        while sent < GARBAGE:
            sent += noisy.send(noise)
    except ConnectionError:
        pass
    claim("garbage is hung up on, and hears nothing", hear(noisy) == b"")

    hello = b"VireoPt1" + os.urandom(16) + bytes(8)
    asking = call(port)
    asking.sendall(hello)
    answer = hear(asking, 32)
    claim("HELLO is answered by a nonce and a proof", len(answer) == 32 and answer[24:] == bytes(8))
    asking.sendall(os.urandom(8) + bytes(24))
    claim("a wrong proof is hung up on, and hears nothing", hear(asking) == b"")

    turned = call(port)
    turned.sendall(hello)
    answer = hear(turned, 32)
    turned.sendall(answer[16:24] + bytes(24))
    claim("the owner's own proof is no proof of a caller", hear(turned) == b"")

    again = call(port)
    again.sendall(hello)
    claim("a HELLO that was heard before gets another nonce", hear(again, 32)[:16] != answer[:16])
    cut = call(port)
    cut.sendall(hello[:20])
    cut.close()

    wrong = start("connect", re.sub(r"^vireo1\.[0-9a-f]{4}", lambda m: "vireo1." + ("0000" if m[0][7:] != "0000" else "1111"), name), "fail")
    claim("a job with another secret is not let in", wrong.wait() == 0, wrong.stdout.read())
    right = start("connect", name, "well")
    claim("the job with the name connects", right.wait() == 0, right.stdout.read())
    claim("and the one that accepts ends well", server.wait() == 0, server.stdout.read())
    for stranger in silent:
        stranger.close()
    sys.exit(bool(failed))


main()
