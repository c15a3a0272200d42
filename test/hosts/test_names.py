#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Published names of jobs that have a host in common, and of jobs that have none. In test/hosts/run, with 5 hosts.

usage: test_names.py MPIEXEC NAMES JOBS

NAMES is names.c here, JOBS test/mpi/dynamic/jobs.c.
"""
import contextlib
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import marked    # noqa: E402

LIMIT = 60 # seconds
mpiexec, names, jobs = sys.argv[1:]
enter = [os.environ["HOSTS_PROGRAM"], "enter"]
mark = f"VIREO_TEST_NAMES={os.getpid()}"


def claim(text, holds, *told):
    if not holds:
        marked.kill(marked.living(mark))
        sys.exit(f"not so: {text}" + "".join(f"\n{t}" for t in told))
    print(f"ok: {text}", flush=True)


def start(host, where, *words):
    """A job whose mpiexec is on one host, and its ranks on others; "": with mpiexec."""
    options = ["--launcher-cmd", " ".join(enter) + " %h", "-host", where] if where else ["-n", "2"]
    return subprocess.Popen([*(enter + [host] if host != "h0" else []), "timeout", "-k", "5", str(LIMIT), mpiexec, *options, *words],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            env=os.environ | dict([mark.split("=")]))


def call(job, *words):
    try:
        job.stdin.write(" ".join(words) + "\n")
        job.stdin.flush()
    except BrokenPipeError:
        return f"the job has ended: {job.stdout.read()}"
    return job.stdout.readline().strip()


def end(*ended):
    codes = [job.communicate(timeout=LIMIT) and job.returncode for job in ended]
    claim("they end well", not any(codes), codes)


def wait_until(text, holds):
    until = time.monotonic() + LIMIT / 2
    while not (got := holds()) and time.monotonic() < until:
        time.sleep(0.1)
    claim(text, got)


def visible():
    """Who sees what h0's mpiexec publishes for ranks on h1 and h2."""
    owner = start("h0", "h1,h2", names)
    shares, apart = start("h3", "h3,h2", names), start("h4", "h4", names)
    there, first = start("h2", "", names), start("h0", "", names)
    claim("a name is published", call(owner, "publish", "one", "text") == "published")
    for who, job in ("itself", owner), ("a job on one of its hosts", shares), ("an mpiexec on one of its hosts", there), (
            "an mpiexec on the host of its mpiexec", first):
        got = call(job, "find", "one")
        claim(f"{who} finds it", got == "text", got)
    got = call(apart, "find", "one")
    claim("a job on other hosts does not", got.startswith("MPI_ERR_NAME"), got)
    got = call(shares, "publish", "one", "other")
    claim("nobody publishes it again where it is seen, and the error says where", got.startswith("MPI_ERR_SERVICE") and "h2" in got, got)
    beside = start("h3", "", names)
    got = call(beside, "find", "one")
    claim("what could not be published on one host is published on none", got.startswith("MPI_ERR_NAME"), got)
    claim("others publish it elsewhere", call(apart, "publish", "one", "other") == "published")
    got = call(there, "unpublish", "one")
    claim("it belongs to its job", got.startswith("MPI_ERR_SERVICE"), got)
    claim("which takes it back", call(owner, "unpublish", "one") == "gone")
    got = [call(job, "find", "one") for job in (owner, shares, there, first)]
    claim("on all hosts", all(text.startswith("MPI_ERR_NAME") for text in got), got)
    claim("and then it is free there", call(shares, "publish", "one", "third") == "published" and call(there, "find", "one") == "third")
    end(owner, shares, apart, first, beside)
    got = call(there, "find", "one")
    claim("a name goes with the job", got.startswith("MPI_ERR_NAME"), got)
    end(there)


def killed():
    owner, other = start("h0", "h1,h2", names), start("h2", "", names)
    claim("a name is published", call(owner, "publish", "two", "text") == "published" and call(other, "find", "two") == "text")
    owner.kill()
    for pid in marked.living(mark):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            if "-host\0h1,h2" in pathlib.Path(f"/proc/{pid}/cmdline").read_text(errors="replace"):
                os.kill(pid, 9)
    wait_until("it goes with an mpiexec that is killed", lambda: call(other, "find", "two").startswith("MPI_ERR_NAME"))
    claim("and is free", call(other, "publish", "two", "again") == "published")
    end(other)


def connected():
    """Jobs on two hosts each, with one in common, meet by a name."""
    both = start("h0", "h1,h2", jobs, "serve", "meet", "3"), start("h3", "h3,h2", jobs, "visit", "meet", "3")
    said = [job.communicate(timeout=LIMIT)[0] for job in both]
    claim("jobs with a host in common connect by a name", not any(job.returncode for job in both) and not any(said), said)


def main():
    visible()
    killed()
    connected()
    living = marked.left(mark)
    marked.kill(living)
    claim("nothing is left", not living, living)


main()
