#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Memory, descriptors, threads and processes of mpiexec and its daemons while jobs spawn and disconnect, or connect, accept and
disconnect, again and again: they are the same after a third of the time, when all jobs have begun, and at the end. Ranks look at themselves.

usage: cycles.py MPIEXEC JOBS [CYCLES]

JOBS is test/mpi/dynamic/jobs.c. CYCLES is 50, or 2000 where VIREO_TEST_FULL is in the environment.
"""
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import marked    # noqa: E402

LIMIT, EVERY = 900, 0.05 # seconds
HOSTS = ["--launcher-cmd", "env HOST=%h", "-host", "localhost:2,elsewhere:2"]
mpiexec, jobs, *rest = sys.argv[1:]
CYCLES_MOST = 2000
CYCLES = int(rest[0]) if rest else CYCLES_MOST if os.environ.get("VIREO_TEST_FULL") else 50
SHARED_MAX_KB = 2 * 512 + 64 # the pages of a rank's rings of letters (bnr/host/table.h) are there once they have been used
mark = f"VIREO_TEST_CYCLES={os.getpid()}"
# A sanitizer keeps freed memory for a while, and MALLOC_PERTURB_ writes to pages of blocks that nothing has used: both look
# like growth.
quiet = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0",
         "MALLOC_PERTURB_": "0"}
failed = 0


def start(options, ranks, *words):
    return subprocess.Popen(["timeout", "-k", "5", str(LIMIT), mpiexec, *options, "-n", str(ranks), jobs, *words],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=os.environ | dict([mark.split("=")]) | quiet)


def sample(pid):
    """Program, and (KiB of memory, KiB that are shared, descriptors, threads, children) of a process."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    value = {key: int(re.search(rf"^{key}:\s+([0-9]+)", status, re.M)[1]) for key in ("RssAnon", "RssShmem", "Threads")}
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return (re.search(r"^Name:\s+(.*)", status, re.M)[1],
            (value["RssAnon"], value["RssShmem"], len(os.listdir(f"/proc/{pid}/fd")), value["Threads"], len(children)))


def launchers():
    """pid -> sample() of the mpiexecs and daemons of the jobs."""
    found = {}
    for pid in marked.living(mark):
        with contextlib.suppress(OSError, TypeError): # it has ended
            name, values = sample(pid)
            if name in ("mpiexec", "vireod"):
                found[pid] = name, values
    return found


def least(samples):
    """The least of each value: what stays, apart from what is under way."""
    return tuple(min(column) for column in zip(*samples))


def check(text, cycles, start_all):
    """Judge jobs of so many cycles; of more, if they end before they have been looked at often enough."""
    global failed
    running, seen, begin = start_all(cycles), {}, time.monotonic()
    while any(job.poll() is None for job in running):
        for pid, (name, values) in launchers().items():
            seen.setdefault((pid, name), []).append((time.monotonic(), values))
        time.sleep(EVERY)
    end = time.monotonic()
    said, codes = [job.communicate()[0] for job in running], [job.returncode for job in running]
    span, stayed, wrong = end - begin, 0, []
    for (pid, name), samples in seen.items():
        first = [values for at, values in samples if begin + span * 0.3 < at < begin + span * 0.5]
        last = [values for at, values in samples if begin + span * 0.75 < at < begin + span * 0.9]
        if not first or not last:
            continue
        stayed += 1
        before, after = least(first), least(last)
        print(f"{text}: {name} {pid}: KiB, shared KiB, descriptors, threads, children {before}, then {after}")
        if after[0] - before[0] > 128 + cycles / 16 or after[1] - before[1] > SHARED_MAX_KB or any(
                b > a for a, b in zip(before[2:], after[2:])):
            wrong.append(f"{name} {pid} has grown")
    if stayed < len(running) and cycles < CYCLES_MOST and not any(codes) and not any(said):
        check(text, cycles * 4, start_all)
        return
    good = not any(codes) and not any(said) and not wrong and stayed >= len(running)
    failed += not good
    print(f"{'ok' if good else 'FAILED'}: {text}, {cycles} cycles in {span:.1f} s",
          *([] if good else [codes, said, wrong, stayed]), flush=True)


def main():
    name = f"cycles-{os.getpid()}"
    for text, options in ("one host", []), ("daemons", HOSTS):
        check(f"spawn, {text}", CYCLES, lambda count, options=options: [start(options, 3, "spawn", "2", str(count))])
        check(f"connect, {text}", CYCLES,
              lambda count, options=options: [start(options, 4, what, name, str(count)) for what in ("serve", "visit")])
    living = marked.left(mark)
    marked.kill(living)
    if living:
        print(f"FAILED: processes are left: {living}")
    sys.exit(bool(failed or living))


main()
