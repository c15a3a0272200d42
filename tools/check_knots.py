#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail where more files, or folders, need each other in a circle than before.

usage: check_knots.py BUILD [-v]    -v: all figures, and of each knot the arrows that hold it together

A file needs another if its object has a symbol undefined that the other one's object defines. A knot
is a set of files each of which needs every other, by some way. Counted are the files of the largest
knot within each folder, those of the largest one of all mpid/ and of all mpi/, and the folders of each
layer that need each other. CEILINGS has today's numbers, which may only be lowered; GOALS has what they are to be.

Of a knot that is too large it prints a small set of arrows without which there is no knot, each with the
symbols that make it: move these functions to where they belong, or have the user registered from above.
"""
import collections
import json
import pathlib
import shutil
import subprocess
import sys

LAYERS = ("os", "channels", "bnr", "mpid", "mpi", "diagnose", "profile", "romio", "queues")
# Of folders that are not named here no two files need each other.
CEILINGS = {"bnr/client": 2, "bnr/options": 2, "bnr/run": 4, "channels/ofi": 4, "channels/shm": 2,
            "channels/tcp": 4, "diagnose": 3, "mpi/*": 4, "mpi/coll": 4,
            "mpi/comm": 2, "mpi/make": 3, "mpi/tool": 3, "mpi/type": 3, "mpid/*": 4, "mpid/conn": 4,
            "mpid/message": 3, "mpid/peers": 2, "profile": 4, "romio": 11}
ACROSS = {}
SLACK = 1 # so much larger is let through, for changes that were on their way when this check began
GOALS = "within a folder of mpid/ and bnr/: 4; of all mpi/: 14; folders: none"


def objects(build):
    """Yield (source, object) of the product's files that have been compiled."""
    commands = json.loads((build / "compile_commands.json").read_text())
    for command in commands:
        source = (build / command["file"]).resolve()
        if not source.is_relative_to(build.parent):
            continue
        path = source.relative_to(build.parent)
        output = build / command["output"]
        if path.parts[0] in LAYERS and not command["output"].startswith("test/") and output.exists():
            yield path, output


def symbols(nm, files):
    """The symbols that objects define, and those that they need."""
    defined, needed = collections.defaultdict(set), collections.defaultdict(set)
    by_object = {str(o): source for source, o in files}
    done = subprocess.run([nm, "-A", "-P", *by_object], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        where, _, rest = line.partition(": ")
        name, kind = rest.split()[:2]
        source = by_object[where]
        if kind in "Uwv" and kind != "V":
            needed[source].add(name)
        elif kind.isupper() and name != "main":
            defined[name].add(source)
    return defined, needed


def knots(arrows):
    """The strongly connected parts of a graph that have more than one member, by Tarjan's search."""
    order, low, stack, found = {}, {}, [], []
    for start in sorted(arrows):
        work = [(start, iter(sorted(arrows[start])))] if start not in order else []
        while work:
            at, rest = work[-1]
            if at not in order:
                order[at] = low[at] = len(order)
                stack.append(at)
            for to in rest:
                if to not in order:
                    work.append((to, iter(sorted(arrows.get(to, ())))))
                    break
                if to in stack:
                    low[at] = min(low[at], order[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == order[at]:
                    part = stack[stack.index(at):]
                    del stack[stack.index(at):]
                    if len(part) > 1:
                        found.append(sorted(part))
    return sorted(found, key=len, reverse=True)


def back(arrows, order):
    """The arrows that run against an order."""
    place = {a: i for i, a in enumerate(order)}
    return [(a, b) for a in order for b in sorted(arrows[a]) if place.get(b, -1) > place[a]]


def holding(arrows, part):
    """Few arrows that hold a knot together: those that run up in an order of its files, which is made
    better by moving one file at a time, while that helps."""
    arrows = {a: arrows[a] & set(part) for a in part}
    order = sorted(part, key=lambda a: (len(arrows[a]) - sum(a in to for to in arrows.values()), a))
    better = True
    while better:
        better = False
        for a in sorted(order):
            rest = [b for b in order if b != a]
            costs = [len(arrows[a])] # at the bottom all that it needs is above it
            for b in rest:
                costs.append(costs[-1] + (a in arrows[b]) - (b in arrows[a]))
            place = costs.index(min(costs))
            if costs[place] < costs[order.index(a)]:
                order = rest[:place] + [a] + rest[place:]
                better = True
    return back(arrows, order)


def within(arrows, holds):
    """The graph of the files that hold."""
    return {a: {b for b in to if holds(b)} for a, to in arrows.items() if holds(a)}


def folder(path):
    return str(path.parent)


def explain(arrows, part, symbols_of):
    """Print the arrows that hold a knot together."""
    for a, b in holding(arrows, part):
        print(f"    {a} -> {b}: {' '.join(sorted(symbols_of[a, b]))}")


def main(build, *options):
    build = pathlib.Path(build).resolve()
    files = list(objects(build))
    defined, needed = symbols(shutil.which("gcc-nm") or "nm", files)
    arrows, symbols_of = {source: set() for source, _ in files}, collections.defaultdict(set)
    for source, names in needed.items():
        for name in names:
            for other in defined.get(name, set()) - {source}:
                arrows[source].add(other)
                symbols_of[source, other].add(name)
    folders = sorted({folder(a) for a in arrows})
    found = {f: knots(within(arrows, lambda p, f=f: folder(p) == f)) for f in folders}
    for layer in ("mpid", "mpi"):
        found[layer + "/*"] = knots(within(arrows, lambda p, layer=layer: p.parts[0] == layer))
    across = {}
    for layer in LAYERS:
        between = collections.defaultdict(set)
        for a, to in within(arrows, lambda p, layer=layer: p.parts[0] == layer).items():
            between[folder(a)] |= {folder(b) for b in to if folder(b) != folder(a)}
        across[layer] = knots(between)
    bad = 0
    for what, parts, limit in [*((f, k, CEILINGS.get(f, 0)) for f, k in found.items()),
                               *((f"folders of {f}/", k, ACROSS.get(f, 0)) for f, k in across.items())]:
        most = len(parts[0]) if parts else 0
        if most > limit + SLACK:
            bad += 1
            print(f"{what}: {most} need each other, at most {limit}: {' '.join(map(str, parts[0]))}")
        elif most < limit or "-v" in options:
            print(f"{what}: {most} need each other, at most {limit}")
        if what in found and most > (0 if "-v" in options else limit + SLACK):
            explain(arrows, parts[0], symbols_of)
    if not files:
        print(f"{build}: no object files; build first")
    print(f"{'knots: ' + str(bad) + ' are larger' if bad else 'knots ok'}: {len(arrows)} files, "
          f"{sum(map(len, arrows.values()))} arrows; the goal {GOALS}")
    return 1 if bad or not files else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
