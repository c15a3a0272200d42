#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What mpiexec --progress shows while five hosts are being started.

usage: test/hosts/run 5 -- test_progress.py MPIEXEC
"""
import os
import pty
import re
import subprocess
import sys

LIMIT_S = 100
# Host h3 comes 0.9 s after h0, and so on: each step is seen by itself.
LAUNCHER = "sh -c 'h=%h; sleep 0.${h#h}; sleep 0.${h#h}; sleep 0.${h#h}; exec $HOSTS_PROGRAM enter %h \"$@\"' sh"
WORDS = [sys.argv[1], "--launcher-cmd", LAUNCHER, "-host", "h0,h1,h2,h3,h4"]


def same(claim, got, wanted):
    if got != wanted:
        sys.exit(f"not so: {claim}\ngot:    {got!r}\nwanted: {wanted!r}")
    print("ok:", claim, flush=True)


def run(*words):
    """Run mpiexec with stderr on a terminal. Returns its status, stdout and what the terminal got."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([*WORDS, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=theirs) as job:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:
            pass                # the other side is closed
        os.close(ours)
        text = job.stdout.read().decode()
        return job.wait(LIMIT_S), text, shown.decode()


def left_of(shown):
    """The lines that stand on the terminal in the end."""
    lines = []
    for line in shown.replace("\r\n", "\n").split("\n"):
        cells = ""
        for part in line.split("\r"):
            cells = part + cells[len(part):]
        lines.append(cells.rstrip())
    return [line for line in lines if line]


def main():
    code, text, shown = run("--progress", "-n", "5", "echo", "here")
    same("the job runs", (code, text), (0, "here\n" * 5))
    steps = [int(n) for n in re.findall(r"\r(\d) of 5 hosts", shown)]
    same("the hosts are counted, from the one that is there", (steps[0], steps == sorted(set(steps)),
                                                               len(steps) > 1), (1, True, True))
    same("nothing is left of it", left_of(shown), [])
    same("without --progress nothing is shown", run("-n", "5", "true"), (0, "", ""))
    done = subprocess.run([*WORDS, "--progress", "-n", "5", "true"], capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=LIMIT_S, check=False)
    same("without a terminal neither", (done.returncode, done.stderr), (0, b""))
    WORDS[-1] += ",h7"
    code, text, shown = run("--progress", "-n", "6", "echo", "here")
    same("a host that is not there ends the job", code != 0, True)
    lines = left_of(shown)
    same("what mpiexec says has lines of its own",
         [bool(lines), [l for l in lines if "of 6 hosts" in l]], [True, []])


main()
