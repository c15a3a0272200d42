#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec --debugger opens a gdb or an lldb for each rank, in a window of tmux or an xterm.

usage: debugger_windows.py MPIEXEC WORK [--over OPTIONS]

OPTIONS place the ranks on several hosts. Xterms are shown by Xvfb. Status 77 where there is no tmux, or gdb may not trace.
"""
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

from window import LIMIT_S, NOT_HERE, Window, need_tmux, same

RANKS = 2


def refused(claim, mpiexec, words, part, **environment):
    done = subprocess.run([mpiexec, *words, "-n", "2", "true"], env={**os.environ, **environment},
                          capture_output=True, text=True, timeout=LIMIT_S, check=False)
    same(claim, (done.returncode != 0, part in done.stderr), (True, True))


def in_tmux(window, mpiexec, work, over, name):
    """Each rank has a debugger in a window of tmux; they go on when it says so."""
    stopped, over_text = {"gdb": ("(gdb)", "exited normally"),
                          "lldb": ("(lldb)", "exited with status = 0")}[name]
    window.type(f"clear; {mpiexec} {over} --debugger {name} -n {RANKS} {work} init hello finalize >out")
    for rank in range(RANKS):
        window.shows(lambda line: line.rstrip() == stopped, window=f"rank {rank}")
        if name == "gdb":
            window.type("set pagination off", window=f"rank {rank}")
        window.type("bt", window=f"rank {rank}")
        window.shows(lambda line: "PMPI_Init" in line, window=f"rank {rank}")
        print(f"ok: rank {rank} waits in MPI_Init, in a {name} of its own", flush=True)
    same("nothing was said before", os.path.getsize("out"), 0)
    for rank in range(RANKS):
        window.type("continue", window=f"rank {rank}")
    for rank in range(RANKS):
        window.shows(lambda line: over_text in line, window=f"rank {rank}")
    for rank in range(RANKS):
        window.type("quit", window=f"rank {rank}")
    window.shows("outer:")
    with open("out", encoding="ascii") as file:
        same(f"the ranks go on when {name} says so", sorted(file.read().splitlines()),
             [f"rank {rank} of {RANKS}" for rank in range(RANKS)])


def in_xterm(mpiexec, work, over):
    """What stands for gdb tells that it is in an xterm, and lets its rank go on at once."""
    if not shutil.which("xterm") or not shutil.which("Xvfb"):
        print("left out: there is no xterm, or no Xvfb")
        return
    os.mkdir("bin")
    with open("bin/gdb", "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\necho \"$XTERM_VERSION $(tty)\" >xterm.$2\n"
                   f"exec {shutil.which('gdb')} -nx -batch \"$@\" -ex bt -ex continue\n")
    os.chmod("bin/gdb", 0o755)
    shown, show = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(show), "-nolisten", "tcp", "-screen", "0",
                               "640x480x8"], pass_fds=[show], stderr=subprocess.DEVNULL)
    os.close(show)
    try:
        display = os.read(shown, 64).decode().strip()
        done = subprocess.run([mpiexec, *shlex.split(over), "--debugger", "gdb", "-n", str(RANKS),
                               work, "init", "hello", "finalize"], capture_output=True, text=True,
                              env={**os.environ, "DISPLAY": ":" + display, "TMUX": "",
                                   "PATH": os.path.abspath("bin") + ":" + os.environ["PATH"]},
                              stdin=subprocess.DEVNULL, timeout=2 * LIMIT_S, check=False)
        same("ranks go on where gdb runs in an xterm", sorted(done.stdout.splitlines()),
             [f"rank {rank} of {RANKS}" for rank in range(RANKS)])
        told = [open(name, encoding="ascii").read().split() for name in os.listdir()
                if name.startswith("xterm.")]
        same("each rank has one of its own", len({tuple(words) for words in told}), RANKS)
        same("that is an xterm, and a terminal", {(words[0][:5], words[1][:5]) for words in told},
             {("XTerm", "/dev/")})
    finally:
        server.terminate()
        server.wait(LIMIT_S)


def main():
    mpiexec, work = map(os.path.abspath, sys.argv[1:3])
    over = sys.argv[4] if len(sys.argv) > 4 else ""
    need_tmux()
    probe = subprocess.run(["gdb", "-nx", "-batch", "-ex", "starti", "true"], timeout=LIMIT_S,
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False) \
        if shutil.which("gdb") else None
    if not probe or "Program stopped" not in probe.stdout + probe.stderr:
        print("left out: there is no gdb, or it may not trace here")
        sys.exit(NOT_HERE)
    with tempfile.TemporaryDirectory(
            prefix="vireo-dbg-", dir=os.path.dirname(mpiexec) if over else None) as folder:
        os.chdir(folder)
        window = Window(folder)
        try:
            in_tmux(window, mpiexec, work, over, "gdb")
            if shutil.which("lldb"):
                in_tmux(window, mpiexec, work, over, "lldb")
        finally:
            window.end()
        if not over:
            in_xterm(mpiexec, work, over)
        refused("without tmux and a display it is refused", mpiexec, ["--debugger", "gdb"],
                "run mpiexec in tmux", TMUX="", DISPLAY="")
        refused("so is another debugger", mpiexec, ["--debugger", "ddt"], "not 'ddt'")


main()
