#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a start and a small message cost under mpiexec and under managers of others, beside these managers' own starts.

usage: managers.py PREFIX [--rounds N] [--ranks 2,16,64] [--hosts]
       test/hosts/run 2 -- managers.py PREFIX --hosts            on all hosts

Jobs of mpiexec, of Debian's Hydra and mpirun, and of srun inside of an allocation or beside test/hosts/slurm.py, take
turns. "empty" is a start of a program without MPI, "ours" of one of ours that calls MPI_Init and MPI_Finalize, "MPICH"
the same of Debian's MPICH. Each line has medians: wall time, and the processor time of what the command has waited for.
The rule: under a manager ours is to cost its own empty start and what MPI_Init adds under mpiexec. Then, on one host, half
a ping-pong of 8 bytes.
"""
import argparse
import itertools
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
AS_SSH = str(HERE.parent / "hosts" / "as_ssh")
PREFIXES = ("BNR_", "OMPI_", "PMI_", "PMIX_", "VIREO_", "MPIEXEC_")
PROGRAM = """
#include <mpi.h>
int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
}
"""


def managers(prefix, hosts):
    """Name, the words of a job's start, and whether it starts ranks of MPICH."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    mpirun = ["mpirun.openmpi", *root, "--oversubscribe", "--bind-to", "none"]
    hydra, own = ["mpiexec.hydra"], [f"{prefix}/bin/mpiexec"]
    if hosts:
        own += ["--launcher-cmd", f"{os.environ['HOSTS_PROGRAM']} enter %h", "--host", hosts]
        hydra += ["-launcher", "ssh", "-launcher-exec", AS_SSH, "-hosts", hosts]
        mpirun += ["--map-by", "node", "--mca", "plm_rsh_agent", AS_SSH, "--mca", "plm_rsh_no_tree_spawn", "1", "-host", hosts]
    found = [("mpiexec", own, True), ("hydra", hydra, True), ("mpirun", mpirun, False)]
    if "SLURM_CONF" in os.environ or "SLURM_JOB_ID" in os.environ:
        found.append(("srun", ["srun", "--quiet", "--mpi=pmi2", "--overcommit", "-N1"], False))
    return [row for row in found if shutil.which(row[1][0])]


def build(folder, name, mpicc, *sources):
    """Returns the program, or None where there is no such compiler."""
    if not shutil.which(mpicc):
        return None
    program, own = pathlib.Path(folder) / name, pathlib.Path(folder) / "program.c"
    own.write_text(PROGRAM)
    sources = [str(HERE / source) for source in sources] or [str(own)]
    subprocess.run([mpicc, "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-I", str(HERE), "-o", str(program), *sources, "-lm"],
                   check=True)
    return str(program)


def once(words):
    """Returns milliseconds: wall, and processor. A job that fails or hangs, as MPICH's do between hosts, is none."""
    environment = {n: v for n, v in os.environ.items() if not n.startswith(PREFIXES)}
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    try:
        done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    except subprocess.TimeoutExpired:
        return None
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        print(f"{' '.join(words)}: status {done.returncode}: {done.stdout.strip()[:200]}", file=sys.stderr)
        return None
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1e3, used * 1e3


def starts(found, programs, counts, rounds):
    """Returns {(ranks, program, manager): medians of wall and processor time}."""
    jobs = {(ranks, what, name): [*words, "-n", str(ranks), program] for ranks in counts
            for what, program in programs.items() for name, words, of_mpich in found
            if program and (what != "MPICH" or (of_mpich and ranks <= 16)) and (name != "mpirun" or ranks <= 16)}
    taken = {job: [] for job in jobs}
    for number in range(rounds + 1):
        for job, words in jobs.items():
            told = once(words)
            if number and told: # the first warms caches
                taken[job].append(told)
    medians = {}
    for (ranks, what, name), pairs in taken.items():
        if pairs:
            wall, used = (statistics.median(column) for column in zip(*pairs))
            medians[ranks, what, name] = wall, used
            print(f"{ranks:4} ranks  {what:6} {name:8} {wall:8.1f} ms, at best {min(pairs)[0]:8.1f}, processor {used:8.1f} ms, "
                  f"{len(pairs)} of {rounds} rounds", flush=True)
    return medians


def rule(medians, found, counts):
    for ranks, name, (at, of) in itertools.product(counts, [row[0] for row in found[1:]], enumerate(("wall", "processor"))):
        ours, empty = (medians.get((ranks, what, name)) for what in ("ours", "empty"))
        own = [medians.get((ranks, what, "mpiexec")) for what in ("ours", "empty")]
        if ours and empty and all(own):
            due = empty[at] + own[0][at] - own[1][at]
            print(f"{ranks:4} ranks  {name}, {of} time: {ours[at]:.1f} ms; its empty start and what ours adds: {due:.1f}", flush=True)


def latencies(found, program, rounds):
    """8 bytes, half a ping-pong, the ranks bound to cores: the median of rounds, and the least."""
    bound = {"mpiexec": ["-bind-to", "core"], "hydra": ["-bind-to", "core"], "mpirun": ["--bind-to", "core"],
             "srun": []} # its binding is the cluster's choice: each rank binds itself
    itself = ["sh", "-c", 'exec taskset -c $SLURM_PROCID "$0" "$@"']
    told = {name: [] for name in bound}
    for _ in range(rounds):
        for name, words, *_ in found:
            if name in bound:
                words = [w for w in words if w not in ("--oversubscribe", "--bind-to", "none")]
                rank = [*itself, program] if name == "srun" else [program]
                said = subprocess.run([*words, *bound[name], "-n", "2", *rank, "--sizes", "8"], stdin=subprocess.DEVNULL,
                                      capture_output=True, text=True, timeout=120, check=False).stdout
                told[name] += [float(line.split(",")[6]) for line in said.splitlines() if ",latency," in line]
    for name, values in told.items():
        if values:
            print(f"   2 ranks  8 B    {name:8} {statistics.median(values):8.0f} ns, at best {min(values):.0f}", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("prefix")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--ranks", default="2,16,64")
    parser.add_argument("--hosts", action="store_true")
    options = parser.parse_args()
    counts = [int(word) for word in options.ranks.split(",")]
    found = managers(options.prefix, os.environ["HOSTS_LIST"] if options.hosts else None)
    # A host's /tmp is its own: programs lie where all hosts see them.
    with tempfile.TemporaryDirectory(dir=options.prefix) as folder:
        programs = {"empty": shutil.which("true"), "ours": build(folder, "ours", f"{options.prefix}/bin/mpicc"),
                    "MPICH": build(folder, "mpich", "mpicc.mpich")}
        rule(starts(found, programs, counts, options.rounds), found, counts)
        if not options.hosts:
            latency = build(folder, "latency", f"{options.prefix}/bin/mpicc", "latency.c", "bench.c", "raw.c")
            latencies(found, latency, options.rounds)


main()
