#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hang reports, `vireo ps` and --timeout of jobs that wait for each other.

usage: waits.py MPIEXEC VIREO WAITS [OPTION-OF-MPIEXEC...]

WAITS is test/mpi/dynamic/waits.c.
"""
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import marked    # noqa: E402

LIMIT, EXIT_TIMEOUT = 100, 124
mpiexec, vireo, waits, *options = sys.argv[1:]
mark = f"VIREO_TEST_WAITS={os.getpid()}"
failed = 0


def claim(text, holds, *told):
    global failed
    failed += not holds
    print(f"{'ok' if holds else 'FAILED'}: {text}", *([] if holds else told), flush=True)


def start(*words):
    return subprocess.Popen([mpiexec, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, env=os.environ | dict([mark.split("=")]))


def ask(*words):
    return subprocess.run([vireo, *words], capture_output=True, text=True, timeout=LIMIT, check=False).stdout


def reports(text):
    """mpiexec -> (id of the job, the others that it names, the report)"""
    found = {}
    for part in re.split(r"(?=^Hang report)", re.sub(r"\n +", " ", text), flags=re.M)[1:]:
        job, own = re.match(r"Hang report on job ([0-9]+)", part), re.search(r"^This job is ([0-9a-f]{8});", part, re.M)
        found[int(job[1])] = own and own[1], set(re.findall(r"of job ([0-9a-f]{8})", part)), part
    return found


def tree_of(job):
    """(depth, mpiexec) of a job and those below it, as `vireo ps` shows them."""
    found, inside = [], None
    for number, indent in re.findall(r"^ *([0-9]+)  [0-9a-f]{8}  ( *)", ask("ps"), re.M):
        depth = len(indent) // 2
        if int(number) == job:
            inside = depth
        elif inside is not None and depth <= inside:
            break
        if inside is not None:
            found.append((depth - inside, int(number)))
    return found


def wait_for(text, holds):
    until = time.monotonic() + LIMIT / 2
    while not (got := holds()) and time.monotonic() < until:
        time.sleep(0.1)
    claim(text, got)
    return got


def waiting(job, count, *words):
    """The reports of a job once so many are there, and all wait for others."""
    found = reports(ask("report", *words, str(job)))
    return found if len(found) == count and all(own for own, _, _ in found.values()) else None


def check_spawned():
    begin = time.monotonic()
    job = start(*options, "-n", "2", waits, "spawn", "2")
    found = wait_for("vireo report tells of the job, of its child and of the child of that",
                     lambda: waiting(job.pid, 3)) or {}
    tree = tree_of(job.pid)
    claim("vireo ps sets spawned jobs in", [depth for depth, _ in tree] == [0, 1, 2] and {pid for _, pid in tree} == set(found),
          tree, found)
    took = time.monotonic() - begin
    job.send_signal(signal.SIGTERM)
    job.communicate(timeout=LIMIT)
    check_timeout(math.ceil(2 + 2 * took)) # on a busy machine it takes long until all wait


def check_timeout(seconds):
    job = start(*options, "--timeout", str(seconds), "-n", "2", waits, "spawn", "2")
    told = job.communicate(timeout=LIMIT + seconds)[0]
    late = reports(told)
    claim("--timeout tells of all three, and ends them", job.returncode == EXIT_TIMEOUT and len(late) == 3, job.returncode, told)
    if len(late) == 3:
        first, second, third = late.values() # a job's comes before those of the jobs that it has spawned
        claim("each names the job for which it waits", first[1] == {second[0]} and second[1] == {third[0]} and
              third[1] == {second[0]}, told)
        claim("none is taken for a deadlock of its own", "deadlock" not in told and "rank 1 of job" in first[2], told)


def check_connected():
    name = f"waits-{os.getpid()}"
    jobs = [start(*options, "-n", "2", waits, act, name) for act in ("accept", "connect")]
    one, two = (wait_for(f"job {i} tells for which it waits", lambda: waiting(job.pid, 1, "--alone")) for i, job in enumerate(jobs))
    if one and two:
        (own, others, text), (far, back, _) = one[jobs[0].pid], two[jobs[1].pid]
        claim("two that are connected name each other", others == {far} and back == {own}, text)
        claim("with the rank that is awaited", f"rank 0 of job {far} (tag 9" in text and "deadlock" not in text, text)
        both = wait_for("vireo report tells of both", lambda: waiting(jobs[0].pid, 2))
        claim("each once, the one that was asked first", both and list(both) == [job.pid for job in jobs], both)
        listed = ask("ps")
        claim("vireo ps has the ids", all(re.search(rf"{job.pid}  {own}  ", listed) for job, own in zip(jobs, (own, far))), listed)
    jobs[0].send_signal(signal.SIGTERM)
    ends = [job.communicate(timeout=LIMIT) and job.returncode for job in jobs]
    claim("both end with the first", all(ends), ends)


def main():
    check_spawned()
    check_connected()
    living = marked.left(mark)
    marked.kill(living)
    claim("nothing is left", not living, living)
    sys.exit(bool(failed))


main()
