#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kernels and sandboxes that refuse a system call: each job is right, or ends with a sentence.

    refused.py MPIEXEC WORK DENY [short] [CALL...]

A seccomp filter over mpiexec and its ranks refuses one call, or a group of them, by one errno. Then these jobs run:
messages and collectives, on one host and on two pretended ones; ranks that are bound to cores; a long stdin through a
rank to stdout; an abort; mpiexec is killed; and, where accept4() is refused, asked for a report. None may hang, lose
bytes, or leave a process. A job that fails says why on stderr, in sentences. short: one errno a call.
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import marked    # noqa: E402

LIMIT = 40 # seconds
AT_ONCE = 3
ERRORS = ("EPERM", "ENOSYS", "EINVAL", "EACCES", "EOPNOTSUPP")
GROUPS = {
    # calls newer than Linux 4.18
    "old kernel": [f"{c}=ENOSYS" for c in (
        "pidfd_open", "pidfd_send_signal", "close_range", "io_uring_setup", "epoll_pwait2", "openat2", "faccessat2",
        "clone3", "futex_waitv", "futex_wait", "rseq")] + ["clone_pidfd=EINVAL"],
    # as Docker's default profile does without privileges
    "container": [f"{c}=EPERM" for c in (
        "process_vm_readv", "process_vm_writev", "ptrace", "get_mempolicy", "set_mempolicy", "mbind", "io_uring_setup",
        "personality")],
    # calls that gVisor does not have
    "gvisor": [f"{c}=ENOSYS" for c in (
        "io_uring_setup", "futex_waitv", "futex_wait", "pidfd_open", "pidfd_send_signal", "process_vm_readv",
        "process_vm_writev", "close_range", "membarrier", "epoll_pwait2", "openat2")] + ["preadv2=EOPNOTSUPP"],
    "no accept": ["accept=EACCES", "accept4=EACCES"],
    # as systemd's @basic-io alone would leave them
    "basic-io": [f"{c}=EPERM" for c in (
        "preadv2", "pwritev2", "memfd_create", "sched_setaffinity", "membarrier", "socket_netlink", "socket_inet6",
        "prctl")],
}
STDIN = bytes(range(256)) * 1200


class Job:
    """A command below the filter."""

    def __init__(self, deny, rules, command, **kwargs):
        environment = {n: v for n, v in os.environ.items() if not n.startswith("BNR_") and (not n.startswith("VIREO_") or n.startswith("VIREO_TEST_"))}
        self.word = f"VIREO_TEST_REFUSED={os.getpid()}.{id(self)}.{time.monotonic_ns()}"
        environment |= dict([self.word.split("=")])
        self.process = subprocess.Popen([deny, *rules, "--", *command], env=environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)

    def left(self):
        """The processes that are left some seconds after the end; they are ended."""
        pids = marked.left(self.word)
        marked.kill(pids)
        return pids

    def end(self, data=None):
        """Returns (status, or None if it hung; stdout; stderr)."""
        try:
            out, err = self.process.communicate(data, timeout=LIMIT)
            return self.process.returncode, out, err
        except subprocess.TimeoutExpired:
            marked.kill(marked.living(self.word))
            out, err = self.process.communicate()
            return None, out, err


def explained(err, status):
    """Whether a job that failed says why: in sentences, not by a signal or an assertion."""
    text = err.decode(errors="replace")
    return status != 0 and text.strip() and len(text.splitlines()) <= 12 and "signal 11" not in text \
        and "signal 6" not in text


def verdict(status, out, err, right_status, is_right):
    if status is None:
        return "it hangs"
    if status == right_status and is_right(out):
        return "" if not err or right_status else "with words"
    return f"refused: {err.decode(errors='replace').strip()[:160]}" if explained(err, status) else f"status {status} without a sentence: {err[:200]!r}"


def judge(job, right_status, is_right, data=None):
    """What is wrong with a job that runs to its end by itself, as verdict() says it."""
    told = verdict(*job.end(data), right_status, is_right)
    return "left" if job.left() else told


def messages(deny, rules, mpiexec, work, *options):
    """Messages and collectives of four ranks."""
    job = Job(deny, rules, [mpiexec, *options, "-n", "4", work, "init", "hello", "ring", "barrier=3", "allreduce=3",
                            "message=65536", "message=1048576", "colls", "finalize"], stdin=subprocess.DEVNULL)
    return judge(job, 0, lambda out: sorted(out.split(b"\n")) ==
                 sorted([b"rank %d of 4" % i for i in range(4)] + [b""]))


def hosts(deny, rules, mpiexec, work):
    """The same with daemons, over tcp between two of them."""
    return messages(deny, rules, mpiexec, work, "--pretend-hosts", "2")


def bound(deny, rules, mpiexec, work):
    """mpiexec and the ranks ask for the hardware."""
    job = Job(deny, rules, [mpiexec, "--bind-to", "core", "--oversubscribe", "-n", "2", work, "init", "barrier=3",
                            "finalize"], stdin=subprocess.DEVNULL)
    return judge(job, 0, lambda out: not out)


def streams(deny, rules, mpiexec, _):
    job = Job(deny, rules, [mpiexec, "-n", "2", "cat"], stdin=subprocess.PIPE)
    return judge(job, 0, lambda out: out == STDIN, STDIN)


def abort(deny, rules, mpiexec, work):
    job = Job(deny, rules, [mpiexec, "-n", "3", work, "init", "abort=9", "sleep=30000"], stdin=subprocess.DEVNULL)
    return judge(job, 9, lambda out: True)


def killed(deny, rules, mpiexec, work):
    """mpiexec is killed while two ranks sleep, one of them in a session of its own."""
    job = Job(deny, rules, [mpiexec, "-n", "2", "sh", "-c", "echo x; exec setsid sleep 60"], stdin=subprocess.DEVNULL)
    first = job.process.stdout.readline()
    job.process.kill()
    status, _, err = job.end()
    if job.left():
        return "left after kill -9"
    return "" if first else "refused: " + err.decode(errors="replace")[:160] if explained(err, status) else f"nothing runs: {err[:200]!r}"


def door(deny, rules, mpiexec, _):
    """The job's door: mpiexec is asked for a report."""
    job = Job(deny, rules, [mpiexec, "-n", "1", "sh", "-c", "echo x; exec sleep 60"], stdin=subprocess.DEVNULL)
    first = job.process.stdout.readline()
    vireo = os.path.join(os.path.dirname(mpiexec), "vireo")
    asked = subprocess.run(["timeout", str(LIMIT), vireo, "report", str(job.process.pid)], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, check=False) if first else None
    job.process.terminate()
    _, _, err = job.end()
    if job.left():
        return "left"
    if not first:
        return "refused: " + err.decode(errors="replace")[:160]
    return "" if not asked.returncode and b"rank" in asked.stdout else f"no report: {asked.returncode} {asked.stdout[:200]!r}"


def main(mpiexec, work, deny, *options):
    if subprocess.run([deny, "membarrier=ENOSYS", "--", "true"], check=False).returncode:
        print("skipped: seccomp is not allowed here")
        return 77
    calls = subprocess.run([deny, "list"], capture_output=True, text=True, check=True).stdout.split()
    named = [o for o in options if o != "short"]
    sets = {name: rules for name, rules in GROUPS.items() if not named or name in named}
    for i, call in enumerate(calls):
        if not named or call in named:
            for error in ERRORS[i % 2:i % 2 + 1] if "short" in options else ERRORS:
                sets[f"{call}={error}"] = [f"{call}={error}"]
    jobs = (messages, hosts, bound, streams, abort, killed, door)
    bad = 0

    def run_jobs(rules):
        # The door needs no other call that the other jobs do without.
        return ["" if job is door and not rules[0].startswith("accept4=") else job(deny, rules, mpiexec, work)
                for job in jobs]

    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        told = pool.map(run_jobs, sets.values())
        for name, verdicts in zip(sets, told):
            wrong = [f"{job.__name__}: {v}" for job, v in zip(jobs, verdicts) if v not in ("", "with words") and not v.startswith("refused")]
            bad += bool(wrong)
            if wrong or any(verdicts):
                print(f"{'not so' if wrong else 'ok'}: {name}: " + "; ".join(
                    f"{job.__name__}: {v}" for job, v in zip(jobs, verdicts) if v), flush=True)
    print(f"{len(sets)} refusals of {len(jobs)} jobs each, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
