#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Garbage at every socket at which connected jobs listen: of ranks (tcp, shared memory between jobs, ports of MPI and BNR, doors
of groups), of mpiexec and of its daemons. Nothing comes back, nothing grows, and the jobs end as they should.

usage: noise.py MPIEXEC JOBS GROUPS [OPTION-OF-MPIEXEC...]

JOBS is test/mpi/dynamic/jobs.c, GROUPS test/bnr/groups.c.
"""
import contextlib
import os
import pathlib
import re
import secrets
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import marked    # noqa: E402

LIMIT, MIB = 100, 1 << 20 # seconds, bytes
NOISE = [10 * MIB, 100, 1] # bytes a call
GROWTH_MAX_KB = 64 << 10
mark = f"VIREO_TEST_NOISE={os.getpid()}"
mpiexec, jobs, groups, *options = sys.argv[1:]
quiet = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=8"} # what is freed is no growth
heard = [] # what came back, and from where


def start(ranks, *words):
    return subprocess.Popen(["timeout", "-k", "5", str(LIMIT), mpiexec, *options, "-n", str(ranks), *words],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=os.environ | dict([mark.split("=")]) | quiet)


def listening():
    """inode -> (family, type, address) of the sockets of this host that listen."""
    found = {}
    for name, family, host in ("tcp", socket.AF_INET, "127.0.0.1"), ("tcp6", socket.AF_INET6, "::1"):
        for words in map(str.split, pathlib.Path(f"/proc/net/{name}").read_text().splitlines()[1:]):
            if words[3] == "0A":
                found[words[9]] = family, socket.SOCK_STREAM, (host, int(words[1].rpartition(":")[2], 16))
    for words in map(str.split, pathlib.Path("/proc/net/unix").read_text(errors="replace").splitlines()[1:]):
        if len(words) > 7 and int(words[3], 16) & 0x10000:
            address = "\0" + words[7][1:] if words[7].startswith("@") else words[7]
            found[words[6]] = socket.AF_UNIX, int(words[4], 16), address
    return found


def doors():
    """(name of the program, family, type, address) of each socket at which the jobs listen."""
    table, found = listening(), set()
    for pid in marked.living(mark):
        with contextlib.suppress(OSError):
            program = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
            for fd in os.listdir(f"/proc/{pid}/fd"):
                link = os.readlink(f"/proc/{pid}/fd/{fd}")
                if link.startswith("socket:[") and link[8:-1] in table:
                    found.add((program, *table[link[8:-1]]))
    return found


def call(door, count):
    """Say so many random bytes. Whether the door could be called."""
    program, family, kind, address = door
    with socket.socket(family, kind) as stranger:
        stranger.settimeout(2)
        try:
            stranger.connect(address)
        except OSError: # it is closed already, or full
            return False
        sent, piece = 0, secrets.token_bytes(min(count, 1 << 16 if kind == socket.SOCK_STREAM else 200))
        with contextlib.suppress(OSError):
            while sent < count:
                sent += stranger.send(piece)
        with contextlib.suppress(OSError):
            stranger.shutdown(socket.SHUT_WR)
        with contextlib.suppress(OSError):
            back = stranger.recv(100)
            heard.extend([(program, address, back)] if back else [])
    return True


def class_of(door):
    """The kind of a door, for people: its program, and its name without what is random."""
    program, family, _, address = door
    name = re.sub(r"[0-9a-f]{8,}|[0-9]+", "#", address.replace("\0", "@")) if family == socket.AF_UNIX else "tcp"
    return f"{program}: {name}"


def memory():
    """KiB by process."""
    found = {}
    for pid in marked.living(mark):
        with contextlib.suppress(OSError, TypeError): # it has ended
            found[pid] = int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1])
    return found


def files():
    """Files that jobs could have left, or changed."""
    return sorted(str(p) for folder in ("/dev/shm", f"/tmp/vireo-names-{os.getuid()}") if os.path.isdir(folder)
                  for p in pathlib.Path(folder).iterdir() if "noise" in p.name or "vireo" in p.name)


def main():
    before, name = files(), f"noise-{os.getpid()}"
    running = [start(2, jobs, "serve", name, "400"), start(2, jobs, "visit", name, "400"), start(1, jobs, "spawn", "2", "40"),
               start(2, groups, "accept", name + "-g", "6000"), start(2, groups, "connect", name + "-g", "6000")]
    called, grown, first = {}, 0, {}
    while any(job.poll() is None for job in running):
        for door in doors():
            kind = class_of(door)
            count = called.get(kind, 0)
            if call(door, NOISE[count % len(NOISE)] if count < 30 else 200):
                called[kind] = count + 1
        for pid, kib in memory().items():
            first.setdefault(pid, kib)
            grown = max(grown, kib - first[pid])
        time.sleep(0.005)
    said = [job.communicate()[0] for job in running]
    codes = [job.returncode for job in running]
    for kind, count in sorted(called.items()):
        print(f"{count} calls at {kind}")
    print(f"processes grew by {grown} KiB at most")
    living = marked.left(mark)
    marked.kill(living)
    wrong = [text for text, holds in (
        (f"exit codes {codes}", not any(codes)), (f"words {said}", not any(said)), (f"heard {heard[:3]}", not heard),
        (f"left {living}", not living), (f"files {before}, then {files()}", files() == before),
        ("no door of memory between jobs", any("vireo-pair" in kind for kind in called)),
        ("no door of mpiexec", any(kind.startswith("mpiexec") for kind in called)),
        ("no door of groups", any(kind.startswith("bnr_groups") for kind in called)),
        ("no port", any(kind.endswith(": tcp") for kind in called)),
        ("a process has grown", grown < GROWTH_MAX_KB)) if not holds]
    for text in wrong:
        print(f"FAILED: {text}")
    sys.exit(bool(wrong))


main()
