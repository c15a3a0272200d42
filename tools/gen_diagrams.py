#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draw the diagrams of doc/architecture.md: states of a connection, and a first message.

usage: gen_diagrams.py [--check] [SOURCE]

Writes doc/connection-states.svg from the table vc_next of mpid/conn/vc.c with Graphviz's dot, and
doc/first-message.svg from doc/first-message.msc with mscgen. With --check, which needs neither
program, it fails where the states drawn are not those of the table.
"""
import html
import pathlib
import re
import subprocess
import sys

ROW = re.compile(r"\[VC_(\w+)\] =\s*\{([^}]*)\}")


def transitions(root):
    """Return {(state, next state): [events]} of vc_next, without those that change nothing."""
    text = (root / "mpid/conn/vc.c").read_text()
    body = re.search(r"vc_next\[VC_STATES\]\[VC_EVENTS\] = \{(.*?)\n\};", text, re.S).group(1)
    head = re.search(r"/\*(.*?)\*/", body, re.S).group(1)
    events = re.findall(r"[A-Z]\w*", head)
    edges = {}
    for state, cells in ROW.findall(body):
        for event, cell in zip(events, re.findall(r"\w+", cells), strict=True):
            after = cell.removeprefix("VC_")
            if after not in ("NONE", state):
                edges.setdefault((state, after), []).append(event)
    return edges


def draw_states(edges):
    lines = ["digraph states {", 'node [shape=box, style=rounded, fontname="sans-serif"];',
             'edge [fontname="sans-serif", fontsize=10];']
    for (before, after), events in edges.items():
        label = "\\n".join(events)
        lines.append(f'{before} -> {after} [label="{label}"];')
    return subprocess.run(["dot", "-Tsvg"], input="\n".join([*lines, "}"]), text=True,
                          check=True, capture_output=True).stdout


def drawn(svg):
    """The edges of a picture that dot has made."""
    return {tuple(html.unescape(title).split("->"))
            for title in re.findall(r"<title>([^<]*&gt;[^<]*)</title>", svg)}


def main(root, check):
    edges = transitions(root)
    states = root / "doc/connection-states.svg"
    if check:
        if not edges or drawn(states.read_text()) != set(edges):
            print("doc/connection-states.svg is not as vc_next has it: run tools/gen_diagrams.py")
            return 1
        return 0
    states.write_text(draw_states(edges))
    subprocess.run(["mscgen", "-T", "svg", "-i", root / "doc/first-message.msc", "-o",
                    root / "doc/first-message.svg"], check=True)
    return 0


if __name__ == "__main__":
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    sys.exit(main(pathlib.Path(arguments[0] if arguments else "."), "--check" in sys.argv))
