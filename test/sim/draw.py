#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw what "sim job" prints, and print it as tables. usage: draw.py CSV SVG

A picture for the time of each part of a job, one for the bytes and one for the memory of the daemon that has most of
it, each over the number of hosts.
"""
import csv
import html
import math
import pathlib
import sys

PICTURES = {"ms": ("time", {1: "1 ms", 1e3: "1 s", 6e4: "1 min"}),
            "bytes": ("bytes that one daemon sends and takes", {1 << 10: "1 KiB", 1 << 20: "1 MiB", 1 << 30: "1 GiB"}),
            "memory": ("memory of one daemon's engine", {1 << 10: "1 KiB", 1 << 20: "1 MiB", 1 << 30: "1 GiB"})}
COLORS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9", "#7f7f7f", "#8c564b"]
LEFT, TOP, WIDE, HIGH, GAP = 60, 30, 240, 280, 70


def read(path):
    """{part: {hosts: {column: number}}}"""
    parts = {}
    for row in csv.DictReader(path.read_text().splitlines()):
        numbers = {name: float(row[name]) for name in row if name not in ("hosts", "part")}
        parts.setdefault(row["part"], {})[int(row["hosts"])] = numbers
    return parts


def scale(values, length):
    """Where a value stands on an axis that doubles; all values lie within it."""
    low, high = math.log2(min(values)), math.log2(max(values))
    return lambda value: (math.log2(value) - low) / ((high - low) or 1) * length


def picture(parts, column, left):
    title, marks = PICTURES[column]
    lines = {part: {hosts: row[column] for hosts, row in rows.items() if row[column] > 0} for part, rows in parts.items()}
    hosts = sorted({n for line in lines.values() for n in line})
    across = scale(hosts, WIDE)
    up = scale([value for line in lines.values() for value in line.values()] + [1 if column == "ms" else 1 << 10], HIGH)
    yield f'<text x="{left}" y="{TOP - 12}" font-weight="bold">{html.escape(title)}</text>'
    yield f'<rect x="{left}" y="{TOP}" width="{WIDE}" height="{HIGH}" fill="none" stroke="#888"/>'
    for n in hosts:
        yield f'<text x="{left + across(n):.1f}" y="{TOP + HIGH + 16}" text-anchor="middle">{n}</text>'
    for value, text in marks.items():
        y = TOP + HIGH - up(value)
        if TOP <= y <= TOP + HIGH:
            yield f'<line x1="{left}" x2="{left + WIDE}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>'
            yield f'<text x="{left - 4}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
    for color, line in zip(COLORS, lines.values()):
        points = " ".join(f"{left + across(n):.1f},{TOP + HIGH - up(value):.1f}" for n, value in sorted(line.items()))
        yield f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"/>'


def draw(parts):
    width = LEFT + len(PICTURES) * (WIDE + GAP)
    key = TOP + HIGH + 44
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {key + 30}" width="{width}" '
           f'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>')
    for i, column in enumerate(PICTURES):
        yield from picture(parts, column, LEFT + i * (WIDE + GAP))
    for i, (color, part) in enumerate(zip(COLORS, parts)):
        x, y = LEFT + i % 5 * 190, key + i // 5 * 18
        yield f'<line x1="{x}" x2="{x + 22}" y1="{y - 4}" y2="{y - 4}" stroke="{color}" stroke-width="2"/>'
        yield f'<text x="{x + 28}" y="{y}">{html.escape(part)}</text>'
    yield "</svg>\n"


def short(value):
    """A number of bytes or of ms in a few characters."""
    for unit in ("", " K", " M"):
        if value < 10000:
            break
        value /= 1024
    return f"{value:.0f}{unit}"


def table(parts):
    hosts = sorted({n for rows in parts.values() for n in rows})
    print("| hosts | " + " | ".join(map(str, hosts)) + " |\n|---|" + "---|" * len(hosts))
    for part, rows in parts.items():
        cells = [f"{rows[n]['ms']:.0f}, {rows[n]['messages']:.0f}, {short(rows[n]['bytes'])}, {short(rows[n]['memory'])}"
                 if n in rows else "" for n in hosts]
        print(f"| {part} | " + " | ".join(cells) + " |")


def main(source, target):
    parts = read(pathlib.Path(source))
    pathlib.Path(target).write_text("\n".join(draw(parts)))
    table(parts)


main(*sys.argv[1:])
