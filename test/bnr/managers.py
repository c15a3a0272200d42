#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that a manager of others starts: Debian's Hydra (PMI-1) and Open MPI's mpirun (PMIx), where these are
installed, and a manager with PMI-1 that errs.

usage: managers.py WORK SESSION_WORLD DENY

WORK is test/bnr/work.c, SESSION_WORLD a program that uses sessions beside MPI_Init, DENY test/fault/deny.c.
"""
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

LIMIT = 90 # seconds
SECOND_ROUNDS = 5
ACTS = ("init", "hello", "ring", "barrier=3", "allreduce=3", "message=65536", "message=1048576", "colls", "finalize")


def claim(text, holds, *told):
    if not holds:
        raise SystemExit(f"not so: {text}" + "".join(f"\n{t}" for t in told))
    print(f"ok: {text}", flush=True)


# Of the variables that launchers set, and of our settings.
PREFIXES = ("BNR_", "FLUX_", "HYDRA_", "JSM_", "MV2_", "OMPI_", "PALS_", "PMI_", "PMIX_", "SLURM_", "VIREO_")


def environment(**more):
    """This process's, as if no launcher had started it, and more."""
    return {n: v for n, v in os.environ.items() if not n.startswith(PREFIXES) or n.startswith("VIREO_TEST_")} | more


# ---- managers ----

HYDRA = ("mpiexec.hydra",)
TWO_HOSTS = ("-launcher", "fork", "-hosts", "127.0.0.1,127.0.0.2", "-ppn", "2")
MPIRUN = ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none")
WAYS = {
    HYDRA: (("one rank", (), 1), ("two", (), 2), ("four", (), 4), ("by a port", ("-pmi-port",), 3),
            ("two hosts, as Hydra sees it", TWO_HOSTS, 4)),
    MPIRUN: (("one rank", (), 1), ("two", (), 2), ("four", (), 4)),
}


# Of srun, around a manager's ranks or between it and them: tasks and nodes of the step, the task, ranks of the job, and
# whether these are believed.
STEPS = (("several tasks on a node", 4, 1, 2, 1, False), ("their first", 4, 1, 0, 1, False),
         ("several tasks on each of two nodes", 4, 2, 3, 1, False), ("nodes that are not told", 4, None, 2, 1, False),
         ("one task", 1, 1, 0, 1, True), ("a manager's daemons, one a node", 4, 4, 2, 1, True),
         ("daemons with more ranks", 2, 2, 1, 4, True), ("several tasks, and as many ranks", 4, 1, 2, 4, True))


def check_steps(who, start, work):
    for name, tasks, nodes, task, ranks, is_believed in STEPS:
        step = {"SLURM_STEP_NUM_TASKS": str(tasks), "SLURM_PROCID": str(task)}
        step |= {"SLURM_STEP_NUM_NODES": str(nodes)} if nodes else {}
        # Set between manager and rank: the manager itself is not to see an allocation. Stderr of ranks may be lost there.
        with tempfile.NamedTemporaryFile("r", errors="replace") as heard:
            words = ("-n", str(ranks), "env", *(f"{n}={v}" for n, v in step.items()), "sh", "-c",
                     f'exec "$@" 2>>{heard.name}', "sh", work, "init", "hello", "finalize")
            done = start(*words)
            said = heard.read().splitlines()
            alone = None if is_believed else start(*words, VIREO_SINGLETON="1")
        if is_believed:
            claim(f"{who}: a step of srun's: {name}", done.returncode == 0 and not said and
                  sorted(done.stdout.splitlines()) == [f"rank {r} of {ranks}" for r in range(ranks)], done.stdout, said)
            continue
        claim(f"{who}: no world of one in a step of srun's: {name}", done.returncode not in (0, 124) and
              "rank 0" not in done.stdout and len(said) == 1 and f"srun meant {tasks} processes" in said[0] and
              "VIREO_SINGLETON=1" in said[0],
              done.returncode, done.stdout, said)
        claim("... unless it is asked for", alone.returncode == 0 and alone.stdout == "rank 0 of 1\n", alone.stdout,
              alone.stderr)


def check_second(who, start, work):
    """A second program of the same ranks, each time."""
    for number in range(SECOND_ROUNDS):
        with tempfile.NamedTemporaryFile("r", errors="replace") as heard:
            script = f'for i in 1 2; do "$@" >>{heard.name} 2>&1 || exit; done'
            done = start("-n", "2", "sh", "-c", script, "sh", work, "init", "hello", "barrier", "finalize")
            said = heard.read().splitlines()
        hellos, lines = (sorted(s for s in said if s.startswith(word)) for word in ("rank ", "vireo: "))
        claim(f"{who}: ranks are one program: {number}", hellos == ["rank 0 of 2", "rank 1 of 2"] and
              done.returncode not in (0, 124) and 1 <= len(lines) == len(said) - 2 <= 2 and
              (who != MPIRUN[0] or all("has already been another program" in s for s in lines)), done.returncode, said)


def check_manager(manager, work, session_world, deny):
    def start(*words, **more):
        return subprocess.run(["timeout", "-k", "5", str(LIMIT), *manager, *words], env=environment(**more),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)

    who = manager[0]
    for name, words, ranks in WAYS[manager]:
        done = start(*words, "-n", str(ranks), work, *ACTS)
        claim(f"{who}: {name}", done.returncode == 0 and
              sorted(done.stdout.splitlines()) == [f"rank {r} of {ranks}" for r in range(ranks)], done.stdout, done.stderr)
    # What ranks have written as the job is ended, managers may lose: check_ends() reads it.
    done = start("-n", "3", work, "init", "abort=9", "sleep=60000")
    claim(f"{who}: an abort ends all with its code", done.returncode == 9, done.returncode, done.stderr)
    done = start("-n", "2", work, "init", "barrier")
    claim(f"{who}: a rank may not leave without MPI_Finalize", done.returncode not in (0, 124), done.returncode, done.stderr)
    done = start("-n", "3", work, "init", "barrier", "die=1", "sleep=60000")
    claim(f"{who}: a rank that is killed ends the job", done.returncode not in (0, 124), done.returncode, done.stderr)
    done = start("-n", "2", work, "init", "hello", "finalize", VIREO_SINGLETON="1")
    claim(f"{who}: VIREO_SINGLETON=1 starts each alone", done.stdout == "rank 0 of 1\n" * 2, done.stdout, done.stderr)
    check_steps(who, start, work)
    check_second(who, start, work)
    done = start("-n", "3", session_world, "both")
    claim(f"{who}: sessions beside MPI_Init", done.returncode == 0, done.returncode, done.stderr)
    if not subprocess.run([deny, "accept4=ENOSYS", "--", "true"], check=False).returncode:
        done = start("-n", "2", deny, "accept4=ENOSYS", "--", work, "init", "hello", "finalize")
        claim(f"{who}: memory of a host without accept4()", done.returncode == 0, done.returncode, done.stderr)


class Waiters:
    """Two ranks that wait for a process which never comes, as other checks run."""

    def __init__(self, manager, work):
        self.who = manager[0]
        self.heard = tempfile.TemporaryFile("w+", errors="replace")
        words = ("-n", "1", "sleep", "100", ":", "-n", "2", work, "init", "finalize")
        self.process = subprocess.Popen(["timeout", "-k", "5", str(LIMIT), *manager, *words], env=environment(),
                                        stdin=subprocess.DEVNULL, stdout=self.heard, stderr=self.heard)
        self.began = time.monotonic()

    def said(self):
        self.heard.seek(0)
        return [line for line in self.heard.read().splitlines() if "has waited 60 s for the other processes" in line]

    def check(self):
        while len(self.said()) < 2 and time.monotonic() < self.began + LIMIT:
            time.sleep(0.2)
        said, runs = self.said(), self.process.poll() is None
        self.process.terminate()
        self.process.wait()
        claim(f"{self.who}: after a minute each rank tells that it waits", len(said) == 2 and runs, said, runs)


# ---- a manager that errs ----

class Manager:
    """Serves one process; change(number, line) may give another answer to the request of this number: bytes, None to
    hang up, or False for the right one."""

    def __init__(self, size, change):
        self.own, self.theirs = socket.socketpair()
        self.size, self.change, self.keys, self.number = size, change, {}, 0
        self.said = []

    def answer(self, line):
        fields = dict(w.partition("=")[::2] for w in line.split(" "))
        command = fields["cmd"]
        if command == "put":
            self.keys[fields["key"]] = fields["value"]
            return "cmd=put_result rc=0"
        if command == "get":
            key = fields["key"]
            if key == "PMI_process_mapping":
                return "cmd=get_result rc=0 value=(vector,(0,1,1))"
            return f"cmd=get_result rc=0 value={self.keys[key]}" if key in self.keys else "cmd=get_result rc=-1"
        return {"init": "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1",
                "get_maxes": "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024",
                "get_appnum": "cmd=appnum appnum=0", "get_universe_size": "cmd=universe_size size=-1",
                "get_my_kvsname": "cmd=my_kvsname kvsname=space", "barrier_in": "cmd=barrier_out",
                "finalize": "cmd=finalize_ack", "abort": ""}[command]

    def hear(self):
        try:
            return self.own.recv(4096)
        except ConnectionResetError:
            return b""

    def serve(self):
        with self.own:
            while request := self.hear():
                line = request.decode()
                self.said.append(line)
                if len(request) > 1024 or not line.endswith("\n") or line.count("\n") != 1:
                    return
                other = self.change(self.number, line.strip())
                self.number += 1
                if other is None:
                    return
                try:
                    self.own.sendall(self.answer(line.strip()).encode() + b"\n" if other is False else other)
                except OSError:
                    return


def one_rank(work, change, rank=0, size=1, acts=("init", "hello", "finalize"), **more):
    """Returns (status, stderr, requests)."""
    manager = Manager(size, change)
    thread = threading.Thread(target=manager.serve, daemon=True)
    thread.start()
    fd = manager.theirs.fileno()
    variables = {"PMI_FD": str(fd), "PMI_RANK": str(rank), "PMI_SIZE": str(size)} | more
    done = subprocess.run(["timeout", "-k", "5", str(LIMIT), work, *acts], pass_fds=(fd,),
                          env=environment(**variables), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", check=False)
    manager.theirs.close()
    thread.join(LIMIT)
    return done.returncode, done.stderr, manager.said


def is_one_line(status, said):
    """A sentence, and an end that is neither success, nor a signal, nor the limit."""
    return 0 < status < 124 and 1 <= len(said.splitlines()) <= 3 and "vireo: " in said


def check_errors(work):
    status, said, requests = one_rank(work, lambda number, line: False)
    claim("a right manager", status == 0 and not said, status, said, requests)
    count = len(requests)
    claim("each request is one line of one write", all(r.endswith("\n") and r.count("\n") == 1 for r in requests), requests)
    last = requests.index("cmd=finalize\n")
    for name, bad in (("hangs up", None), ("says garbage", b"\x01\x02garbage\n"), ("gives another answer", b"cmd=other rc=0\n"),
                      ("says NUL", b"cmd=\0\n"), ("never ends its line", b"x" * 9000), ("says an empty line", b"\n"),
                      ("refuses", b"cmd=%b rc=-1\n")):
        for at in range(count):
            def change(number, line, at=at, bad=bad):
                if number != at:
                    return False
                name = line.split()[0][4:]
                reply = {"init": "response_to_init", "get_maxes": "maxes", "get_my_kvsname": "my_kvsname",
                         "barrier_in": "barrier_out", "put": "put_result", "get": "get_result"}.get(name, name)
                return bad % reply.encode() if bad and b"%b" in bad else bad
            status, said, requests = one_rank(work, change)
            # What goes wrong after the job, or what it can do without, is no failure.
            may_do = at >= last or (name == "refuses" and any(w in requests[at] for w in (
                "get_appnum", "get_universe_size", "PMI_process_mapping")))
            claim(f"{name} at request {at}", is_one_line(status, said) or (may_do and status == 0), status, said,
                  requests[at:at + 1])
    for name, reply in (("a limit of 0", b"cmd=maxes vallen_max=0\n"), ("a limit of 7", b"cmd=maxes vallen_max=7\n"),
                        ("a negative limit", b"cmd=maxes vallen_max=-5\n")):
        status, said, _ = one_rank(work, lambda n, line, reply=reply: reply if "get_maxes" in line else False)
        claim(f"{name}: {status}", is_one_line(status, said), status, said)
    long = b"cmd=my_kvsname kvsname=" + b"n" * 300 + b"\n"
    status, said, _ = one_rank(work, lambda n, line: long if "kvsname" in line and "get_my" in line else False)
    claim("a name of a space that is too long", is_one_line(status, said), status, said)
    for mapping in (b"(vector,(0,0,0))", b"(vector,(0,99999999,1),(", b"", b"(vector,(7,1,1))", b"none"):
        answer = b"cmd=get_result rc=0 value=" + mapping + b"\n"
        status, said, _ = one_rank(work, lambda n, line, a=answer: a if "process_mapping" in line else False)
        claim(f"a mapping {mapping.decode()}: {status}", status == 0 or is_one_line(status, said), status, said)
    # Rank 1, whose rank 0 is hostile.
    for name, value in (("is not there", None), ("is short", "000003AAAA"), ("is too long", "fffffeAAAA"),
                        ("has other characters", "000020" + "*" * 43), ("has no length", "xx"), ("is empty", "")):
        answer = b"cmd=get_result rc=-1\n" if value is None else f"cmd=get_result rc=0 value={value}\n".encode()
        status, said, _ = one_rank(work, lambda n, line, a=answer: a if "key=v0.job" in line else False, 1, 2)
        claim(f"the secret of rank 0 {name}", is_one_line(status, said), status, said)
    for name, variables in (("rank 1 of 1", {"PMI_RANK": "1"}), ("a rank that is no number", {"PMI_RANK": "x"}),
                            ("a size of 0", {"PMI_SIZE": "0"}), ("a size that is no number", {"PMI_SIZE": "-1"})):
        status, said, _ = one_rank(work, lambda n, line: False, **variables)
        claim(f"PMI variables with {name}", is_one_line(status, said), status, said)
    done = subprocess.run([work, "init", "hello", "finalize"], env=environment(PMI_FD="99", PMI_RANK="0", PMI_SIZE="2"),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    claim("a descriptor that is closed", is_one_line(done.returncode, done.stderr), done.returncode, done.stderr)
    done = subprocess.run([work, "init", "finalize"], env=environment(PMI_PORT="127.0.0.1:1", PMI_ID="0"),
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    claim("a port at which nobody listens", is_one_line(done.returncode, done.stderr), done.returncode, done.stderr)


def check_ends(work):
    for name, acts, code, words in (("an abort", ("init", "abort=9", "sleep=60000"), 9, "aborted with code 9"),
                                    ("an end without MPI_Finalize", ("init",), 1, "exited without MPI_Finalize")):
        status, said, requests = one_rank(work, lambda number, line: None if "abort" in line else False, acts=acts)
        claim(f"{name} says why", status == code and words in said and is_one_line(status, said), status, said)
        claim("... and tells the manager", requests[-1] == f"cmd=abort exitcode={code}\n", requests)
    status, said, requests = one_rank(work, lambda number, line: False, acts=("init", "exit=3"))
    claim("another status is the program's own", status == 3 and "cmd=abort" not in "".join(requests), status, said)


def main(work, session_world, deny):
    waiters = [Waiters(manager, work) for manager in (HYDRA, MPIRUN) if shutil.which(manager[0])]
    check_errors(work)
    check_ends(work)
    for manager, package in ((HYDRA, "mpich"), (MPIRUN, "openmpi-bin")):
        if shutil.which(manager[0]):
            check_manager(manager, work, session_world, deny)
        else:
            print(f"{manager[0]} is not tried: it is not there; the package is {package}")
    for one in waiters:
        one.check()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
