#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kill one process of a job over several hosts, again and again: nothing may be left.

usage: kill.py BUILD [--rounds N] [--seed N], inside of test/hosts/run

The victim is drawn from all processes of all hosts: mpiexec, daemons, wardens, commands that
started daemons, ranks and their children. Where the job goes on without it, as without a warden,
mpiexec gets SIGTERM. Two seconds after that each host holds what it held before, and so do its /tmp,
/run and /dev/shm. A look at all hosts takes long on a busy machine: the last begins after those two
seconds.
"""
import argparse
import os
import pathlib
import random
import subprocess
import sys
import time

LIMIT_S = 2
ENTER = os.environ["HOSTS_PROGRAM"]
HOSTS = os.environ["HOSTS_LIST"].split(",")
LOOK = r"""
for p in /proc/[0-9]*; do
    pid=${p#/proc/}
    state=$(sed 's/.*) //; s/ .*//' $p/stat 2>/dev/null) || continue
    [ $pid = 1 ] || [ $pid = $$ ] || [ $pid = $PPID ] || [ "$state" = Z ] && continue
    printf '%s %s\n' $pid "$(tr '\0\n' '  ' <$p/cmdline 2>/dev/null)"
done
echo files $(find /tmp /dev/shm /run -xdev 2>/dev/null | grep -v ^/run/hosts | sort)
"""


def look(host):
    """The processes of a host, and its files."""
    text = subprocess.run([ENTER, "enter", host, "sh", "-c", LOOK], capture_output=True,
                          text=True).stdout.splitlines()
    own = {str(os.getpid())} if host == HOSTS[0] else set()
    lines = [line.partition(" ") for line in text[:-1]]
    found = {pid: words for pid, _, words in lines
             if words.strip() and pid not in own and "for p in /proc" not in words}
    return found, text[-1]


def start(build):
    program = ["sh", "-c", "sleep 30 & exec sleep 30"]
    return subprocess.Popen([f"{build}/bnr/mpiexec", "--launcher-cmd", f"{ENTER} enter %h", "-host",
                             ",".join(HOSTS), "-n", str(2 * len(HOSTS)), *program],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def left_after(job, files):
    """What is left when the time is up; nothing, as soon as nothing is."""
    begin = time.monotonic()
    while True:
        is_last = time.monotonic() > begin + LIMIT_S
        job.poll()
        left = {}
        for host in HOSTS:
            found, now = look(host)
            if found or now != files[host]:
                left[host] = (found, now if now != files[host] else "")
        if not left or is_last:
            return left


def play(build, chance, files):
    """One round. Returns what was killed, and what was left."""
    job = start(build)
    time.sleep(chance.choice([0.01, 0.05, 0.2, 0.5]))
    victims = [(host, pid, words) for host in HOSTS for pid, words in look(host)[0].items()]
    if not victims:
        job.wait()
        return "nothing", {}
    host, pid, words = chance.choice(sorted(victims))
    subprocess.run([ENTER, "enter", host, "kill", "-9", pid], stderr=subprocess.DEVNULL)
    ends = "mpiexec" in words or "vireod" in words.split(" ")[0] or words.startswith("sleep")
    if not ends:
        time.sleep(0.2)
        job.terminate()
    try:
        job.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        job.terminate()         # a child of a rank was killed, and the job goes on
    left = left_after(job, files)
    if job.poll() is None:
        job.kill()
        job.wait()
    return f"{words.strip()} on {host}", left


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    files = {host: look(host)[1] for host in HOSTS}
    for number in range(given.rounds):
        seed = given.seed + number
        victim, left = play(given.build, random.Random(seed), files)
        if left:
            sys.exit(f"not so: nothing is left\nseed {seed}: killed {victim}\nleft: {left}")
        print(f"seed {seed}: {victim}", flush=True)
    print(f"ok: nothing is left after {given.rounds} kills")


main()
