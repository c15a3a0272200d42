#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""gdb takes hold of a job of eight ranks on two hosts by MPIR, and attaches to each rank.

usage: test/hosts/run 2 -- test_debugger.py MPIEXEC WORK

mpiexec runs under gdb, once whole and once stripped. Where it stops, a second gdb attaches to each
process of MPIR_proctable, on the host that is named there. Status 77 where gdb may not trace.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

NOT_HERE = 77
RANKS = 8
LIMIT_S = 120
TABLE = f"""set debuginfod enabled off
set confirm off
starti
set {{int}}&MPIR_being_debugged = 1
break MPIR_Breakpoint
continue
printf "state %d\\n", {{int}}&MPIR_debug_state
printf "size %d\\n", {{int}}&MPIR_proctable_size
set $row = {{char *}}&MPIR_proctable
set $left = {RANKS}
while $left > 0
  printf "row %s %d %s\\n", {{char *}}$row, {{int}}($row + 16), {{char *}}($row + 8)
  set $row = $row + 24
  set $left = $left - 1
end
shell python3 "$SCRIPT" attach out
continue
"""


def fail(claim, text):
    sys.exit(f"not so: {claim}\n{text}")


def rows_of(text):
    return [line.split()[1:4] for line in text.splitlines() if line.startswith("row ")]


def attach(path):
    """Have a gdb attach to each process of the table, and show where it stands."""
    with open(path, encoding="utf-8", errors="replace") as file:
        rows = rows_of(file.read())
    for host, pid, _ in rows:
        until = time.monotonic() + LIMIT_S / 2
        stack = ""
        while "PMPI_Init" not in stack and time.monotonic() < until:    # it may be on its way there
            stack = subprocess.run(
                [os.environ["HOSTS_PROGRAM"], "enter", host, "gdb", "-nx", "-batch", "-ex",
                 "set debuginfod enabled off", "-p", pid, "-ex", "bt"], stdin=subprocess.DEVNULL,
                capture_output=True, text=True, timeout=LIMIT_S, check=False).stdout
        print("attached" if "PMPI_Init" in stack else stack, host, pid, flush=True)


def check(kind, launcher, work):
    with open("commands", "w", encoding="ascii") as file:
        file.write(TABLE)
    environment = {**os.environ, "SCRIPT": os.path.abspath(__file__)}
    with open("out", "w", encoding="utf-8") as out:
        subprocess.run(
            ["gdb", "-nx", "-batch", "-x", "commands", "--args", launcher, "--launcher-cmd",
             os.environ["HOSTS_PROGRAM"] + " enter %h", "-host", "h0:4,h1:4", work, "init", "hello",
             "finalize"],
            stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, timeout=LIMIT_S,
            env=environment, check=False)
    with open("out", encoding="utf-8", errors="replace") as file:
        text = file.read()
    rows = rows_of(text)
    if "state 1\n" not in text or f"size {RANKS}\n" not in text:
        fail(f"{kind}: gdb stops where all ranks are there", text)
    if [host for host, _, _ in rows] != ["h0"] * 4 + ["h1"] * 4:
        fail(f"{kind}: the table names their hosts", text)
    if len({(host, pid) for host, pid, _ in rows}) != RANKS or "0" in [pid for _, pid, _ in rows]:
        fail(f"{kind}: and their processes", text)
    said = f" of {RANKS}\n"
    if said in text.split("attached ")[0]:
        fail(f"{kind}: ranks wait in MPI_Init", text)
    if text.count("attached ") != RANKS:
        fail(f"{kind}: gdb attaches to each rank, which is in MPI_Init", text)
    if "exited normally" not in text or text.count(said) != RANKS:
        fail(f"{kind}: the job goes on, and ends well", text)
    print(f"ok: {kind}: gdb attaches to {RANKS} ranks on 2 hosts, and they go on", flush=True)


def main():
    launcher, work = map(os.path.abspath, sys.argv[1:3])
    if not shutil.which("gdb"):
        print("left out: there is no gdb")
        sys.exit(NOT_HERE)
    probe = subprocess.run(["gdb", "-nx", "-batch", "-ex", "starti", "true"], timeout=LIMIT_S,
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if "Program stopped" not in probe.stdout + probe.stderr:
        print("left out: gdb may not trace here")
        sys.exit(NOT_HERE)
    # Other hosts of test/hosts have a /tmp of their own. mpiexec finds its daemon beside it.
    place = os.path.dirname(launcher)
    with tempfile.TemporaryDirectory(dir=place) as folder:
        os.chdir(folder)
        check("whole", launcher, work)
        subprocess.run(["strip", "-o", "mpiexec", launcher], check=True, timeout=LIMIT_S)
        os.symlink(os.path.join(place, "vireod"), "vireod")
        check("stripped", os.path.abspath("mpiexec"), work)


if sys.argv[1] == "attach":
    attach(sys.argv[2])
else:
    main()
