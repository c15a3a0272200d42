#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures our MPI beside its peers, in one run, interleaved.

    run.py --ours PREFIX [--subject NAME ...] [--quick] [--csv FILE]

Every program is compiled with each MPI's own mpicc. A step is one program
with one set of arguments; each round runs it with every MPI in turn, so that
a machine that drifts does so for all. Inside a program, slices of the MPI
call and of the raw limits alternate (bench.h). Debian's mpich and openmpi are
the peers; one that is not installed is left out, and said so.

The table's last columns: ours/raw is the quotient to the raw limit, "x peer"
how many times as fast ours is as the better peer. CSV: ratio_raw and
ratio_best_peer are plain quotients of the metric.
"""

import argparse
import dataclasses
import os
import platform
import re
import signal
import sys
import tempfile
import time

import peers
import table

HERE = os.path.dirname(os.path.abspath(__file__))
SHARED = ["bench.c", "raw.c"]


@dataclasses.dataclass
class Step:
    """One program, run by every MPI in every round."""

    subject: str
    program: list
    arguments: list = dataclasses.field(default_factory=list)
    ranks: int = 2
    channel: str = "shm"      # or tcp, or ofi and a provider of libfabric
    rounds: int = 3
    limit: float = 60         # seconds
    no_cma: bool = False      # also with Open MPI's single copy turned off
    wall: bool = False        # record the launcher's wall time


def words(text):
    return text.split()


def latency(quick):
    slices = 20 if quick else 80
    yield Step("latency", ["latency"], words(f"--slices {slices}"))


def bandwidth(quick):
    slices = 10 if quick else 30
    sizes = "16384,32768,65536,262144,1048576,4194304"
    for pages, extra in (("", ""), (" on huge pages", " --huge")):
        yield Step("bandwidth" + pages, ["bandwidth"],
                   words(f"--slices {slices} --sizes {sizes}{extra}"), no_cma=True)


def rate(quick):
    yield Step("rate", ["rate"], words(f"--slices {30 if quick else 150} --sizes 8,64"))


def tcp(quick):
    slices = 10 if quick else 40
    sizes = "0,8,64,256,1024,4096,16384,65536"
    yield Step("tcp latency", ["latency"], words(f"--tcp --slices {slices} --sizes {sizes}"),
               channel="tcp")
    sizes = "32768,65536,131072,262144,524288,1048576,2097152,4194304"
    yield Step("tcp bandwidth", ["bandwidth"], words(f"--tcp --slices {slices} --sizes {sizes}"),
               channel="tcp")
    yield Step("tcp rate", ["rate"], words(f"--tcp --slices {2 * slices} --sizes 8"),
               channel="tcp")


def matching(quick):
    slices = 5 if quick else 20
    sizes = "1,512,16384" if quick else "1,512,4096,16384"
    yield Step("matching", ["matching"], words(f"--slices {slices} --sizes {sizes} --seconds 1"),
               rounds=2)
    for ranks in (1, 2):
        yield Step(f"matching in reverse, {ranks} ranks", ["reverse"],
                   words(f"--slices {5 if quick else 20} --seconds 2"), ranks=ranks, rounds=1)


def datatypes(quick):
    yield Step("datatypes", ["datatypes"], words(f"--slices {10 if quick else 40} --seconds 1"))


def collectives(quick):
    seconds = 0.1 if quick else 0.5
    ops = "barrier,bcast,reduce,allreduce,allgather,alltoall,gather,scatter,scan,reduce_scatter"
    for ranks in (2, 4, 8, 16):
        sizes = "8,1024,32768,65536,524288,1048576,4194304" if ranks == 2 else "8,32768"
        # A slice is shorter than the system's: with many ranks a few of them say little.
        slices = 30 if ranks == 2 else 150
        yield Step(f"collectives, {ranks} ranks", ["collectives"],
                   words(f"--slices {slices} --seconds {seconds} --sizes {sizes} --ops {ops}"),
                   ranks=ranks, rounds=2 if ranks == 2 else 3, limit=30 if quick else 90)


WINDOW_WAYS = ("put 8 B", "get 8 B", "fetch_and_op", "compare_and_swap", "lock put unlock", "fence",
               "post start complete wait", "put 64 KiB", "get 64 KiB", "sum 64 KiB", "strided put 64 KiB", "put 1 MiB",
               "get 1 MiB", "sum 1 MiB")


def windows(quick):
    """A run for each way: an MPI that crashes in one has the others measured."""
    slices = 10 if quick else 40
    for ranks, channel, name in ((2, "shm", "windows"), (2, "tcp", "windows over tcp"), (16, "shm", "windows, 16 ranks")):
        for way in WINDOW_WAYS:
            yield Step(name, ["windows"], [*words(f"--slices {slices} --seconds 0.5 --ops"), way], ranks=ranks, channel=channel,
                       limit=30)


def passive(quick):
    """The target computes for 300 ms, and for 10 s: some peers wait for it."""
    for ms in (300,) if quick else (300, 10000):
        for channel, name in (("shm", "passive target"), ("tcp", "passive target over tcp")):
            for kind in ("allocate", "malloc", "alloc_mem", "dynamic"):
                yield Step(name, ["passive"], words(f"--slices {3 if ms < 1000 else 1} --sizes {ms} --ops {kind}"),
                           channel=channel, rounds=3 if ms < 1000 else 1, limit=120)


def overlap(quick):
    yield Step("overlap", ["overlap"], words(f"--slices {20 if quick else 60} --seconds 2"))


def oversubscribed(quick):
    seconds = 0.2 if quick else 1
    yield Step("oversubscribed, 16 ranks", ["collectives"],
               words(f"--slices 50 --seconds {seconds} --sizes 8 --ops barrier,allreduce,pingpong"),
               ranks=16, limit=15 if quick else 40)


def launch(quick):
    rounds = 1 if quick else 5
    for ranks in (2, 16, 64):
        yield Step("launch", ["start"], ranks=ranks, rounds=max(rounds, 2 if ranks < 64 else 1),
                   wall=True)
    yield Step("singleton", ["start"], ranks=0, rounds=2 if quick else 10)


def memory(quick):
    yield Step("memory", ["start"], ["memory"], ranks=64, rounds=1)


def idle(quick):
    yield Step("idle", ["idle"], words(f"--seconds {1 if quick else 3}"), ranks=4, rounds=1)


def instructions(quick):
    if platform.machine() == "x86_64":
        yield Step("instructions", ["stepper", "icount"], rounds=1)


def fabric(quick):
    for provider in ("tcp;ofi_rxm", "shm"):
        yield Step(f"fabric {provider}", ["fabric"],
                   words(f"--slices {20 if quick else 80} --ops {provider}"), channel=f"ofi {provider}")


def files(quick):
    for ranks in (1, 2, 4, 8):
        yield Step(f"files, {ranks} ranks", ["files"],
                   words(f"--slices {5 if quick else 20} --seconds {1 if quick else 5}"),
                   ranks=ranks, rounds=2, limit=60 if quick else 180)


SUBJECTS = {f.__name__: f for f in (latency, bandwidth, rate, tcp, matching, datatypes, collectives,
                                    windows, passive, overlap, oversubscribed, launch, memory, idle, files,
                                    fabric, instructions)}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--ours", metavar="PREFIX", help="where our MPI is installed")
    parser.add_argument("--before", metavar="PREFIX",
                        help="where an earlier build of ours is: it counts as a peer")
    parser.add_argument("--subject", action="append", choices=list(SUBJECTS), metavar="NAME",
                        help="only this one (may be repeated): " + ", ".join(SUBJECTS))
    parser.add_argument("--quick", action="store_true", help="about three minutes, rougher")
    parser.add_argument("--rounds", type=int, help="how often each MPI runs each step")
    parser.add_argument("--csv", metavar="FILE", help="also write the results there")
    parser.add_argument("--without", action="append", default=[], metavar="MPI",
                        help="leave a peer out: mpich, openmpi")
    return parser.parse_args()


def chosen(options):
    """The subjects that can be measured here."""
    here = [s for s in SUBJECTS if s != "fabric" or peers.library("libfabric")]
    return [s for s in options.subject or here if s in here]


def find(options, folder, say):
    """The implementations that are here, with the programs that compile."""
    wanted = [peers.ours(options.ours)] if options.ours else []
    wanted += [peers.before(options.before)] if options.before else []
    wanted += [m for m in (peers.mpich(), peers.openmpi()) if m.name not in options.without]
    found = []
    programs = sorted({p for s in chosen(options) for step in SUBJECTS[s](options.quick)
                       for p in step.program})
    for mpi in wanted:
        if not peers.present(mpi):
            if mpi.name in ("ours", "before"):
                prefix = options.ours if mpi.name == "ours" else options.before
                sys.exit(f"bench: no bin/mpicc and bin/mpiexec in {prefix}")
            say(f"{mpi.name} is not installed: left out")
            continue
        say(f"compiling with {mpi.name}")
        problems = peers.build(mpi, HERE, folder, [p for p in programs if p != "stepper"], SHARED)
        if "stepper" in programs:
            problems += peers.build(mpi, HERE, folder, ["stepper"], [])
        if problems and mpi.name == "ours":
            sys.exit(f"bench: {problems[0]}")
        for problem in problems:
            say(f"{mpi.name} goes without {problem}")
        found.append(mpi)
    return found


def take(results, step, mpi, out):
    """File what one run printed."""
    for line in out.splitlines():
        fields = line.split(",")
        if fields[0] == "bench" and len(fields) == 10:
            results.add(step.subject, mpi.name, fields[1:])


def take_steps(results, step, mpi, out):
    """Instruction counts: the median of each name, without the markers' own."""
    counts = {}
    for name, steps in re.findall(r"^steps,([^,]+),(\d+)$", out, re.M):
        counts.setdefault(name, []).append(int(steps))
    middle = {n: sorted(c)[len(c) // 2] for n, c in counts.items()}
    nothing = middle.pop("nothing", 0)
    for name, steps in middle.items():
        results.add_value(step.subject, mpi.name, "8", name, "instr", steps - nothing)


def run_step(results, step, mpis, rounds, say):
    dead = {}
    for turn in range(rounds):
        for mpi in mpis:
            if mpi.name in dead or not mpi.can_run(step.program, step.channel):
                continue
            say(f"{step.subject}: {mpi.name} ({turn + 1}/{rounds})")
            outcome, out, err, wall = peers.run(
                mpi.command(step.program, step.arguments, step.ranks, step.channel),
                mpi.settings(step.channel), step.limit)
            take(results, step, mpi, out)
            take_steps(results, step, mpi, out)
            if outcome == "ok" and step.wall:
                results.add_value(step.subject, mpi.name, str(step.ranks), "mpiexec wall", "ms",
                                  wall * 1e3)
            if outcome != "ok":
                dead[mpi.name] = outcome
                reason = err.strip().splitlines()
                results.notes.append(f"{step.subject}, {mpi.name}: {outcome}"
                                     + (f" after {step.limit:g} s" if outcome == "timeout" else "")
                                     + (f": {reason[0]}" if reason else ""))
    for name, outcome in dead.items():
        results.missing(step.subject, name, outcome, str(step.ranks) if step.wall else "")


def add_depth_ratios(results):
    """How deep queues compare with shallow ones, each seen against its limit."""
    deep = max((int(s) for n, s, _ in results.cells if n == "matching"), default=0)
    for (name, size, metric), cell in list(results.cells.items()):
        if name != "matching" or size != "1" or cell.role != "mpi":
            continue
        other = results.cells.get((name, str(deep), metric))
        for impl in cell.samples:
            if other and impl in other.samples:
                results.add_value(f"matching, depth {deep} over depth 1", impl, str(deep), metric,
                                  "x", other.middle(impl, "ratio") / cell.middle(impl, "ratio"))


def add_reverse_ratios(results):
    """How much longer one of many takes than one of ten."""
    for (name, size, metric), cell in list(results.cells.items()):
        few = results.cells.get((name, "10", metric))
        if not name.startswith("matching in reverse") or size == "10" or not few:
            continue
        for impl in cell.samples:
            results.add_value(name + ", over 10", impl, size, metric, "x",
                              cell.middle(impl, "median") / few.middle(impl, "median"))


def add_calm(results):
    """Say so when the machine's own speed changed a lot: then only quotients hold."""
    cells = [c for (_, _, metric), c in results.cells.items() if metric == "line ping-pong"]
    medians = [s.median for c in cells for s in c.samples.get("raw", [])]
    if medians and max(medians) > 2 * min(medians):
        results.notes.append("the raw line ping-pong took from "
                             f"{min(medians):.0f} to {max(medians):.0f} ns in this run: the "
                             "machine was busy or moved; trust quotients, not times")


def main():
    options = arguments()
    start = time.monotonic()

    def say(text):
        print(f"[{time.monotonic() - start:5.0f} s] {text}", file=sys.stderr, flush=True)

    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        mpis = find(options, folder, say)
        if not mpis:
            sys.exit("bench: no MPI to measure")
        results = table.Results([m.name for m in mpis if m.peer])
        names = [m.name for m in mpis]
        for subject in chosen(options):
            for step in SUBJECTS[subject](options.quick):
                rounds = options.rounds or (1 if options.quick else step.rounds)
                if step.wall or step.ranks == 0:
                    rounds = options.rounds or step.rounds
                extra = [peers.openmpi_no_cma(m) for m in mpis
                         if step.no_cma and m.name == "openmpi"]
                run_step(results, step, mpis + extra, rounds, say)
                names += [m.name for m in extra if m.name not in names]
    add_reverse_ratios(results)
    add_depth_ratios(results)
    add_calm(results)
    results.show(names)
    if options.csv:
        results.write_csv(options.csv)
    return 1 if any(", ours: " in note for note in results.notes) else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    sys.exit(main())
