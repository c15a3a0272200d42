#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that spawn, connect, accept and part, each as it should.

usage: jobs.py MPIEXEC JOBS [OPTION-OF-MPIEXEC...]

JOBS is test/mpi/dynamic/jobs.c.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
import marked    # noqa: E402

LIMIT = 60 # seconds
mpiexec, jobs, *options = sys.argv[1:]
failed = 0
mark = f"VIREO_TEST_JOBS={os.getpid()}"


def start(ranks, *words, before=()):
    """A job of ranks; where there are none, a process without mpiexec, or whatever before starts."""
    before = [mpiexec, *options, *before, "-n", str(ranks)] if ranks else list(before)
    return subprocess.Popen(["timeout", "-k", "5", str(LIMIT), *before, jobs, *words], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                            env=os.environ | {"PATH": f"{os.path.dirname(mpiexec)}:{os.environ['PATH']}"} |
                            dict([mark.split("=")]))


def check(name, codes, *started, holds=lambda text: not text):
    """All have to end with these exit codes, and to say what holds() accepts."""
    global failed
    said = [job.communicate()[0] for job in started]
    ended = [job.returncode for job in started]
    right = ended == codes and holds("".join(said))
    failed += not right
    print(f"{'ok' if right else 'FAILED'}: {name}" + ("" if right else f": exit codes {ended}\n" + "".join(said)), flush=True)


def main():
    name = f"jobs-{os.getpid()}"
    for ranks in 1, 2, 3:
        check(f"{ranks} ranks spawn 2", [0], start(ranks, "spawn", "2", "2"))
    check("1 rank spawns 5", [0], start(1, "spawn", "5", "1"))
    check("no rank of a job spawns 2", [0], start(0, "spawn", "2", "2"))
    for manager, *words in ("mpiexec.hydra",), ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"):
        if shutil.which(manager) and not options:
            check(f"2 ranks of {manager} spawn 3", [0], start(0, "several", before=[manager, *words, "-n", "2"]))
    check("a spawn of a spawn of a spawn", [0], start(2, "deep"))
    check("60 times one process", [0], start(1, "spawn", "1", "60"))
    check("several programs", [0], start(2, "several"))
    check("wrong arguments", [0], start(2, "errors"), holds=lambda text: "/no/such/program" in text)
    for a, b in (1, 1), (2, 3), (4, 1), (0, 1), (2, 0):
        check(f"a job of {a} accepts one of {b}", [0, 0], start(a, "serve", name, "3"), start(b, "visit", name, "3"))
    for _ in range(5 if options else 1):  # on hosts some pairs of ranks share memory, and others do not
        check("100 times", [0, 0], start(2, "serve", name, "100"), start(2, "visit", name, "100"))
    check("three jobs in a ring", [0, 0, 0], *(start(2, "ring", name, str(i), "3") for i in range(3)))
    check("two jobs that cross", [0, 0], *(start(2, "cross", name, str(i)) for i in range(2)))
    check("a communicator that one side has freed", [137, 0], start(2, "keep", name, "0"), start(2, "keep", name, "1"),
          holds=lambda text: "signal 9" in text and "not so" not in text)
    check("no rank of a job spawns 9 times", [0], start(0, "reap"))
    check("no rank of a job spawns, and is killed", [-signal.SIGKILL], start(0, "vanish", "killed"))
    check("no rank of a job spawns, and ends first", [0], start(0, "vanish", "parted"), holds=lambda text: text == "has stayed\n")
    check("8 processes that call at the same time", [0, 0], start(1, "receive", name, "80"), start(8, "call", name, "10"))
    check("MPI_Finalize while the other job computes", [0, 0], start(2, "first", name, "0"), start(2, "first", name, "1"))
    if "--host" not in options: # the socket is of one host
        check("two ends of a socket", [0], start(2, "join"))
    check("MPI_Finalize without MPI_Comm_disconnect", [0], start(2, "leave"))
    check("MPI_Finalize while others are in the last collective", [0], start(1, "early"))
    check("a child that is killed, once it is parted", [0], start(2, "part", "parted"), holds=lambda text: "signal 9" in text)
    if not options:
        if len(os.sched_getaffinity(0)) > 1:
            check("processors that are free", [0], start(1, "room", "cpus", before=["-bind-to", "core"]))
        check("slots that are free", [0], start(1, "room", "slots",
              before=["--launcher-cmd", "env HOST=%h", "-host", "localhost:1,elsewhere:1"]))
        check("a child that is killed before mpiexec can have heard that it is parted", [0],
              start(2, "part_late", before=["--launcher-cmd", "env HOST=%h", "-host", "localhost:1,elsewhere:1"]),
              holds=lambda text: "signal 9" in text)
    check("a child that is killed before", [137], start(2, "part", "joined"), holds=lambda text: "is connected" in text)
    check("a child that aborts", [17], start(2, "part", "abort"), holds=lambda text: "code 17" in text)
    check("a child that goes without a word", [0], start(1, "lose", before=["--enable-recovery"]),
          holds=lambda text: "without MPI_Finalize" in text and "not so" not in text)
    living = marked.left(mark)
    if living:
        print(f"FAILED: processes are left: {living}")
    sys.exit(bool(failed or living))


main()
