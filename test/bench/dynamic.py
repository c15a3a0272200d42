#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long MPI_Comm_spawn of 1 and of 16 processes, and MPI_Comm_connect with MPI_Comm_accept take, beside the peers.

usage: dynamic.py BUILD [--hosts 1,5] [--rounds N] [--times N]

BUILD has a stage folder, as ./bootstrap makes it. With several hosts it runs itself again on hosts of its own
(test/hosts/run), and all launchers are given one cheap command to start their daemons (test/hosts/rsh.c): spawned processes are
spread over the hosts, and those that connect are on two. Rounds are interleaved. Prints medians in milliseconds, and how many
times as long the better peer takes; "-" stands where an MPI cannot.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import peers    # noqa: E402

HERE = pathlib.Path(__file__).resolve()
LIMIT = 60 # seconds
CASES = {"spawn 1": (1, ["spawn", "1"]), "spawn 16": (1, ["spawn", "16"]), "connect + accept": (2, ["connect"])}


def reach(mpi, by, hosts):
    """The options by which a launcher reaches the hosts, with room for all processes."""
    if len(hosts) == 1:
        return []
    if mpi.name == "openmpi":
        return ["--mca", "plm_rsh_agent", by, "--mca", "plm_rsh_no_tree_spawn", "1", "--map-by", "node",
                "-host", ",".join(f"{host}:8" for host in hosts)]
    return ["-launcher", "ssh", "-launcher-exec", shutil.which(by), "-hosts" if mpi.peer else "-host", ",".join(hosts)]


def once(mpi, options, case, times):
    """The times of one job, or None: it has failed."""
    ranks, words = CASES[case]
    try:
        done = subprocess.run([mpi.mpiexec, *mpi.options, *options, "-n", str(ranks), os.path.join(mpi.programs, "dynamic"), *words,
                               str(times)], env=mpi.settings("shm"), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=LIMIT, check=False)
        found = [float(line) for line in done.stdout.split()]
    except (subprocess.TimeoutExpired, ValueError):
        return None
    return found[1:] if not done.returncode and len(found) == times else None  # the first warms caches


def measure(given, hosts, by):
    every = [mpi for mpi in (peers.ours(f"{given.build}/stage"), peers.mpich(), peers.openmpi()) if peers.present(mpi)]
    with tempfile.TemporaryDirectory(dir=given.build) as folder:
        for mpi in every:
            problems = peers.build(mpi, HERE.parent, folder, ["dynamic"], [])
            if problems:
                sys.exit(f"dynamic: {mpi.name}: {problems[0]}")
        taken = {(mpi.name, case): [] for mpi in every for case in CASES}
        for _ in range(given.rounds):
            for mpi in every:
                for case in CASES:
                    found = taken[mpi.name, case]
                    got = once(mpi, reach(mpi, by, hosts), case, given.times) if found is not None else None
                    taken[mpi.name, case] = found + got if got else None
    return every, taken


def show(every, taken, count):
    print(f"{f'{count} hosts' if count > 1 else 'one host':18}" + "".join(f"{mpi.name:>10}" for mpi in every) + "   peer/ours")
    for case in CASES:
        middle = {mpi.name: statistics.median(taken[mpi.name, case]) for mpi in every if taken[mpi.name, case]}
        rivals = [middle[mpi.name] for mpi in every if mpi.peer and mpi.name in middle]
        ratio = f"{min(rivals) / middle['ours']:.1f}" if rivals and "ours" in middle else "-"
        columns = (f"{middle[mpi.name]:.2f}" if mpi.name in middle else "-" for mpi in every)
        print(f"{case:18}" + "".join(f"{column:>10}" for column in columns) + f"{ratio:>12}", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("build")
    parser.add_argument("--hosts", default="1,5", help="numbers of hosts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--times", type=int, default=6, help="in each job; the first is left out")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.build = os.path.abspath(given.build)
    by = f"{given.build}/test/hosts/rsh"
    if given.inside:
        hosts = os.environ["HOSTS_LIST"].split(",")
        show(*measure(given, hosts, by), len(hosts))
        return
    for count in map(int, given.hosts.split(",")):
        if count == 1:
            show(*measure(given, ["here"], by), 1)
            continue
        os.environ["HOSTS_PROGRAM"] = f"{given.build}/test/hosts/hosts"
        subprocess.run([str(HERE.parent.parent / "hosts/run"), str(count), "--", sys.executable, str(HERE), given.build, "--inside",
                        "--rounds", str(given.rounds), "--times", str(given.times)], check=True)


main()
