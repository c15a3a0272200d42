#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Faults of libfabric's providers, and of processes that use them: no job hangs, and no byte is another.

usage: ofi_faults.py MPIEXEC STORM FABRIC_FAULTS REMAP CANCEL [SEEDS [SEED]]

A seed chooses for each fault and provider what differs; fabric_faults.c makes the faults. Without SEEDS one seed is run.
Some jobs run at a time, since one that loads libfabric mostly sleeps.
"""
import concurrent.futures
import os
import random
import subprocess
import sys

LIMIT_S = 50
AT_A_TIME = 4
PROVIDERS = {"shm": "ofi.provider=shm,ofi.stuck_ms=1000",
             "tcp": "ofi.provider=tcp;ofi_rxm,ofi.address=127.0.0.1"}
FOREVER = "1000000"
LOCK = "waits for a lock of libfabric's provider shm"


class Wrong(Exception):
    """A claim that does not hold."""


class Jobs:
    """Runs jobs of one seed."""

    def __init__(self, mpiexec, storm, library, remap, cancel, dice):
        self.mpiexec, self.storm, self.library, self.dice = mpiexec, storm, library, dice
        self.remap, self.cancel = remap, cancel

    def run(self, provider, ranks, options=(), channels="ofi,loopback", params=""):
        """ranks: (how many, faults, program and arguments) each. Returns what was printed."""
        command = [self.mpiexec, *options, "--timeout", str(LIMIT_S)]
        for i, (count, faults, program) in enumerate(ranks):
            text = ",".join(f"{name}={value}" for name, value in faults.items())
            command += ([":"] if i else []) + ["-n", str(count), "env", f"VIREO_TEST_FABRIC={text}",
                                                f"LD_PRELOAD={self.library if faults else ''}", *program]
        env = {**os.environ, "VIREO_CHANNELS": channels, "VIREO_TCP_ADDRESSES": "127.0.0.1",
               "VIREO_CHANNEL_PARAMS": PROVIDERS[provider] + params}
        done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=2 * LIMIT_S, check=False)
        self.told = f"{' '.join(command)} ({provider}, {channels}): status {done.returncode}\n" \
                    f"{done.stdout}{done.stderr}"
        self.claim("did not end within" not in done.stderr, "the job hangs")
        return done.stdout.split(), done.stderr, done.returncode

    def claim(self, truth, what):
        """Raise where it is not so."""
        if not truth:
            raise Wrong(f"{what}: {self.told}")

    def all_ok(self, words, count):
        """Each rank has done all rounds."""
        self.claim(words.count("ok") == count, "not every rank has done its rounds")

    def storm_of(self, rounds):
        """The program, with messages of a length by the dice."""
        return [self.storm, str(self.dice.choice([64, 3000, 70000, 300000])), rounds]

    def survivors(self, words, err, count):
        """Each has survived, or has told for which lock it has waited."""
        self.claim(words.count("survived") + err.count(LOCK) >= count and
                   err.count("exited with code") == err.count(LOCK), "a survivor did not end as it should")


def killed(jobs, provider):
    """A rank is killed from outside amid its messages."""
    dice = jobs.dice
    rounds = [*jobs.storm_of(FOREVER), str(dice.randrange(3)), str(dice.choice([3000, 20000, 150000]) + dice.randrange(3000))]
    words, err, _ = jobs.run(provider, [(3, {}, rounds)], ["--enable-recovery"])
    jobs.survivors(words, err, 2)


def locked(jobs, provider):
    """A rank is killed with a lock of the provider."""
    if provider != "shm":
        return
    storm = [jobs.storm, "100", FOREVER]
    words, err, _ = jobs.run(provider, [(1, {"locked": jobs.dice.randrange(100, 400)}, storm), (2, {}, storm)],
                             ["--enable-recovery"])
    jobs.survivors(words, err, 2)
    jobs.claim(LOCK in err, "nobody tells of the lock")


def limited(jobs, provider):
    """Some memory cannot be registered, in one rank or in all."""
    faults = {"seed": jobs.dice.randrange(1000), "local": 1, "first": 2, "mr": jobs.dice.choice([20, 50, 100])}
    storm = [jobs.storm, "300000", "20"]
    others = {} if jobs.dice.random() < 0.5 else faults
    jobs.all_ok(jobs.run(provider, [(1, faults, storm), (2, others, storm)])[0], 3)


def bare(jobs, provider):
    """No memory at all can be registered: another channel serves, and the report says why."""
    faults = {"local": 1, "mr": 100}
    jobs.all_ok(jobs.run(provider, [(3, faults, jobs.storm_of("5"))], ["--report"], "ofi,tcp,loopback")[0], 3)
    jobs.claim("memory for buffers (ulimit -l" in jobs.told, "the report does not tell")


def full(jobs, provider):
    """The provider has no room, now and then."""
    faults = {"seed": jobs.dice.randrange(1000), "again": jobs.dice.randrange(10, 60)}
    jobs.all_ok(jobs.run(provider, [(3, faults, jobs.storm_of("20"))])[0], 3)


def forked(jobs, provider):
    """Processes fork amid their messages, while the provider is short of room."""
    faults = {"seed": jobs.dice.randrange(1000), "again": 20}
    jobs.claim(jobs.run(provider, [(2, faults, [jobs.remap])])[2] == 0, "messages around fork()")


def cancelled(jobs, provider):
    """A long send that waits for room is cancelled: its memory is no longer lent."""
    jobs.all_ok(jobs.run(provider, [(2, {"count": 1}, [jobs.cancel])])[0], 2)


def overrun(jobs, provider):
    """The completion queue is overrun in one rank: the job ends and tells why."""
    storm = jobs.storm_of(FOREVER)
    _, err, status = jobs.run(provider, [(1, {"break": jobs.dice.randrange(1, 300)}, storm), (2, {}, storm)])
    jobs.claim(status != 0 and "has lost the completion queue" in err, "nobody tells of the queue")


def moved(jobs, provider):
    """Nothing listens at the address of any rank: another channel serves; without one, an error."""
    if provider == "shm":
        return
    ranks, soon = [(3, {"moved": 1}, jobs.storm_of("5"))], ",ofi.timeout_ms=1000"
    jobs.all_ok(jobs.run(provider, ranks, channels="ofi,tcp,loopback", params=soon)[0], 3)
    _, err, status = jobs.run(provider, ranks, params=soon)
    jobs.claim(status != 0 and "no channel leads to the other process" in err, "no error")


FAULTS = [killed, locked, limited, bare, full, forked, cancelled, overrun, moved]


def holds(programs, seed, fault, provider):
    """Make one fault. Returns whether all is as it should be, and prints faults."""
    try:
        fault(Jobs(*programs, random.Random(f"{seed} {fault.__name__} {provider}")), provider)
    except (Wrong, subprocess.TimeoutExpired) as wrong:
        print(f"FAILED, {fault.__name__}, seed {seed}: {wrong}", flush=True)
        return False
    return True


def leftovers():
    """Return names of memory of provider shm whose processes have ended."""
    space = f"vireo-ofi-{os.stat('/proc/self/ns/pid').st_ino:016x}-"
    return [name for name in os.listdir("/dev/shm") if name.startswith(space)
            and not os.path.exists(f"/proc/{int(name[len(space):].split('-')[0], 16)}")]


def clean(programs):
    """Killed jobs leave memory of provider shm: the next job removes it. Returns whether it does."""
    jobs = Jobs(*programs, random.Random(0))
    jobs.run("shm", [(2, {}, jobs.storm_of("1"))])
    left = leftovers()
    if left:
        print(f"FAILED: a job leaves what killed ones have left: {' '.join(left)}", flush=True)
    return not left


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    seeds = int(sys.argv[6]) if len(sys.argv) > 6 else 1
    first = int(sys.argv[7]) if len(sys.argv) > 7 else random.randrange(1 << 30)
    tries = [(seed, fault, provider) for seed in range(first, first + seeds) for fault in FAULTS
             for provider in PROVIDERS]
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        failed = sum(not held for held in pool.map(lambda one: holds(sys.argv[1:6], *one), tries))
    failed += not clean(sys.argv[1:6])
    print(f"{len(tries)} faults, seeds {first} to {first + seeds - 1}: {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
