#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run profile_work with --trace and --summary, and check the files that it makes.

usage: profile_check.py MPIEXEC PROGRAM RANKS [OPTION...]

The trace must be what Chrome's format asks for: JSON; every event with what its kind needs; spans of
a thread within each other or apart; each arrow with one begin and one end, the end not before the
begin, both within a span, from the sender to the receiver that the program has.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

ROUNDS = 5
WAYS = 9                # messages of a rank each round, all to the next rank
SLACK_US = 0.002        # times are rounded to a thousandth


def run(mpiexec, ranks, options, program, arguments=(str(ROUNDS),)):
    done = subprocess.run([mpiexec, "--timeout", "50", *options, "-n", str(ranks), program, *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                          timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stderr


def check_spans(spans):
    """Spans of one thread are one after the other, or one within the other."""
    open_ends = []
    for event in sorted(spans, key=lambda e: (e["ts"], -e["dur"])):
        begin, end = event["ts"], event["ts"] + event["dur"]
        assert event["dur"] >= 0 and event["ts"] >= 0, event
        while open_ends and open_ends[-1] <= begin + SLACK_US:
            open_ends.pop()
        assert not open_ends or end <= open_ends[-1] + SLACK_US, event
        open_ends.append(end)


def check_parts(mpiexec, ranks, options, program):
    """A job that does not end well leaves all that was recorded, and the calls that were open."""
    for ending, code in (("hang", 124), ("die", 137)):
        done = subprocess.run([mpiexec, "--timeout", "2", *options, "--trace", "bad.json", "-n", str(ranks), program,
                               ending], capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done.stderr
        for rank in range(ranks):
            name = f"bad.json.{rank}.part"
            with open(name, encoding="utf-8") as file:
                events = json.loads(file.read().rstrip().rstrip(",") + "]")
            names = collections.Counter(e["name"] for e in events if e["ph"] == "X")
            assert names["MPI_Init"] == 1 and names["MPI_Bcast"] == 700, (ending, rank, names)
            still_open = [(e["name"], e["tid"]) for e in events if e["ph"] == "B"]
            is_dead = ending == "die" and rank == ranks - 1
            assert still_open == ([] if is_dead else [("MPI_Recv", 1)]), (ending, rank, still_open)
            os.unlink(name)
    assert not os.path.exists("bad.json")


def within_a_span(flow, spans):
    return any(s["ts"] - SLACK_US <= flow["ts"] <= s["ts"] + s["dur"] + SLACK_US for s in spans)


def check_trace(trace, ranks):
    spans, flows, names = collections.defaultdict(list), collections.defaultdict(list), {}
    for event in trace["traceEvents"]:
        kind, pid = event["ph"], event["pid"]
        assert isinstance(pid, int) and 0 <= pid < ranks, event
        if kind == "M":
            names[pid] = event["args"]["name"]
        elif kind == "X":
            assert event["name"].startswith("MPI_") and event["cat"], event
            spans[pid, event["tid"]].append(event)
        else:
            assert kind in "sf" and event["name"] and event["cat"], event
            flows[event["id"]].append(event)
    assert sorted(names) == list(range(ranks)), names
    for events in spans.values():
        check_spans(events)
    for identity, ends in flows.items():
        assert sorted(e["ph"] for e in ends) == ["f", "s"], (identity, ends)
        begin, end = sorted(ends, key=lambda e: e["ph"], reverse=True)
        assert end["pid"] == (begin["pid"] + 1) % ranks, ends
        assert end["bp"] == "e" and end["ts"] >= begin["ts"] - SLACK_US, ends
        for event in ends:
            assert within_a_span(event, spans[event["pid"], event["tid"]]), event
    assert len(flows) == ranks * ROUNDS * WAYS, len(flows)
    for rank in range(ranks):
        count = collections.Counter(e["name"] for e in spans[rank, 1])
        assert count["MPI_Allreduce"] == count["MPI_Barrier"] == ROUNDS, count
        assert count["MPI_Init"] == count["MPI_Finalize"] == 1, count


def check_windows(mpiexec, ranks, options, program):
    """A trace has the target and bytes of each operation, and each epoch around its operations."""
    run(mpiexec, ranks, [*options, "--trace", "windows.json"], program, ["windows"])
    with open("windows.json", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    os.unlink("windows.json")
    for rank in range(ranks):
        mine, to = [e for e in events if e["pid"] == rank], (rank + 1) % ranks
        spans = {e["name"]: e for e in mine if e["ph"] == "X"}
        begins = {e["id"]: e for e in mine if e["ph"] == "b"}
        epochs = {begins[e["id"]]["name"]: (begins[e["id"]], e) for e in mine if e["ph"] == "e"}
        assert sorted(epochs) == ["exposure", "fence", "lock", "lock all", "start"], epochs
        assert len(begins) == len(epochs), begins
        assert epochs["lock"][0]["args"] == {"target": to}, epochs["lock"]
        for name, epoch, target, size in (("MPI_Put", "fence", to, 16), ("MPI_Get", "start", rank, 12),
                                          ("MPI_Rput", "lock", to, 8),
                                          ("MPI_Fetch_and_op", "lock all", to, 4)):
            span, (begin, end) = spans[name], epochs[epoch]
            assert span["cat"] == "window" and span["args"].items() >= {"target": target, "bytes": size}.items(), span
            assert begin["ts"] - SLACK_US <= span["ts"], (begin, span)
            assert span["ts"] + span["dur"] <= end["ts"] + SLACK_US, (span, end)
        assert spans["MPI_Win_unlock_all"]["cat"] == "window", spans


def check_summary(summary, text, ranks):
    assert summary["format"] == "vireo-summary-1" and summary["size"] == ranks
    assert [r["rank"] for r in summary["ranks"]] == list(range(ranks))
    for line in summary["ranks"]:
        assert line["messages_sent"] >= ROUNDS * WAYS and line["bytes_sent"] >= 4 * ROUNDS * WAYS, line
        assert line["messages_received"] >= ROUNDS * WAYS, line
        assert 0 < line["mpi_s"] <= line["elapsed_s"] and line["wait_s"] >= 0, line
        assert abs(sum(line["mpi_by_kind_s"].values()) - line["mpi_s"]) < 1e-6, line
        assert abs(line["compute_s"] + line["mpi_s"] - line["elapsed_s"]) < 1e-6, line
    mean = sum(line["compute_s"] for line in summary["ranks"]) / ranks
    worst = max(line["compute_s"] for line in summary["ranks"])
    assert abs(summary["imbalance"] - (worst / mean - 1)) < 1e-3, summary
    # The last rank sleeps 10 ms a round outside of MPI.
    assert summary["ranks"][ranks - 1]["compute_s"] >= 0.01 * ROUNDS, summary
    assert f"Summary: {ranks} rank" in text and "imbalance: rank " in text, text
    lines = [line.split() for line in text.splitlines()]
    assert [int(w[0]) for w in lines if len(w) > 5 and w[0].isdigit()] == list(range(ranks)), text


def check_own_share(mpiexec, ranks, options, program):
    """What the profile itself sends is not counted, its calls are not the program's, and it needs no
    MPI_COMM_WORLD."""
    for own in [], ["--trace", "quiet.json"]:
        if ranks > 1:
            run(mpiexec, ranks, [*options, "--summary=quiet", *own], program, ["quiet"])
            with open("quiet", encoding="utf-8") as file:
                lines = json.load(file)["ranks"]
            assert [line["messages_sent"] for line in lines] == [0, 1] + [0] * (ranks - 2), lines
            assert [line["messages_received"] for line in lines] == [1] + [0] * (ranks - 1), lines
    for own in "--trace=sessions.json", "--summary":
        run(mpiexec, ranks, [*options, own], program, ["sessions"])
    done = subprocess.run([mpiexec, "--timeout", "50", *options, "--trace", "wrong.json", "-n", str(ranks),
                           program, "wrong"], stderr=subprocess.PIPE, text=True, check=False, timeout=100)
    assert done.returncode not in (0, 124), done.stderr
    assert "77" in done.stderr and "MPI_Send" in done.stderr, done.stderr
    assert "libvireo-profile" not in done.stderr, done.stderr
    assert re.search(r"called at (mpi_)?profile_work(\.c:\d|\+0x)", done.stderr), done.stderr


def check_missing(mpiexec, options, program):
    """A process that the loader gives no library, as on another machine, ends the job."""
    done = subprocess.run([mpiexec, "--timeout", "50", *options, "--summary", "-n", "1", program, "quiet", ":", "-n", "1",
                           "sh", "-c", f"LD_PRELOAD=/nowhere/libvireo-profile.so exec {program} quiet"],
                          capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode not in (0, 124), done
    assert "need /nowhere/libvireo-profile.so in all processes" in done.stderr, done.stderr


def main():
    mpiexec, program = map(os.path.abspath, sys.argv[1:3])
    ranks, options = int(sys.argv[3]), sys.argv[4:]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        text = run(mpiexec, ranks, [*options, "--trace", "trace.json", "--summary=summary.json"], program)
        with open("trace.json", encoding="utf-8") as file:
            check_trace(json.load(file), ranks)
        with open("summary.json", encoding="utf-8") as file:
            check_summary(json.load(file), text, ranks)
        assert sorted(os.listdir(".")) == ["summary.json", "trace.json"], os.listdir(".")
        assert "Summary" in run(mpiexec, ranks, [*options, "--set", "summary=1"], program)
        assert run(mpiexec, ranks, options, program) == ""
        # A file that cannot be is told before anything starts.
        for option in ("--trace=no/such/folder/t", "--summary=no/such/folder/t"):
            done = subprocess.run([mpiexec, "-n", str(ranks), *options, option, "touch", "started"],
                                  capture_output=True, text=True, timeout=60)
            assert done.returncode == 1 and not os.path.exists("started"), done
            assert "no/such/folder/t': No such file" in done.stderr, done.stderr
            assert done.stderr.count("\n") == 1, done.stderr
        check_parts(mpiexec, ranks, options, program)
        check_windows(mpiexec, ranks, options, program)
        assert sorted(os.listdir(".")) == ["summary.json", "trace.json"], os.listdir(".")
        check_own_share(mpiexec, ranks, options, program)
        check_missing(mpiexec, options, program)
    print("ok")


if __name__ == "__main__":
    main()
