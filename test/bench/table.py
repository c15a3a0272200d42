# SPDX-License-Identifier: BSD-3-Clause
"""Collects what the programs print, and makes the table and the CSV of it.

A cell is (subject, size, metric); it holds one sample for each run of each
implementation. Shown are medians over the runs. Quotients to the raw limit
come from the programs, which take both in the same milliseconds.
"""

import csv
import dataclasses
import statistics

COLUMNS = ["subject", "size", "impl", "metric", "unit", "median", "min", "raw", "ratio_raw",
           "ratio_best_peer"]


@dataclasses.dataclass
class Sample:
    median: float
    best: float
    raw: float = None
    ratio: float = None


@dataclasses.dataclass
class Cell:
    unit: str
    kind: str              # "time": less is better; "rate": more is better
    role: str              # "mpi", or "raw" for a limit
    samples: dict = dataclasses.field(default_factory=dict)   # by implementation
    outcome: dict = dataclasses.field(default_factory=dict)   # "timeout", "failed"

    def median(self, name):
        return statistics.median(s.median for s in self.samples[name])

    def best(self, name):
        choose = min if self.kind == "time" else max
        return choose(s.best for s in self.samples[name])

    def middle(self, name, what):
        values = [getattr(s, what) for s in self.samples[name]]
        values = [v for v in values if v is not None]
        return statistics.median(values) if values else None

    def quicker(self, name, other):
        """How many times as fast name is as other."""
        mine, theirs = self.median(name), self.median(other)
        if self.kind == "rate":
            mine, theirs = theirs, mine
        return theirs / mine if mine else None


class Results:
    def __init__(self, peers):
        self.cells = {}
        self.peers = peers     # names whose better one is "the better peer"
        self.notes = []

    def add(self, subject, impl, fields):
        """One line of a program, split at its commas, without the leading word."""
        role, size, metric, unit, kind, median, best, raw, ratio = fields
        cell = self.cells.setdefault((subject, size, metric), Cell(unit, kind, role))
        name = "raw" if role == "raw" else impl
        cell.samples.setdefault(name, []).append(
            Sample(float(median), float(best), float(raw) if raw else None,
                   float(ratio) if ratio else None))

    def add_value(self, subject, impl, size, metric, unit, value):
        self.add(subject, impl, ["mpi", size, metric, unit, "time", value, value, "", ""])

    def missing(self, subject, impl, outcome, sizes_like):
        """What impl did not answer in cells that others did."""
        for (name, size, _), cell in self.cells.items():
            if name == subject and size.startswith(sizes_like) and cell.role == "mpi" \
                    and impl not in cell.samples:
                cell.outcome[impl] = outcome

    def better_peer(self, cell):
        there = [p for p in self.peers if p in cell.samples]
        if not there:
            return None
        choose = min if cell.kind == "time" else max
        return choose(there, key=cell.median)

    def write_csv(self, path):
        with open(path, "w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow(COLUMNS)
            for (subject, size, metric), cell in self.cells.items():
                peer = self.better_peer(cell)
                for name in cell.samples:
                    median = cell.median(name)
                    to_peer = median / cell.median(peer) if peer and cell.median(peer) else None
                    out.writerow([subject, size, name, metric, cell.unit, number(median),
                                  number(cell.best(name)), number(cell.middle(name, "raw")),
                                  number(cell.middle(name, "ratio")),
                                  "" if name == "raw" else number(to_peer)])
                for name, outcome in cell.outcome.items():
                    out.writerow([subject, size, name, metric, cell.unit, outcome] + [""] * 4)

    def show(self, names):
        for subject in dict.fromkeys(key[0] for key in self.cells):
            self.show_subject(subject, names)
        for note in self.notes:
            print("note:", note)

    def show_subject(self, subject, names):
        cells = {k: c for k, c in self.cells.items() if k[0] == subject}
        names = [n for n in names
                 if any(n in c.samples or n in c.outcome for c in cells.values())]
        ours = names[0] if names and names[0] == "ours" else None
        head = ["size", "metric", "unit", *names, "raw"]
        if ours:
            head += ["ours/raw", "x peer"]
            head += ["x nocma"] if "openmpi-nocma" in names else []
        else:
            head += [n + "/raw" for n in names]
        rows = [self.row(key, cell, names, ours) for key, cell in cells.items()]
        head, rows = without_empty(head, rows)
        print(f"\n{subject}")
        print_rows(head, rows)

    def row(self, key, cell, names, ours):
        row = [key[1], key[2], cell.unit]
        for name in names:
            row.append(number(cell.median(name)) if name in cell.samples
                       else cell.outcome.get(name, "-"))
        if cell.role == "raw":
            return row + [number(cell.median("raw"))]
        raws = [cell.middle(n, "raw") for n in names if n in cell.samples]
        raws = [r for r in raws if r is not None]
        row.append(number(statistics.median(raws)) if raws else "-")
        for name in [ours] if ours else names:
            ratio = cell.middle(name, "ratio") if name in cell.samples else None
            row.append(number(ratio) or "-")
        if ours:
            against = [self.better_peer(cell)]
            against += ["openmpi-nocma"] if "openmpi-nocma" in names else []
            for other in against:
                both = other in cell.samples and ours in cell.samples
                row.append(number(cell.quicker(ours, other)) if both else "-")
        return row


def number(value):
    """Four significant digits without an exponent; "" for nothing."""
    if value is None:
        return ""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.4g}" if abs(value) >= 0.001 else f"{value:.6f}"


def without_empty(head, rows):
    """Drop the columns that say nothing in any row."""
    width = len(head)
    rows = [r + ["-"] * (width - len(r)) for r in rows]
    kept = [i for i in range(width) if any(r[i] != "-" for r in rows)]
    return [head[i] for i in kept], [[r[i] for i in kept] for r in rows]


def print_rows(head, rows):
    rows = [head] + rows
    widths = [max(len(str(r[i])) for r in rows) for i in range(len(head))]
    for index, row in enumerate(rows):
        cells = [str(c).ljust(w) if i in (1, 2) else str(c).rjust(w)
                 for i, (c, w) in enumerate(zip(row, widths))]
        print("  " + "  ".join(cells).rstrip())
        if index == 0:
            print("  " + "  ".join("-" * w for w in widths))
