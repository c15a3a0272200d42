#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mpiexec --debugger gdb opens a gdb for each rank in a window of tmux.

usage: debugger_windows.py MPIEXEC WORK

Status 77 where there is no tmux, or gdb may not trace.
"""
import os
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


def main():
    mpiexec, work = map(os.path.abspath, sys.argv[1:3])
    need_tmux()
    probe = subprocess.run(["gdb", "-nx", "-batch", "-ex", "starti", "true"], timeout=LIMIT_S,
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False) \
        if shutil.which("gdb") else None
    if not probe or "Program stopped" not in probe.stdout + probe.stderr:
        print("left out: there is no gdb, or it may not trace here")
        sys.exit(NOT_HERE)
    with tempfile.TemporaryDirectory(prefix="vireo-dbg-") as folder:
        os.chdir(folder)
        window = Window(folder)
        try:
            window.type(f"clear; {mpiexec} --debugger gdb -n {RANKS} {work} init hello finalize >out")
            for rank in range(RANKS):
                window.shows("(gdb)", window=f"rank {rank}")
                window.type("set pagination off", window=f"rank {rank}")
                window.type("bt", window=f"rank {rank}")
                window.shows(lambda line: "PMPI_Init" in line, window=f"rank {rank}")
                print(f"ok: rank {rank} waits in MPI_Init, in a gdb of its own", flush=True)
            same("nothing was said before", os.path.getsize("out"), 0)
            for rank in range(RANKS):
                window.type("continue", window=f"rank {rank}")
            for rank in range(RANKS):
                window.shows(lambda line: "exited normally" in line, window=f"rank {rank}")
            window.shows("outer:")
            with open("out", encoding="ascii") as file:
                same("the ranks go on when gdb says so", sorted(file.read().splitlines()),
                     [f"rank {rank} of {RANKS}" for rank in range(RANKS)])
        finally:
            window.end()
        refused("without tmux and a display it is refused", mpiexec, ["--debugger", "gdb"],
                "run mpiexec in tmux", TMUX="", DISPLAY="")
        refused("so is another debugger", mpiexec, ["--debugger", "ddt"], "not 'ddt'")
        refused("and another host", mpiexec,
                ["--launcher-cmd", "false %h", "-host", "localhost:1,elsewhere:1", "--debugger", "gdb"],
                "of this host alone; on several hosts say --stop-in-init")


main()
