#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw a trace of mpiexec --trace as an SVG: a lane for each rank, spans of calls, arrows of messages.

usage: draw_trace.py TRACE [--begin MS|CALL:N] [--length MS] >PICTURE

Without --begin and --length the whole trace is drawn. MPI_Allreduce:3 begins where rank 0 comes to
its third call of that name. A call that is longer than the picture is cut.
"""
import argparse
import json
import sys
from xml.sax.saxutils import escape

WIDTH, LEFT, TOP, LANE, GAP = 960, 70, 46, 44, 26
COLORS = ["#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#9c755f", "#76b7b2"]


class Picture:
    """Maps times to places, and collects lines of SVG."""

    def __init__(self, begin, end, ranks):
        self.begin, self.end, self.ranks = begin, end, ranks
        self.height = TOP + ranks * (LANE + GAP) + 24
        self.lines = []

    def x(self, time):
        within = min(max(time, self.begin), self.end)
        return LEFT + (within - self.begin) / (self.end - self.begin) * (WIDTH - LEFT - 12)

    def y(self, rank):
        return TOP + rank * (LANE + GAP)

    def add(self, text):
        self.lines.append(text)

    def text(self, x, y, words, more=""):
        self.add(f'<text x="{x:.1f}" y="{y:.1f}"{more}>{escape(words)}</text>')


def draw_axis(picture):
    """Marks at round times, about eight of them."""
    length = picture.end - picture.begin
    step = 10 ** len(str(int(length / 8))) / 10
    while length / step > 10:
        step *= 2 if str(step).startswith(("1", "5")) else 2.5
    at = step * -(-picture.begin // step)
    while at <= picture.end:
        x, bottom = picture.x(at), picture.height - 22
        picture.add(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>')
        picture.text(x, picture.height - 8, f"{at / 1000:g} ms", ' text-anchor="middle"')
        at += step


def draw_spans(picture, spans, colors):
    for rank in range(picture.ranks):
        y = picture.y(rank)
        picture.text(8, y + LANE / 2 + 4, f"rank {rank}")
        picture.add(f'<line x1="{LEFT}" y1="{y + LANE}" x2="{WIDTH - 12}" y2="{y + LANE}" stroke="#888"/>')
    for span in sorted(spans, key=lambda s: -s["dur"]):     # inner calls over outer ones
        x, end = picture.x(span["ts"]), picture.x(span["ts"] + span["dur"])
        y = picture.y(span["pid"])
        name = span["name"].removeprefix("MPI_")
        what = f'{span["name"]} of rank {span["pid"]}: {span["dur"]:.1f} us'
        picture.add(f'<rect x="{x:.2f}" y="{y}" width="{max(end - x, 0.6):.2f}" height="{LANE}" '
                    f'fill="{colors[span["cat"]]}" stroke="white" stroke-width="0.4">'
                    f"<title>{escape(what)}</title></rect>")
        if end - x > 7 * len(name):
            picture.text((x + end) / 2, y + LANE / 2 + 4, name,
                         ' text-anchor="middle" fill="white"')


def draw_arrows(picture, flows):
    """From where a send was made to where its receive was complete."""
    for begin, end in flows:
        down = end["pid"] > begin["pid"]
        y1 = picture.y(begin["pid"]) + (LANE if down else 0)
        y2 = picture.y(end["pid"]) + (0 if down else LANE)
        picture.add(f'<line x1="{picture.x(begin["ts"]):.2f}" y1="{y1}" x2="{picture.x(end["ts"]):.2f}" '
                    f'y2="{y2}" stroke="#222" stroke-width="0.8" marker-end="url(#tip)"/>')


def draw(events, begin, end):
    spans = [e for e in events if e["ph"] == "X"]
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    flows = [(starts[e["id"]], e) for e in events if e["ph"] == "f" and e["id"] in starts]
    ranks = 1 + max(e["pid"] for e in events)
    end = end if end is not None else max(s["ts"] + s["dur"] for s in spans)
    seen = [s for s in spans if s["ts"] < end and s["ts"] + s["dur"] > begin]
    colors = dict(zip(sorted({s["cat"] for s in spans}), COLORS))
    picture = Picture(begin, end, ranks)
    draw_axis(picture)
    draw_spans(picture, seen, colors)
    draw_arrows(picture, [f for f in flows if f[0]["ts"] >= begin and f[1]["ts"] <= end])
    x = LEFT
    for kind in sorted({s["cat"] for s in seen}):
        picture.add(f'<rect x="{x}" y="12" width="14" height="14" fill="{colors[kind]}"/>')
        picture.text(x + 20, 24, kind)
        x += 40 + 8 * len(kind)
    picture.text(x, 24, "arrow: a message")
    return picture


def begin_of(events, where):
    """In microseconds; for CALL:N a little before that call."""
    name, colon, number = where.partition(":")
    if not colon:
        return float(where) * 1000
    times = sorted(e["ts"] for e in events if e["ph"] == "X" and e["pid"] == 0 and e["name"] == name)
    if not 1 <= int(number) <= len(times):
        sys.exit(f"draw_trace.py: rank 0 has {len(times)} calls of {name}")
    return max(times[int(number) - 1] - 20, 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("trace")
    parser.add_argument("--begin", default="0")
    parser.add_argument("--length", type=float)
    options = parser.parse_args()
    with open(options.trace, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    begin = begin_of(events, options.begin)
    end = begin + options.length * 1000 if options.length else None
    picture = draw(events, begin, end)
    sys.stdout.write(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{picture.height:.0f}" '
        f'font-family="sans-serif" font-size="12">\n'
        '<defs><marker id="tip" orient="auto" markerWidth="7" markerHeight="6" refX="6" refY="3">'
        '<path d="M0,0 L7,3 L0,6 Z" fill="#222"/></marker></defs>\n'
        '<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(picture.lines) + "\n</svg>\n")


if __name__ == "__main__":
    main()
