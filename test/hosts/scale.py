#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A large job on many hosts does what a small one does; what that takes is printed.

usage: test/hosts/run HOSTS -- scale.py BUILD [RANKS-A-HOST [LIVENESS-MS]]
       test/hosts/run HOSTS -- scale.py hydra [RANKS-A-HOST]

mpiexec has the first host for itself, so all that goes in and out there is what the root of the daemons says and hears;
it is counted in frames of the network. One job starts, has barriers, allreduces, first messages of random pairs and an
all-to-all of four bytes, and ends. Of a second one a rank is killed, of a third a host is lost, and the others go on. Of a
fourth a rank is killed, and all end. Nothing may be left. With hydra the first job alone runs, of Debian's MPICH.
"""
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ENTER = os.environ["HOSTS_PROGRAM"]
HOSTS = os.environ["HOSTS_LIST"].split(",")
LIMIT_S = 280
LEFT_S = 20
PAIRS = 4
DAEMON = "vireod"
ANOTHER_S = 30  # that another MPI may take for its end
COUNTS = re.compile(r"eth0:" + r" +(\d+)" * 16)
LOOK = "ps -eo pid=,stat=,args= | grep -v ' Z' | grep -E 'vireod|scale' | grep -v -e grep -e scale.py"
PRIVATE = re.compile(r"^Private_(?:Clean|Dirty): +(\d+)", re.M)


def enter(host, *words):
    return subprocess.run([ENTER, "enter", host, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False).stdout


def traffic():
    """Frames and bytes, in and out."""
    counts = [int(n) for n in COUNTS.search(pathlib.Path("/proc/net/dev").read_text()).groups()]
    return counts[1] + counts[9], counts[0] + counts[8]


def private(text):
    return sum(int(n) for n in PRIVATE.findall(text))


class Job:
    """A job, and what rank 0 has said of it."""

    def __init__(self, launcher, program, each, *words):
        self.ranks = each * (len(HOSTS) - 1)
        self.began = self.last = time.monotonic()
        self.before, self.heard, self.pids = traffic(), {}, {}
        places = ",".join(f"{host}:{each}" for host in HOSTS[1:])
        self.process = subprocess.Popen([*launcher, places, "-n", str(self.ranks), program, *words], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def fail(self, what):
        self.process.terminate()
        sys.exit(f"not so: {what}\n{self.process.stderr.read()[-3000:]}")

    def hear(self, name):
        """Wait until something has been done. Prints a row."""
        for line in self.process.stdout:
            words = line.split()
            if words[0] == name:
                break
            if words[0] == "pid":
                self.pids[int(words[1])] = words[2]
            else:
                self.heard[" ".join(words[:-3])] = [int(n) for n in words[-3:]]
        else:
            self.fail(f"{name} comes to its end")
        self.row(name, float(words[1]))

    def row(self, name, took=None):
        now, counts = time.monotonic(), traffic()
        print(f"| {name} | {now - self.last:.2f} | {'' if took is None else f'{took:.3f}'} | {counts[0] - self.before[0]} | "
              f"{counts[1] - self.before[1]} |", flush=True)
        self.before, self.last = counts, now

    def answer(self, text="0"):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        self.last = time.monotonic()

    def end_of_another(self):
        """The end of a job that is not ours, if it comes."""
        try:
            self.process.communicate(timeout=ANOTHER_S)
            self.row("ended")
        except subprocess.TimeoutExpired:
            self.process.kill()
            print(f"| ended | not within {ANOTHER_S} | | | |")

    def end(self, status):
        said = self.process.stderr.read()
        if self.process.wait() != status:
            sys.exit(f"not so: the status is {status}, not {self.process.returncode}\n{said[-3000:]}")
        self.row("ended")
        return said


def start(build, each, *words, options=()):
    """A job of ours."""
    return Job([f"{build}/bnr/mpiexec", "--launcher-cmd", f"{ENTER} enter %h", "--timeout", str(LIMIT_S), *options, "-host"],
               f"{build}/test/hosts/scale", each, *words)


def host_of(rank, each):
    return HOSTS[1 + rank // each]


def memory(job, daemon):
    """KiB that mpiexec has for itself, and some daemons."""
    show = f"cat /proc/$(pidof {daemon} | tr ' ' '\\n' | sort -n | head -n 1)/smaps_rollup"
    daemons = [private(enter(host, "sh", "-c", show)) for host in {HOSTS[1], HOSTS[len(HOSTS) // 2], HOSTS[-1]}]
    return private(pathlib.Path(f"/proc/{job.process.pid}/smaps_rollup").read_text()), statistics.median(daemons)


def left():
    """The processes that are left, once there was time to end."""
    until = time.monotonic() + LEFT_S
    while True:
        found = {host: text for host in HOSTS if (text := enter(host, "sh", "-c", LOOK))}
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.5)


def head(name):
    print(f"\n{name}:\n\n| | s | of the slowest rank | frames at mpiexec | bytes |\n|---|---|---|---|---|", flush=True)


def work(job, daemon):
    """Follow the first job, whose daemons have that name."""
    for name in ("started", "barriers", "allreduces", "pairs", "alltoall", "measured"):
        job.hear(name)
        if name == "measured":
            needs = memory(job, daemon)
        job.answer()
    if daemon == DAEMON:
        job.end(0)
    else:
        job.end_of_another()
    for name in ("at first", "at last"):
        print(f"a rank {name}: {job.heard['memory ' + name]} KiB (least, median, most)")
    print(f"mpiexec: {needs[0]} KiB, a daemon: {needs[1]} KiB", flush=True)


def work_under_hydra(each):
    with tempfile.TemporaryDirectory(dir=pathlib.Path(ENTER).parent) as folder:  # each host has a /tmp of its own
        program, here = f"{folder}/scale", pathlib.Path(__file__)
        subprocess.run(["mpicc.mpich", "-O2", "-o", program, here.with_name("scale.c")], check=True)
        head("a job of MPICH under Hydra")
        work(Job(["timeout", str(LIMIT_S), "mpiexec.hydra", "-launcher", "ssh", "-launcher-exec",
                  str(here.resolve().with_name("as_ssh")), "-hosts"], program, each, str(PAIRS)), "hydra_pmi_proxy")


def deaths(build, each, way, liveness):
    """Some ranks die, and the others go on."""
    head(f"a {'rank is killed' if way == 'rank' else 'host is lost'}")
    job = start(build, each, "deaths", options=("--set", f"liveness_ms={liveness}"))
    job.hear("started")
    while len(job.pids) < job.ranks:
        words = job.process.stdout.readline().split()
        job.pids[int(words[1])] = words[2]
    victim = job.ranks - 1
    job.answer("1" if way == "rank" else str(each))
    host = host_of(victim, each)
    if way == "rank":
        enter(host, "kill", "-9", job.pids[victim])
    else:
        enter(host, "ip", "link", "set", "eth0", "down")
    job.hear("shrunk")
    job.answer()
    said = job.end(137)
    if way == "host":
        enter(host, "ip", "link", "set", "eth0", "up")
    named = len(re.findall(r"rank \d+ on .*(?:killed by signal 9|was lost with its host)", said))
    if named != (1 if way == "rank" else each):
        sys.exit(f"not so: mpiexec names those that have died\n{said[-3000:]}")


def all_end(build, each):
    """A rank is killed, and the job with it."""
    head("a rank is killed, and all end")
    job = start(build, each)
    job.hear("started")
    enter(HOSTS[-1], "sh", "-c", "kill -9 $(pidof scale | tr ' ' '\\n' | head -n 1)")
    job.last = time.monotonic()
    job.end(137)


def main(build, each="16", liveness="10000"):
    print(f"{int(each) * (len(HOSTS) - 1)} ranks on {len(HOSTS) - 1} hosts, {each} on each")
    if build == "hydra":
        work_under_hydra(int(each))
        return
    head("a job")
    work(start(build, int(each), str(PAIRS)), DAEMON)
    deaths(build, int(each), "rank", liveness)
    deaths(build, int(each), "host", liveness)
    all_end(build, int(each))
    if found := left():
        sys.exit(f"not so: nothing is left: {found}")
    print("\nnothing is left")


main(*sys.argv[1:])
