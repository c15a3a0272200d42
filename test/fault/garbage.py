#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Garbage at every listening port of a running job changes nothing.

usage: garbage.py MPIEXEC WORK [SECONDS [SEED]]

A job of ranks over tcp checks all that it sends. Meanwhile strangers connect to each of its ports:
they scan, half open, say nothing, say random bytes, HTTP, a TLS hello, the beginning of our own
hello, a whole one with a wrong proof, much too much, reset, and come in crowds. The job ends as if
they had not been there: status 0, nothing on stderr, within its time; no rank grows.
"""
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import time

RANKS = 6
CROWD = 300
GROWTH_MAX_KB = 64 << 10


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(p) for p in file.read().split()]


def sockets(pid):
    found = set()
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            link = os.readlink(f"/proc/{pid}/fd/{fd}")
        except OSError:
            continue
        if link.startswith("socket:["):
            found.add(link[8:-1])
    return found


def listening():
    """inode -> (family, port) of every socket that listens."""
    found = {}
    for family, name in ((socket.AF_INET, "tcp"), (socket.AF_INET6, "tcp6")):
        try:
            with open(f"/proc/net/{name}") as file:
                rows = [line.split() for line in file][1:]
        except OSError:
            continue
        for row in rows:
            if row[3] == "0A":
                found[row[9]] = (family, int(row[1].rpartition(":")[2], 16))
    return found


def ports_of(ranks):
    table = listening()
    return {pid: [table[i] for i in sockets(pid) if i in table] for pid in ranks}


def resident_kb(pid):
    with open(f"/proc/{pid}/status") as file:
        return int(re.search(r"VmRSS:\s+(\d+)", file.read()).group(1))


def hello(whole):
    """A HELLO with the right frame and nothing right in it, or its beginning."""
    words = b"Vchn" + bytes([1, 1, 1, 0]) + struct.pack(">II", random.randrange(RANKS),
                                                       random.randrange(RANKS))
    words += random.randbytes(72 - len(words))
    return words if whole else words[:random.randrange(1, 72)]


def flood(sock):
    sock.settimeout(0.2)
    for _ in range(64):
        sock.sendall(random.randbytes(65536))


def reset(sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


DEEDS = {
    "scan": lambda s: None,
    "random": lambda s: s.sendall(random.randbytes(random.randrange(1, 4096))),
    "http": lambda s: s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    "tls": lambda s: s.sendall(bytes.fromhex("16030100a5010000a10303") + random.randbytes(160)),
    "ssh": lambda s: s.sendall(b"SSH-2.0-OpenSSH_9.2\r\n"),
    "zeros": lambda s: s.sendall(bytes(4096)),
    "half hello": lambda s: s.sendall(hello(False)),
    "forged hello": lambda s: s.sendall(hello(True)),
    "two hellos": lambda s: s.sendall(hello(True) + hello(True)),
    "packet": lambda s: s.sendall(struct.pack(">I", 1 << 30) + b"Vpk\1" + random.randbytes(64)),
    "end of sending": lambda s: s.shutdown(socket.SHUT_WR),
    "urgent": lambda s: s.send(b"!", socket.MSG_OOB),
    "flood": flood,
    "reset": reset,
}


class Strangers:
    def __init__(self, ports):
        self.ports = [p for ports_of_rank in ports.values() for p in ports_of_rank]
        self.open, self.count, self.deeds = [], 0, list(DEEDS)

    def visit(self, family, port, deed):
        address = "127.0.0.1" if family == socket.AF_INET else "::1"
        sock = socket.socket(family, socket.SOCK_STREAM)
        sock.settimeout(1)
        try:
            sock.connect((address, port))
            self.count += 1
            DEEDS[deed](sock)
        except OSError:
            pass # hung up on, or full: as it should be
        self.open.append(sock)
        while len(self.open) > CROWD or (self.open and random.random() < 0.3):
            self.open.pop(random.randrange(len(self.open))).close()

    def visit_all(self):
        for family, port in self.ports:
            self.visit(family, port, self.deeds[self.count % len(self.deeds)])
            self.visit(family, port, random.choice(self.deeds))

    def crowd(self, family, port):
        """As many at once as one may have open, all silent."""
        for _ in range(CROWD):
            sock = socket.socket(family, socket.SOCK_STREAM)
            sock.setblocking(False)
            sock.connect_ex(("127.0.0.1" if family == socket.AF_INET else "::1", port))
            self.open.append(sock)
            self.count += 1
        time.sleep(0.05)
        while self.open:
            self.open.pop().close()


def find_ports(job):
    """Of every rank, once each has its port."""
    until = time.monotonic() + 20
    while time.monotonic() < until and job.poll() is None:
        try:
            ports = ports_of(p for p in children(job.pid) if sockets(p))
            if len(ports) == RANKS and all(ports.values()):
                return ports
        except OSError:
            pass
        time.sleep(0.02)
    return None


def main(mpiexec, work, seconds):
    env = dict(os.environ, VIREO_CHANNELS="tcp,loopback")
    # A sanitizer keeps what is freed for a while: not so much that it looks like growth.
    env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=8"
    ms = int(seconds * 1000)
    # Pairs meet for the first time while the strangers are there, too.
    job = subprocess.Popen([mpiexec, "-n", str(RANKS), "--timeout", str(int(seconds) * 4 + 60),
                            work, "init", "sleep=500", f"traffic={ms}", "hello", "finalize"],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, env=env, text=True)
    try:
        ports = find_ports(job)
        if not ports:
            job.send_signal(signal.SIGTERM)
            print("no port of the ranks was found:", *job.communicate())
            return 1
        strangers = Strangers(ports)
        before = {p: resident_kb(p) for p in ports}
        until, growth, begin = time.monotonic() + seconds, 0, time.monotonic()
        while time.monotonic() < until and job.poll() is None:
            strangers.visit_all()
            if random.random() < 0.05:
                strangers.crowd(*random.choice(strangers.ports))
            try:
                growth = max(growth, *(resident_kb(p) - before[p] for p in ports))
            except (OSError, AttributeError):
                break
        for sock in strangers.open:
            sock.close()
        out, err = job.communicate(timeout=seconds * 4 + 90)
    finally:
        if job.poll() is None:
            job.kill()
    took = time.monotonic() - begin
    print(f"{strangers.count} strangers at {len(strangers.ports)} ports of {RANKS} ranks in "
          f"{took:.1f} s; the job ended with {job.returncode}; ranks grew by {growth} KiB at most")
    said = sorted(out.splitlines())
    right = said == sorted(f"rank {r} of {RANKS}" for r in range(RANKS))
    if job.returncode or err or not right or growth > GROWTH_MAX_KB:
        print(f"stdout: {said}\nstderr: {err}")
        return 1
    return 0


if __name__ == "__main__":
    start = int(sys.argv[4]) if len(sys.argv) > 4 else int(time.time())
    random.seed(start)
    print(f"seed {start}")
    default = 20 if os.environ.get("VIREO_TEST_FULL") else 4
    sys.exit(main(sys.argv[1], sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else default))
