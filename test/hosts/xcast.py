#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure xcasts of each shape and length, and draw them. usage: xcast.py BUILD FOLDER [ROUNDS]

17 hosts of two ranks each, with 1 ms from one to another, and lines of 100 Mbit/s. Writes
FOLDER/xcast.csv and, by gnuplot, FOLDER/xcast.svg; prints which shape is fastest from which length on.
"""
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
HOSTS, RANKS = 17, 34
PLOT = """
set terminal svg size 720,480 font "sans,12" background "white"
set output "{folder}/xcast.svg"
set datafile separator ","
set logscale xy
set format x "%.0b %B"
set xtics 64,8
set format x "%.0b%B"
set key left top
set grid
set xlabel "bytes"
set ylabel "ms until the last of 34 ranks on 17 hosts has it"
plot for [mode in "direct linear binomial radix binary"] "{folder}/xcast.csv" \
    using (strcol(2) eq mode ? $1 : NaN):3 every ::1 with linespoints linewidth 2 pointsize 0.5 title mode
"""


def measure(build, rounds):
    os.environ["BUILD"] = os.path.abspath(build)
    places = ",".join(f"h{i}:{RANKS // HOSTS}" for i in range(HOSTS))
    command = (f'"$BUILD"/bnr/mpiexec --launcher-cmd "$HOSTS_PROGRAM enter %h" -host {places} '
               f'-n {RANKS} "$BUILD"/test/hosts/xcast_time {rounds}')
    done = subprocess.run([HERE / "run", "--delay", "1", "--rate", "100", str(HOSTS), "--", "sh", "-c",
                           command], capture_output=True, text=True, timeout=1500)
    if done.returncode:
        sys.exit(done.stderr)
    return [line.split(",") for line in done.stdout.splitlines()]


def fastest(rows):
    """Which shape is fastest for each length; a tie of 5 % goes to the one before."""
    last = None
    for length in sorted({int(row[0]) for row in rows}):
        times = {mode: float(ms) for bytes_, mode, ms in rows if int(bytes_) == length}
        best = min(times, key=times.get)
        if last is None or times[last] > 1.05 * times[best]:
            print(f"from {length} bytes: {best} ({times[best]:.1f} ms; "
                  + ", ".join(f"{mode} {ms:.1f}" for mode, ms in times.items() if mode != best) + ")")
            last = best


def main(build, folder, rounds="3"):
    rows = measure(build, int(rounds))
    with open(f"{folder}/xcast.csv", "w", encoding="utf-8") as file:
        file.write("bytes,shape,ms\n" + "".join(",".join(row) + "\n" for row in rows))
    subprocess.run(["gnuplot"], input=PLOT.format(folder=folder), text=True, check=True)
    fastest(rows)


main(*sys.argv[1:])
