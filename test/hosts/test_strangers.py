#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Strangers on the network, and other users of the hosts, hear and change nothing of a job.

usage: test_strangers.py BUILD

Runs itself again on hosts of its own (test/hosts/run). Status 77 where the machine does not allow
namespaces. There a job runs whose ranks talk all the time, while

- a stranger connects to every socket that listens on any host, and says garbage, right beginnings,
  half a greeting, and overheard bytes of the job itself;
- another user of each host does the same to sockets without a file too, and tries to look into
  the job's processes;
- root looks for the job's secret in places where it must not be.
"""
import collections
import contextlib
import json
import os
import pathlib
import re
import secrets
import socket
import struct
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve()
NOT_ALLOWED = 77
GARBAGE = 10 << 20
FLOW_MAX = 1 << 16  # bytes of a connection that are overheard
SECRET_AT = 56      # in the head of a job's table (bnr/host/table.h), behind the job's public number
OTHER_USER = 65534


def claim(text, holds, *told):
    if not holds:
        sys.exit(f"not so: {text}" + "".join(f"\n{t}" for t in told))
    print(f"ok: {text}", flush=True)


# ---- sockets ----

def listening():
    """The ports and the names at which a process of this host listens."""
    lines = [line.split() for name in ("tcp", "tcp6")
             for line in pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:]]
    ports = {int(words[1].split(":")[1], 16) for words in lines if words[3] == "0A"}
    unix = [line.split() for line in pathlib.Path("/proc/net/unix").read_text().splitlines()[1:]]
    names = {"\0" + words[7][1:] if words[7].startswith("@") else words[7] for words in unix
             if len(words) > 7 and int(words[3], 16) & 0x10000}
    return sorted(ports), sorted(names)


def hear(address, what):
    """The answer of (host, port), or of a name, to some bytes."""
    is_port = isinstance(address, tuple)
    family = socket.AF_UNIX if not is_port else socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as end:
        end.settimeout(6)
        try:
            end.connect(address)
        except (PermissionError, ConnectionRefusedError):  # a file of root's; an attempt that is over
            return b""
        with contextlib.suppress(OSError):
            end.sendall(what)
            end.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError):
            return end.recv(1)
    return b""


def sayings():
    """Garbage, and the first bytes of each protocol."""
    yield secrets.token_bytes(GARBAGE)
    yield b""
    yield b"Vlnk\1\1\0\0" + bytes(56)
    yield b"Vnd\1" * 40
    yield b"Vchn\1\1\1\0" + bytes(64)
    yield b"Vchn\1\1\1\0" + bytes(20)
    yield b"Vdoor\0\1\1"
    yield b"Vdoor\0\1\2" + struct.pack(">IBBBB", 52, 1, 0, 0, 0) + bytes(44)


# ---- overheard ----

class Ears(threading.Thread):
    """Overhears the connections of this host, each direction from its beginning."""

    def __init__(self):
        super().__init__(daemon=True)
        self.flows = collections.defaultdict(bytearray)
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.bind(("eth0", 0))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 24)
        self.start()

    def run(self):
        while True:
            self.take(self.socket.recv(1 << 16))

    def take(self, frame):
        at = 14
        if frame[12:14] == b"\x08\x00" and frame[at + 9] == 6:
            head = at + (frame[at] & 15) * 4
            end = at + int.from_bytes(frame[16:18], "big")
            to = socket.inet_ntop(socket.AF_INET, frame[at + 16:at + 20])
        elif frame[12:14] == b"\x86\xdd" and frame[at + 6] == 6:
            head, end = at + 40, at + 40 + int.from_bytes(frame[18:20], "big")
            to = socket.inet_ntop(socket.AF_INET6, frame[at + 24:at + 40])
        else:
            return
        flow = self.flows[to, *struct.unpack(">HH", frame[head:head + 4])]
        if len(flow) < FLOW_MAX:
            flow.extend(frame[head + (frame[head + 12] >> 4) * 4:end])

    def greetings(self, start):
        """Destination and bytes of connections that begin so."""
        return [(to, port, bytes(said)) for (to, _, port), said in list(self.flows.items())
                if said.startswith(start)]


# ---- programs of each host ----

def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def read(path):
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return b""


def mind():
    """The job's secret: a rank of this host has it in the table that it inherits."""
    for pid in processes():
        words = dict(word.split(b"=", 1) for word in read(f"/proc/{pid}/environ").split(b"\0")
                     if b"=" in word)
        if b"BNR_FD" not in words:
            continue
        table = words[b"BNR_FD"].split(b",")[0].decode()
        head = read(f"/proc/{pid}/fd/{table}")[:SECRET_AT + 16]
        number = head[SECRET_AT - 16:SECRET_AT].hex()
        if len(head) == SECRET_AT + 16 and number in words[b"BNR_JOB"].decode():
            return head[SECRET_AT:]
    return b""


def search():
    """Root: where the secret, which comes by stdin, stands on this host though it must not."""
    secret = bytes.fromhex(sys.stdin.readline())
    forms = (secret, secret.hex().encode(), secret.hex().upper().encode())
    places = [f"/proc/{pid}/{what}" for pid in processes() for what in ("cmdline", "environ")]
    places += ["/proc/net/unix"]
    for folder in ("/tmp", "/var/tmp", "/run", "/dev/shm"):
        places += [str(path) for path in pathlib.Path(folder).rglob("*")
                   if path.is_file() and not path.is_symlink()]
    found = [place for place in places if any(form in read(place) for form in forms)]
    print(json.dumps({"looked": len(places), "found": found}))


def intrude():
    """Another user: answers of each socket of this host, and files of its processes that open."""
    job = [pid for pid in processes() if b"mpi_work" in read(f"/proc/{pid}/cmdline")
           or b"vireod" in read(f"/proc/{pid}/cmdline")]
    descriptors = {pid: os.listdir(f"/proc/{pid}/fd") for pid in job}
    ports, names = listening()
    os.setgid(OTHER_USER)
    os.setuid(OTHER_USER)
    heard = [hear(address, what).hex() for what in sayings()
             for address in [("127.0.0.1", port) for port in ports] + names]
    opened = []
    for pid in job:
        for path in ["mem", "environ", "maps"] + [f"fd/{fd}" for fd in descriptors[pid]]:
            try:
                open(f"/proc/{pid}/{path}", "rb").read(1)
                opened.append(f"{pid}/{path}")
            except OSError:
                pass
    print(json.dumps({"ports": len(ports), "heard": heard,
                      "doors": sum(name.startswith("\0vireo") for name in names), "processes": len(job), "opened": opened}))


def on(host, act, text=""):
    enter = [os.environ["HOSTS_PROGRAM"], "enter", host, sys.executable, str(HERE), act]
    done = subprocess.run(enter, input=text, capture_output=True, text=True, timeout=100)
    claim(f"{act} on {host} ends well", done.returncode == 0, done.stdout, done.stderr)
    return json.loads(done.stdout)


# ---- the whole ----

def replay(ears):
    """Say the overheard bytes again, whole, cut, changed, and from behind the greeting."""
    heard, counts = [], {}
    for start, length in ((b"Vlnk\1\1", 64), (b"Vchn\1\1", 72)):
        said = ears.greetings(start)
        counts[start] = len(said)
        for to, port, data in said:
            for what in (data, data[:length], data[:length - 1] + bytes([data[length - 1] ^ 1]) +
                         data[length:], data[length + 16:]):
                heard.append(hear((to, port), what))
    return heard, counts


def attack():
    build, hosts = os.environ["BUILD"], os.environ["HOSTS_LIST"].split(",")
    planted = pathlib.Path("/tmp/planted")
    planted.write_text("behind " + (some := secrets.token_hex(16)))
    told = on(hosts[0], "search", some + "\n")
    claim("a secret in a file would be found", told["found"] == [str(planted)], told)
    planted.unlink()
    ears = Ears()
    job = subprocess.Popen([f"{build}/bnr/mpiexec", "--launcher-cmd",
                            os.environ["HOSTS_PROGRAM"] + " enter %h", "-host", ",".join(hosts),
                            "-n", str(2 * len(hosts)), f"{build}/test/bnr/mpi_work", "init",
                            "traffic=14000", "finalize"],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
    try:
        time.sleep(2)
        secret = mind()
        claim("a rank has the job's secret", len(secret) == 16)
        heard, counts = replay(ears)
        claim("greetings and frames of daemons and of ranks were overheard",
              min(counts.values()) >= 1, counts)
        claim(f"none of {len(heard)} that are said again is answered", set(heard) == {b""}, heard)
        for host in hosts:
            told = on(host, "intrude")
            # On each host two ranks, and a daemon or mpiexec, which has a door too.
            claim(f"{told['ports']} ports and {told['doors']} doors of {host} were tried",
                  told["ports"] >= 3 and told["doors"] >= 1, told)
            claim(f"another user of {host} hears no byte",
                  set(told["heard"]) == {""}, told)
            claim("and can look into no process of the job",
                  told["processes"] >= 2 and not told["opened"], told)
            told = on(host, "search", secret.hex() + "\n")
            claim(f"the secret is in none of {told['looked']} places of {host}",
                  told["looked"] > 10 and not told["found"], told)
        claim("the job still runs", job.poll() is None)
        out, err = job.communicate(timeout=60)
        claim("and ends as if nothing had been", job.returncode == 0 and not err and not out, out, err)
    finally:
        job.kill()


def main():
    acts = {"intrude": intrude, "search": search, "attack": attack}
    if sys.argv[1] in acts:
        acts[sys.argv[1]]()
        return
    os.environ["BUILD"] = os.path.abspath(sys.argv[1])
    os.environ["HOSTS_PROGRAM"] = os.path.join(os.environ["BUILD"], "test/hosts/hosts")
    done = subprocess.run([str(HERE.parent / "run"), "2", "--", sys.executable, str(HERE), "attack"],
                          capture_output=True, text=True, timeout=150)
    print(done.stdout, done.stderr, sep="")
    sys.exit(done.returncode)


main()
