#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 at random moments of MPI jobs leaves nothing behind.

usage: killed_mpi.py MPIEXEC WORK [ROUNDS [SEED]]

In each round a job is somewhere in MPI_Init, in messages, in collectives or in MPI_Finalize, over
shared memory or tcp, when mpiexec, a rank, a warden, or mpiexec and a warden are killed. Within 2 s no process of it may
be left, no name in /dev/shm or /tmp, no System V segment. All happens in namespaces of its own,
where every process but this one is the job's. 120 rounds, 30 for
each of them, where VIREO_TEST_FULL is set, 24 otherwise.
"""
import os
import random
import re
import signal
import sys
import tempfile
import time

LIMIT_S = 2
KINDS = [
    ("start and end", [], "init finalize", 12),
    ("start and end over tcp", ["VIREO_CHANNELS=tcp,loopback"], "init barrier finalize", 8),
    ("messages", ["VIREO_CHANNELS=shm,loopback"], "init p2p=60 finalize", 6),
    ("messages over tcp", ["VIREO_CHANNELS=tcp,loopback"], "init p2p=60 finalize", 6),
    ("collectives", [], "init colls=60 finalize", 6),
    ("collectives over tcp", ["VIREO_CHANNELS=tcp,loopback"], "init colls=60 finalize", 6),
    ("two-copy messages", ["VIREO_SINGLE_COPY=0"], "init message=4000000 message=4000000 finalize", 5),
]
# What is told where a rank is killed while it looks for leaks.
SANITIZER = re.compile(r"^==\d+==Unable to get registers from thread \d+\.\n", re.M)
VICTIMS = ["mpiexec", "a rank", "the warden", "mpiexec and the warden"] # in turn


def enter():
    """Go on in namespaces of our own; 77 where that is not allowed."""
    flags = ["--mount", "--pid", "--ipc", "--fork", "--mount-proc", "--kill-child"]
    if os.geteuid():
        flags.append("--map-root-user")
    if os.system("unshare " + " ".join(flags) + " true >/dev/null 2>&1"):
        print("namespaces are not allowed here")
        sys.exit(77)
    os.environ["KILLED_INSIDE"] = "1"
    os.execvp("unshare", ["unshare", *flags, sys.executable, *sys.argv])


def hide(paths):
    """Mount empty folders where litter would go. Returns them."""
    places = []
    for place in ("/dev/shm", "/tmp"):
        if not any(p.startswith(place + "/") for p in paths) and os.path.isdir(place):
            if os.system(f"mount -t tmpfs -o mode=1777 none {place}") == 0:
                places.append(place)
    return places


def processes():
    me = os.getpid()
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) != me]


def text(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def children(pid):
    return [int(c) for c in text(pid, f"task/{pid}/children").split()]


class Job:
    def __init__(self, mpiexec, work, kind):
        _, settings, acts, ranks = kind
        self.status = None
        self.err = tempfile.TemporaryFile(dir="/var/tmp")
        self.begin = time.monotonic()
        null = os.open("/dev/null", os.O_RDWR)
        self.pid = os.posix_spawn(
            mpiexec, [mpiexec, "-n", str(ranks), work, *acts.split()],
            dict(os.environ, **dict(s.split("=", 1) for s in settings)),
            file_actions=[(os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1),
                          (os.POSIX_SPAWN_DUP2, self.err.fileno(), 2)])
        os.close(null)

    def reap(self):
        """Take every end: those who lost their parent become our children."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if pid == self.pid:
                self.status = os.waitstatus_to_exitcode(status)

    def wait(self, limit):
        """Until no process is left. Returns the seconds that took, or None."""
        begin = time.monotonic()
        while True:
            self.reap()
            if self.status is not None and not processes():
                return time.monotonic() - begin
            if time.monotonic() - begin > limit:
                return None
            time.sleep(0.002)

    def said(self):
        self.err.seek(0)
        return self.err.read().decode(errors="replace")

    def victims(self, what):
        """Those that are to be killed, together."""
        if what == "mpiexec":
            return [self.pid]
        found = children(self.pid)
        warden = [p for p in found if text(p, "comm").startswith(b"vireo-warden")]
        # Not the process that looks for leaks at mpiexec's end, nor one that is still to become a
        # rank or the warden.
        ranks = [p for p in found if p not in warden and text(p, "comm") != b"mpiexec\n"]
        among = ranks if what == "a rank" else warden
        return ([self.pid] if what.startswith("mpiexec") else []) + random.sample(among, min(1, len(among)))


def judge(job, what, hit):
    """The fault in the job's end, or None."""
    said = SANITIZER.sub("", job.said())
    if what.startswith("mpiexec") and hit and job.status == -9:
        return None
    if what == "a rank" and job.status == 137:
        if said.count("\n") == 1 and "was killed by signal 9 (Killed)" in said:
            return None
    elif job.status == 0 and not said:
        return None # the victim had done its work, or was not there yet, or the warden
    return f"status {job.status}, and it said: {said!r}"


def left(places):
    names = [f"{p}/{name}" for p in places for name in os.listdir(p)]
    segments = text("sysvipc", "shm").splitlines()[1:]
    return names + [s.decode() for s in segments]


def main(mpiexec, work, rounds, seed):
    random.seed(seed)
    places = hide([mpiexec, work, *os.environ.get("LD_LIBRARY_PATH", "").split(":")])
    print(f"seed {seed}; watched: processes, segments, {' '.join(places)}")
    lengths = []
    for kind in KINDS:
        job = Job(mpiexec, work, kind)
        took = job.wait(30)
        if took is None or job.status or job.said():
            print(f"not killed, '{kind[0]}' ends with {job.status}: {job.said()}")
            return 1
        lengths.append(time.monotonic() - job.begin)
    worst, wrong, hits = 0, 0, {}
    for n in range(rounds):
        k, what = n % len(KINDS), VICTIMS[n % len(VICTIMS)]
        job = Job(mpiexec, work, KINDS[k])
        moment = random.uniform(0, lengths[k] * 1.05)
        time.sleep(moment)
        hit = False
        for victim in job.victims(what):
            try:
                hit |= text(victim, "stat").rpartition(b")")[2].split()[:1] not in ([b"Z"], [])
                os.kill(victim, signal.SIGKILL)
            except ProcessLookupError:
                pass
        # A machine that is slow at the whole job is as slow at its end.
        limit = LIMIT_S + 4 * lengths[k]
        took = job.wait(limit if hit and what != "the warden" else 30)
        why = judge(job, what, hit) if took is not None else "still there: " + ", ".join(
            f"{p} {text(p, 'cmdline')!r}" for p in processes())
        litter = left(places)
        if why or litter:
            wrong += 1
            print(f"round {n}: '{KINDS[k][0]}', {what} killed after {moment * 1e3:.1f} ms: "
                  f"{why}; left: {litter}")
        for p in processes():
            os.kill(p, signal.SIGKILL)
        hits[what] = hits.get(what, 0) + hit
        worst = max(worst, took or 0)
    print(f"{rounds} rounds, hit while they lived: {hits}; "
          f"the slowest end took {worst * 1e3:.0f} ms; {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    if "KILLED_INSIDE" not in os.environ:
        enter()
    count = 120 if os.environ.get("VIREO_TEST_FULL") else 24
    programs = [os.path.abspath(program) for program in sys.argv[1:3]]
    sys.exit(main(*programs, int(sys.argv[3]) if len(sys.argv) > 3 else count,
                  int(sys.argv[4]) if len(sys.argv) > 4 else int(time.time())))
