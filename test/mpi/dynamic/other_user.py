#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Another user of the host at what jobs that spawn have open: sockets of the pair channel, shared memory, environments,
the folder of names. Nothing is told, and the jobs go on. Needs root, who becomes the other user; otherwise it is skipped.

usage: other_user.py MPIEXEC JOBS

JOBS is test/mpi/dynamic/jobs.c.
"""
import os
import random
import re
import socket
import subprocess
import sys
import time

LIMIT, CYCLES, NOBODY, SKIPPED = 100, "60", 65534, 77 # seconds, ...
mpiexec, jobs = sys.argv[1:]
MARK = f"VIREO_TEST_OTHER={os.getpid()}"


def doors():
    """The abstract sockets that listen for other jobs."""
    return set(re.findall(r"@(vireo-pair-[0-9a-f]{32})", open("/proc/net/unix", encoding="utf-8", errors="replace").read()))


def knock(name):
    """Whether it could be called, and what came back to some noise."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
        stranger.settimeout(10)
        try:
            stranger.connect("\0" + name)
            for _ in range(3):
                stranger.send(random.randbytes(random.choice((1, 8, 64, 200))))
            return True, stranger.recv(300)
        except (ConnectionError, BrokenPipeError):
            return True, b""
        except OSError:
            return False, b""


def pry(pid):
    """What another user can read of a process."""
    opened = []
    for what in "environ", "mem", "maps":
        try:
            with open(f"/proc/{pid}/{what}", "rb") as file:
                opened += [what] if file.read(16) else [] # of a process that is ending it can be opened, and is empty
        except OSError:
            pass
    try:
        opened += [f"fd {fd}" for fd in os.listdir(f"/proc/{pid}/fd")]
    except OSError:
        pass
    return opened


def be_other(pids):
    """As the other user, until the job is over. Exits with what was wrong."""
    called, wrong = 0, set()
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)
    until = time.monotonic() + LIMIT
    while os.path.exists(f"/proc/{pids[0]}") and time.monotonic() < until:
        for name in doors():
            could, heard = knock(name)
            called += could
            wrong |= {f"heard {heard!r}"} if heard else set()
        for pid in pids:
            wrong |= {f"read {what} of {pid}" for what in pry(pid)}
        try:
            wrong |= {f"listed {os.listdir('/tmp/vireo-names-0')}"}
        except OSError:
            pass
        time.sleep(0.01)
    print(f"{called} calls by another user", flush=True)
    for what in wrong:
        print(f"FAILED: the other user has {what}", flush=True)
    os._exit(bool(wrong) or not called)


def main():
    if os.getuid():
        sys.exit(SKIPPED)
    job = subprocess.Popen(["timeout", "-k", "5", str(LIMIT), mpiexec, "-n", "1", jobs, "spawn", "1", CYCLES],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           env=os.environ | dict([MARK.split("=")]))
    ranks = []
    while not ranks and job.poll() is None:
        ranks = [int(pid) for pid in filter(str.isdigit, os.listdir("/proc")) if is_rank(pid)]
        time.sleep(0.01)
    doors() # what Python loads for that, another user may not be able to read
    other = os.fork()
    if not other:
        be_other([job.pid, *ranks])
    said = job.communicate()[0]
    _, status = os.waitpid(other, 0)
    right = job.returncode == 0 and not said
    print(f"{'ok' if right else 'FAILED'}: the job ends well", *([] if right else [job.returncode, said]))
    sys.exit(not right or bool(status))


def is_rank(pid):
    try:
        return MARK.encode() in open(f"/proc/{pid}/environ", "rb").read().split(b"\0") and \
            os.path.samefile(f"/proc/{pid}/exe", jobs)
    except OSError:
        return False


main()
