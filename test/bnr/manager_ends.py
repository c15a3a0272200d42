#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of other managers that end badly: each time with a status, a line that says why, and nothing left.

usage: manager_ends.py WORK ROUNDS MANAGER...

WORK is test/bnr/work.c; a MANAGER is hydra, mpirun, pmi2 or pmix, the last two by srun. With "-on" srun
lets others go on when a rank fails, as it does by default: then ranks end the job. Each round kills a rank, has one end
without MPI_Finalize, and has one abort, while others wait for it in MPI. At last Hydra and mpirun are killed.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import marked    # noqa: E402

LIMIT = 60 # seconds
PREFIXES = ("BNR_", "OMPI_", "PMI_", "PMIX_", "VIREO_")
SRUN = ("srun", "--quiet", "--overcommit")
MANAGERS = {
    "hydra": ("mpiexec.hydra",),
    "mpirun": ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none"),
    "pmi2": (*SRUN, "--kill-on-bad-exit=1", "--mpi=pmi2"),
    "pmi2-on": (*SRUN, "--kill-on-bad-exit=0", "--mpi=pmi2"),
    "pmix": (*SRUN, "--kill-on-bad-exit=1", "--mpi=pmix", "-N1"),
    "pmix-on": (*SRUN, "--kill-on-bad-exit=0", "--mpi=pmix", "-N1"),
}
RANKS = 3
# What rank 1 does, while rank 0 waits for it in MPI and others sleep outside; the status that a manager which passes
# statuses on ends with; what must be said by our library, or the manager. (Hydra's proxy dies now and then as it answers
# a rank that has been killed.)
ENDS = {
    "a rank is killed": (("barrier", "die=1", "barrier"), None, ("illed", "signal 9", "exit code 137", "process manager error")),
    "a rank leaves": (("barrier", "leave=1", "barrier"), None, ("without MPI_Finalize",)),
    "a rank aborts": (("barrier", "abort=9", "sleep=60000"), 9, ("aborted with code 9",)),
}
# Acts of ranks whose manager is killed.
DEATHS = {
    "ranks wait in MPI": ("init", "hello", "block=60000"),
    "ranks compute": ("init", "hello", "sleep=60000"),
}
PASSES_CODES = ("hydra", "mpirun")


def segments():
    """Names of memory that outlives processes; without that of jobs over ofi, which may run beside."""
    return {n for n in os.listdir("/dev/shm") if n.startswith("vireo") and not n.startswith("vireo-ofi")}


def one(manager, work, name, number):
    """Returns what is wrong, or None; and the time."""
    acts, code, words = ENDS[name]
    word = f"VIREO_TEST_ENDS={os.getpid()}.{manager}.{number}"
    environment = {n: v for n, v in os.environ.items() if not n.startswith(PREFIXES)} | dict([word.split("=")])
    before, begin = segments(), time.monotonic()
    done = subprocess.run(["timeout", "-k", "5", str(LIMIT), *MANAGERS[manager], "-n", str(RANKS), work, "init", *acts],
                          env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          check=False)
    taken, pids = time.monotonic() - begin, marked.left(word)
    marked.kill(pids)
    said = done.stdout + done.stderr
    wrong = "it hangs" if done.returncode in (124, 137) and taken >= LIMIT else \
        "status 0" if not done.returncode else \
        f"status {done.returncode}" if code and manager in PASSES_CODES and done.returncode != code else \
        f"no word of {words[0]}" if not any(w in said for w in words) else \
        f"processes are left: {pids}" if pids else \
        f"memory is left: {segments() - before}" if segments() - before else None
    return f"{wrong}\n{said}" if wrong else None, taken


def manager_dies(manager, work, acts):
    """The manager is killed while ranks compute, and wait in MPI. Returns what is wrong, or None. Hydra's proxy kills
    its ranks; under mpirun the shell around a rank tells its status."""
    word = f"VIREO_TEST_ENDS={os.getpid()}.{manager}.dies"
    before = segments()
    with tempfile.TemporaryDirectory() as folder: # mpirun leaves files there
        environment = {n: v for n, v in os.environ.items() if not n.startswith(PREFIXES)}
        environment |= dict([word.split("=")]) | {"TMPDIR": folder}
        heard = pathlib.Path(folder, "heard")
        script = f'"$@" 2>>{heard} >&2; echo status $? >>{heard}'
        process = subprocess.Popen([*MANAGERS[manager], "-n", str(RANKS), "sh", "-c", script, "sh", work, *acts],
                                   env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        until = time.monotonic() + LIMIT
        while time.monotonic() < until and (not heard.exists() or heard.read_text().count(" of ") < RANKS):
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(signal.SIGKILL)
        process.wait()
        pids = marked.left(word)
        marked.kill(pids)
        said = heard.read_text() if heard.exists() else ""
    wrong = f"processes are left: {pids}" if pids else \
        f"memory is left: {segments() - before}" if segments() - before else \
        "no line and status of each rank" if manager == "mpirun" and not (
            said.count("has ended, and so does this process") == said.count("status 1\n") == RANKS) else None
    return f"{wrong}\n{said}" if wrong else None


def main(work, rounds, *managers):
    bad = 0
    for manager in managers:
        if not shutil.which(MANAGERS[manager][0]):
            print(f"{manager} is not tried: it is not there")
            continue
        for name in ENDS:
            told = [one(manager, work, name, number) for number in range(int(rounds))]
            wrong = [(number, why) for number, (why, _) in enumerate(told) if why]
            for number, why in wrong[:3]:
                print(f"not so: {manager}: {name}: round {number}: {why}", flush=True)
            bad += len(wrong)
            times = sorted(taken for _, taken in told)
            print(f"{'not so' if wrong else 'ok'}: {manager}: {name}: {len(told) - len(wrong)} of {len(told)} rounds, "
                  f"median {times[len(times) // 2]:.2f} s, longest {times[-1]:.2f} s", flush=True)
        for name, acts in DEATHS.items() if manager in PASSES_CODES else ():
            why = manager_dies(manager, work, acts)
            bad += bool(why)
            print(f"{'not so' if why else 'ok'}: {manager}: it is killed: {name}{': ' + why if why else ''}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
