#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The trace of the heat example is in Chrome's trace event format, and tools/draw_trace.py draws it.

usage: heat_trace.py MPIEXEC HEAT PLATE DRAW

trace_event.schema.json, beside this file, is the format. Status 77 where there is no jsonschema.
"""
import copy
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as tree

try:
    import jsonschema
except ImportError:
    print("left out: there is no jsonschema for Python")
    sys.exit(77)

RANKS = 4
SVG = "{http://www.w3.org/2000/svg}"


def same(claim, got, wanted):
    if got != wanted:
        sys.exit(f"not so: {claim}\ngot:    {got!r}\nwanted: {wanted!r}")
    print("ok:", claim, flush=True)


def check_schema(trace):
    schema = json.loads(pathlib.Path(__file__).with_name("trace_event.schema.json").read_text("utf-8"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    wrong = [(list(e.absolute_path), e.message) for e in validator.iter_errors(trace)]
    same(f"all {len(trace['traceEvents'])} events are as the format says", wrong[:5], [])
    first = {event["ph"]: event for event in trace["traceEvents"]}
    same("spans, arrows and names of processes are there", sorted(first), ["M", "X", "f", "s"])

    places = {event.get("args", {}).get("at", "") for event in trace["traceEvents"]
              if event.get("name") == "MPI_Allreduce"}
    same("a call has its place in the program",
         [p for p in places if not re.fullmatch(r"heat\.c:\d+|heat\+0x[0-9a-f]+", p)], [])

    # The schema tells what is wrong.
    changes = {"an unknown kind": ("X", "ph", "Z"), "a length below 0": ("X", "dur", -1.0),
               "a time that is text": ("X", "ts", "1"), "no process": ("s", "pid", None),
               "no id": ("f", "id", None), "another binding point": ("f", "bp", "x"),
               "an unknown name": ("M", "name", "host"), "another member": ("X", "durr", 1)}
    for claim, (kind, member, value) in changes.items():
        event = copy.deepcopy(first[kind])
        if value is None:
            del event[member]
        else:
            event[member] = value
        same(f"{claim} is found", validator.is_valid({"traceEvents": [event]}), False)


def check_picture(trace, draw):
    begin = sorted(e["ts"] for e in trace["traceEvents"] if e.get("name") == "MPI_Allreduce"
                   and e["pid"] == 0)[2] - 20
    done = subprocess.run([sys.executable, draw, "heat.json", "--begin", "MPI_Allreduce:3", "--length",
                           "5"], capture_output=True, text=True, timeout=100, check=True)
    picture = tree.fromstring(done.stdout)
    texts = [text.text for text in picture.iter(SVG + "text")]
    same("the picture has a lane for each rank", [t for t in texts if t.startswith("rank ")],
         [f"rank {r}" for r in range(RANKS)])
    ends = {}
    for event in trace["traceEvents"]:
        if event["ph"] in "sf":
            ends.setdefault(event["id"], {})[event["ph"]] = event["ts"]
    within = sum(pair["s"] >= begin and pair["f"] <= begin + 5000 for pair in ends.values())
    arrows = [line for line in picture.iter(SVG + "line") if line.get("marker-end")]
    same("and an arrow for each message", (len(arrows), within > 0), (within, True))
    titles = [title.text for title in picture.iter(SVG + "title")]
    spans = sum(e["ph"] == "X" and e["ts"] < begin + 5000 and e["ts"] + e["dur"] > begin
                for e in trace["traceEvents"])
    same("and a span for each call", (len(titles), any("MPI_Allreduce of rank 0" in t for t in titles)),
         (spans, True))


def main():
    mpiexec, heat, plate, draw = map(os.path.abspath, sys.argv[1:5])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([mpiexec, "--timeout", "200", "--trace", "heat.json", "-n", str(RANKS), heat,
                        plate, "heat.png"], stdout=subprocess.DEVNULL, timeout=250, check=True)
        with open("heat.json", encoding="utf-8") as file:
            trace = json.load(file)
        check_schema(trace)
        check_picture(trace, draw)


main()
