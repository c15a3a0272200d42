#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure every algorithm of collectives, and write the tuning file that chooses the fastest.

usage: tune.py MPIEXEC COLLECTIVES [-n RANKS] [--hosts N] [--csv FILE] [--svg FOLDER] [--sizes LIST]

COLLECTIVES is the program test/bench/collectives. Each algorithm is forced by its setting
(VIREO_COLL_BCAST=chain) and measured at each size; the rows go to standard output, for
VIREO_COLL_TUNING. With --csv the times are kept, with --svg a plot of each collective is drawn from
them. The table of mpi/coll/choose.c is made by hand from such rows. What the library chooses by
itself, maybe memory that is shared, is measured too; a line that begins with # tells where an algorithm
takes less than 0.8 of its time.
"""
import argparse
import csv
import math
import os
import re
import subprocess
import sys

# Collectives that the program measures, and by how much a setting's bytes are larger than its own.
MEASURED = {"barrier": 0, "bcast": 1, "reduce": 1, "allreduce": 1, "allgather": None, "alltoall": 1,
            "gather": 1, "scatter": 1, "scan": 1, "reduce_scatter": None}
LIMIT = 120  # seconds a measurement may take
WRONG = 0.8  # the library's own choice is told of where the best takes less than this part of its time
TURNS = 3    # of all algorithms, one after the other: the machine has slow minutes
GAIN = 0.95  # a row changes the algorithm only where that takes less than this part of the time
COLORS = ["#1b6ca8", "#c0392b", "#27803b", "#8e44ad", "#b8860b", "#444444"]


def algorithms(mpiexec):
    """The words of each setting: {"bcast": ["tree", ...]}."""
    text = subprocess.run([mpiexec, "--help=settings"], capture_output=True, text=True,
                          check=True).stdout
    found = re.findall(r"VIREO_COLL_(\w+) \[auto\|([\w|]+)\]", text)
    return {kind.lower(): words.split("|") for kind, words in found}


def measure(options, kind, name):
    """Microseconds by bytes, of one algorithm."""
    env = dict(os.environ, **{f"VIREO_COLL_{kind.upper()}": name})
    command = [options.mpiexec, "-n", str(options.n), "--pretend-hosts", str(options.hosts),
               options.collectives, "--ops", kind, "--sizes", options.sizes,
               "--slices", "15", "--seconds", str(options.seconds)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=env, check=False)
    if run.returncode:
        print(f"# {kind} {name}: {run.stderr.strip()[-200:]}", file=sys.stderr)
        return {}
    times = {}
    for line in run.stdout.splitlines():
        words = line.split(",")
        if len(words) > 7 and words[3] == kind:
            times[int(words[2])] = float(words[7])  # the least: others use the machine too
    return times


def measure_all(options, kind, names):
    """{algorithm: {bytes: microseconds}}, of each the least."""
    times = {}
    for _ in range(TURNS):
        for name in names:
            for size, time in measure(options, kind, name).items():
                least = times.setdefault(name, {})
                least[size] = min(time, least.get(size, math.inf))
    return times


def choose(times):
    """The fastest algorithm from each size on, as [(bytes, name)]."""
    sizes = sorted({size for each in times.values() for size in each})
    rows = []
    for size in sizes:
        known = {name: each[size] for name, each in times.items() if size in each}
        best = min(known, key=known.get)
        if rows and known[best] > GAIN * known.get(rows[-1][1], math.inf):
            continue
        rows.append((size, best))
    return rows


def tell_wrong(kind, times, own):
    """Where the library's own choice takes longer."""
    for size in sorted(own):
        known = {name: each[size] for name, each in times.items() if size in each}
        best = min(known, key=known.get, default=None)
        if best and known[best] < WRONG * own[size]:
            print(f"# {kind} {size}: {best} takes {known[best]:.2f} us, what is chosen {own[size]:.2f}")


def print_rows(kind, rows, ranks, hosts):
    factor = MEASURED[kind] if MEASURED[kind] is not None else ranks
    for i, (size, name) in enumerate(rows):
        first = 0 if i == 0 else size * factor
        last = rows[i + 1][0] * factor - 1 if i + 1 < len(rows) else ""
        print(f"{kind:14} {ranks:<6} {hosts:<4} {f'{first}-{last}':22} any  {name}")


def plot(folder, kind, times):
    """A plot of time by bytes, both by powers, as SVG."""
    points = [(s, t) for each in times.values() for s, t in each.items() if s > 0 and t > 0]
    if not points:
        return
    x = [math.log2(s) for s, _ in points]
    y = [math.log10(t) for _, t in points]
    def at(size, time):
        right = (math.log2(size) - min(x)) / (max(x) - min(x) or 1)
        up = (math.log10(time) - min(y)) / (max(y) - min(y) or 1)
        return f"{60 + 520 * right:.1f},{330 - 290 * up:.1f}"
    lines = ['<svg xmlns="http://www.w3.org/2000/svg" width="720" height="370" '
             'font-family="sans-serif" font-size="12">',
             f'<text x="60" y="20">{kind}: microseconds by bytes</text>',
             f'<text x="60" y="355">{2 ** min(x):.0f} B</text>'
             f'<text x="540" y="355">{2 ** max(x):.0f} B</text>',
             f'<text x="5" y="335">{10 ** min(y):.1f}</text><text x="5" y="45">{10 ** max(y):.1f}</text>']
    for i, (name, each) in enumerate(times.items()):
        color = COLORS[i % len(COLORS)]
        path = " ".join(at(s, t) for s, t in sorted(each.items()) if s > 0)
        lines.append(f'<polyline fill="none" stroke="{color}" stroke-width="2" points="{path}"/>'
                     f'<text x="600" y="{50 + 18 * i}" fill="{color}">{name}</text>')
    with open(os.path.join(folder, f"{kind}.svg"), "w", encoding="ascii") as file:
        file.write("\n".join(lines + ["</svg>"]) + "\n")


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("mpiexec")
    parser.add_argument("collectives")
    parser.add_argument("-n", type=int, default=4)
    parser.add_argument("--hosts", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1, help="of a size, at most")
    parser.add_argument("--csv")
    parser.add_argument("--svg")
    parser.add_argument("--sizes", default="8,1024,16384,65536,524288,2097152")
    return parser.parse_args()


def main():
    options = parse()
    rows = []
    print("# collective   ranks  hosts bytes                 commutative algorithm")
    for kind, names in algorithms(options.mpiexec).items():
        if kind not in MEASURED:
            continue
        tried = [name for name in names if name != "hosts" or options.hosts > 1]
        times = measure_all(options, kind, tried + ["auto"])
        own = times.pop("auto", {})
        rows += [(kind, name, options.n, options.hosts, size, time)
                 for name, each in [*times.items(), ("auto", own)]
                 for size, time in sorted(each.items())]
        print_rows(kind, choose(times), options.n, options.hosts)
        tell_wrong(kind, times, own)
        if options.svg:
            plot(options.svg, kind, times)
    if options.csv:
        with open(options.csv, "w", encoding="ascii", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(["collective", "algorithm", "ranks", "hosts", "bytes", "us"])
            out.writerows(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
