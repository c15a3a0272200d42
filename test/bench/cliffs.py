#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Find cliffs: where a collective takes longer with less to do.

usage: cliffs.py MPIEXEC COLLECTIVES [--ranks LIST] [--ops LIST] [--most BYTES] [--csv FILE]
       cliffs.py --from FILE

COLLECTIVES is the program test/bench/collectives. Each collective is measured at powers of two, up to
--most bytes, at each number of ranks; --from takes a file that --csv has written. A cell is named
where a larger one, or one of more ranks, takes less than 0.8 of its time, and where twice the bytes take
more than 3 times as long. Ends with "N cells, N cliffs".
"""
import argparse
import csv
import subprocess
import sys

OPS = "bcast,reduce,allreduce,allgather,alltoall,gather,scatter,scan,reduce_scatter"
FALLS = 0.8
JUMPS = 3.0
TURNS = 3     # runs of each cell, of which the fastest counts: others use the machine too
LIMIT = 300   # seconds of a run


def parse():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("mpiexec", nargs="?")
    parser.add_argument("collectives", nargs="?")
    parser.add_argument("--ranks", default="2,3,4,8")
    parser.add_argument("--ops", default=OPS)
    parser.add_argument("--most", type=int, default=1 << 20)
    parser.add_argument("--seconds", default="0.03")
    parser.add_argument("--csv")
    parser.add_argument("--from", dest="source")
    options = parser.parse_args()
    if not options.source and not options.collectives:
        parser.error("two programs, or --from FILE")
    return options


def measure(options):
    """{(collective, ranks, bytes): microseconds}"""
    sizes = [1 << i for i in range(3, options.most.bit_length())]
    cells = {}
    for _ in range(TURNS):
        for ranks in map(int, options.ranks.split(",")):
            run = subprocess.run(
                [options.mpiexec, "-n", str(ranks), options.collectives, "--ops", options.ops,
                 "--sizes", ",".join(map(str, sizes)), "--slices", "10", "--seconds",
                 options.seconds],
                capture_output=True, text=True, timeout=LIMIT, check=True)
            for line in run.stdout.splitlines():
                words = line.split(",")
                if len(words) > 7 and words[:2] == ["bench", "mpi"]:
                    cell = words[3], ranks, int(words[2])
                    cells[cell] = min(float(words[7]), cells.get(cell, float("inf")))
    return cells


def read(path):
    with open(path, newline="", encoding="ascii") as file:
        return {(row["collective"], int(row["ranks"]), int(row["bytes"])): float(row["us"])
                for row in csv.DictReader(file)}


def write(path, cells):
    with open(path, "w", newline="", encoding="ascii") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["collective", "ranks", "bytes", "us"])
        out.writerows([*cell, time] for cell, time in sorted(cells.items()))


def find(cells):
    """Lines that say where the cliffs are. Of cells that are slower than a later one the last is named."""
    for (op, ranks, size), time in sorted(cells.items()):
        twice = cells.get((op, ranks, 2 * size))
        more = min((r for o, r, s in cells if o == op and s == size and r > ranks), default=None)
        if twice and twice < FALLS * time:
            yield f"{op}, {ranks} ranks: {size} bytes take {time:.2f} us, {2 * size} only {twice:.2f}"
        if twice and twice > JUMPS * time:
            yield f"{op}, {ranks} ranks: {size} bytes take {time:.2f} us, {2 * size} {twice:.2f}"
        if more and cells[op, more, size] < FALLS * time:
            yield (f"{op}, {size} bytes: {ranks} ranks take {time:.2f} us, {more} only "
                   f"{cells[op, more, size]:.2f}")


def main():
    options = parse()
    cells = read(options.source) if options.source else measure(options)
    if options.csv:
        write(options.csv, cells)
    found = list(find(cells))
    print("\n".join(found + [f"{len(cells)} cells, {len(found)} cliffs"]))
    return 1 if found or not cells else 0


if __name__ == "__main__":
    sys.exit(main())
