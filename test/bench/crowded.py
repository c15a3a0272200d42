#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures our MPI beside its peers where processes are many, or in each other's way: medians of interleaved runs.

    crowded.py BUILD [--rounds N] [--only WORD ...] [--before PREFIX]

BUILD is a folder of ./bootstrap, with our MPI installed in BUILD/stage. Hosts are pretended (test/hosts/run): rows
that need them are left out where the machine does not allow that. A word chooses the rows that hold it.
"""

import argparse
import dataclasses
import os
import shutil
import signal
import statistics
import subprocess
import sys

import peers

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
PROGRAMS = {HERE: ["polls"], os.path.join(TREE, "test", "hosts"): ["crowd", "early"]}
# Hydra and Open MPI call it as ssh: options, the host, words of a command.
LAUNCHER = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec "$HOSTS_PROGRAM" enter "$host" sh -c "$*"
"""


@dataclasses.dataclass
class Row:
    """One program and its arguments; it prints one number. hosts: None, or how many ranks each has."""

    name: str
    unit: str
    program: list
    ranks: int
    hosts: list = None
    delay_ms: int = 0
    processors: int = 0   # 0: all there are
    limit: float = 60     # seconds


ROWS = [
    Row("first contact, 32 ranks on 4 hosts at 1 ms", "ms", ["crowd"], 32, [8] * 4, 1, limit=120),
    Row("longest MPI_Iprobe while 16 ranks at 20 ms end", "ms", ["early", "4"], 17, [1, 16], 20),
    Row("a hop by MPI_Test, 4 ranks on 1 processor", "us", ["polls", "ring", "test", "200"], 4, processors=1),
    Row("a hop by MPI_Iprobe, 4 ranks on 1 processor", "us", ["polls", "ring", "iprobe", "200"], 4, processors=1),
    Row("a hop by MPI_Wait, 4 ranks on 1 processor", "us", ["polls", "ring", "wait", "200"], 4, processors=1),
    Row("a hop by MPI_Test, 2 ranks on 1 processor", "us", ["polls", "ring", "test", "500"], 2, processors=1),
    Row("a hop by MPI_Test, 2 ranks", "us", ["polls", "ring", "test", "5000"], 2),
    Row("a sparse exchange, 8 ranks on 2 processors", "us", ["polls", "sparse", "200"], 8, processors=2),
    Row("a sparse exchange, 4 ranks on 1 processor", "us", ["polls", "sparse", "200"], 4, processors=1),
    Row("1,000 MPI_Iallreduce at once, 2 ranks", "ms", ["polls", "many", "1000"], 2),
    Row("1,000 MPI_Iallreduce at once, 4 ranks", "ms", ["polls", "many", "1000"], 4),
]


def find(options, folder):
    """The implementations that are here and compile."""
    wanted = [peers.ours(os.path.join(options.build, "stage"))]
    wanted += [peers.before(options.before)] if options.before else []
    found = []
    for mpi in wanted + [peers.mpich(), peers.openmpi()]:
        if not peers.present(mpi):
            print(f"{mpi.name} is not installed", file=sys.stderr)
            continue
        for source, programs in PROGRAMS.items():
            problems = peers.build(mpi, source, folder, programs, [])
            if problems:
                sys.exit(f"crowded: {mpi.name}: {problems[0]}")
        found.append(mpi)
    return found


def on_hosts(row, mpi, folder):
    """What an MPI has to be told of hosts."""
    listed = ",".join(f"h{i}:{ranks}" for i, ranks in enumerate(row.hosts))
    launcher = os.path.join(folder, "launcher")
    if mpi.name == "mpich":
        return ["-launcher", "ssh", "-launcher-exec", launcher, "-hosts", listed]
    if mpi.name == "openmpi":
        return ["--mca", "plm_rsh_agent", launcher, "-H", listed]
    return ["--launcher-cmd", os.environ["HOSTS_PROGRAM"] + " enter %h", "-host", listed]


def command(row, mpi, folder):
    words = [mpi.mpiexec, *mpi.options]
    if row.processors and mpi.name == "openmpi":
        words += ["--bind-to", "none"]
    if row.hosts:
        words += on_hosts(row, mpi, folder)
    words += ["-n", str(row.ranks), os.path.join(mpi.programs, row.program[0]), *row.program[1:]]
    if row.processors:
        allowed = sorted(os.sched_getaffinity(0))[:row.processors]
        words = ["taskset", "-c", ",".join(map(str, allowed)), *words]
    if row.hosts:
        run = os.path.join(TREE, "test", "hosts", "run")
        words = [run, "--delay", str(row.delay_ms), str(len(row.hosts)), "--", *words]
    return words


def measure(row, mpi, folder):
    """The number that one run prints, or None and why not."""
    outcome, out, err, _ = peers.run(command(row, mpi, folder), mpi.settings("shm"), row.limit)
    try:
        return (float(out.split()[-1]), "") if outcome == "ok" else (None, (err.strip().splitlines() or [outcome])[-1])
    except (IndexError, ValueError):
        return None, "it prints no number"


def can_pretend():
    program = os.environ["HOSTS_PROGRAM"]
    return os.path.exists(program) and subprocess.run(
        [program, "run", "2", "--", "true"], capture_output=True, check=False).returncode == 0


def cell(samples, failures):
    if not samples:
        return "-"
    text = f"{statistics.median(samples):.4g}"
    return text + (f" ({failures} failed)" if failures else "")


def show(rows, mpis, samples, reasons):
    width = max(len(row.name) for row in rows) + 5
    print(f"{'':{width}}" + "".join(f"{mpi.name:>18}" for mpi in mpis))
    for row in rows:
        cells = [cell(samples[row.name, mpi.name], len(reasons.get((row.name, mpi.name), []))) for mpi in mpis]
        print(f"{row.name + ', ' + row.unit:{width}}" + "".join(f"{text:>18}" for text in cells))
    for (name, mpi), texts in reasons.items():
        print(f"{mpi}, {name}: {len(texts)} failed, as: {texts[0]}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("build", metavar="BUILD")
    parser.add_argument("--rounds", type=int, default=5, help="how often each MPI runs each row")
    parser.add_argument("--only", action="append", default=[], metavar="WORD")
    parser.add_argument("--before", metavar="PREFIX", help="where an earlier build of ours is installed")
    return parser.parse_args()


def main():
    options = arguments()
    options.build = os.path.abspath(options.build)
    os.environ.setdefault("HOSTS_PROGRAM", os.path.join(options.build, "test", "hosts", "hosts"))
    os.environ["HOSTS_TREE"] = TREE
    folder = os.path.join(options.build, "crowded")  # /tmp is another one on each pretended host
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(os.path.join(folder, "launcher"), "w", encoding="ascii") as file:
        file.write(LAUNCHER)
    os.chmod(os.path.join(folder, "launcher"), 0o755)
    mpis = find(options, folder)
    rows = [row for row in ROWS if not options.only or any(word in row.name for word in options.only)]
    if any(row.hosts for row in rows) and not can_pretend():
        print("no hosts can be pretended here: rows with hosts are left out", file=sys.stderr)
        rows = [row for row in rows if not row.hosts]
    samples = {(row.name, mpi.name): [] for row in rows for mpi in mpis}
    reasons = {}
    for turn in range(options.rounds):
        for row in rows:
            for mpi in mpis:
                print(f"round {turn + 1} of {options.rounds}: {row.name}: {mpi.name}", file=sys.stderr, flush=True)
                number, why = measure(row, mpi, folder)
                if number is None:
                    reasons.setdefault((row.name, mpi.name), []).append(why)
                else:
                    samples[row.name, mpi.name].append(number)
    show(rows, mpis, samples, reasons)
    return 1 if any(mpi == "ours" for _, mpi in reasons) else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main())
