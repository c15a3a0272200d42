#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The ofi channel between hosts, our own shared memory inside of them. usage: test_fabrics.py BUILD

Status 77 where the machine does not allow namespaces.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
NOT_ALLOWED = 77
JOB = ('timeout 80 "$BUILD"/bnr/mpiexec --launcher-cmd "$HOSTS_PROGRAM enter %h" --report '
       '-host h0:2,h1:2 -n 4 "$BUILD"/')


def check(program, *options):
    """Run a program of four ranks on two hosts, over a fabric between them."""
    name = f"{program} with {' '.join(options) or 'nothing special'}"
    begin = time.monotonic()
    done = subprocess.run([HERE / "run", *options, "2", "--", "sh", "-c", JOB + program],
                          capture_output=True, text=True, timeout=100)
    if done.returncode == NOT_ALLOWED:
        print(done.stderr)
        sys.exit(NOT_ALLOWED)
    used = {(a, b): channel for a, b, channel in
            re.findall(r"^ +(\d[-\d]*) +(\d[-\d]*|each other) +(\w+) +loopback: ",
                       done.stderr, re.M)}
    inside = {("0-1", "each other"), ("2-3", "each other"),
              ("0", "1"), ("1", "0"), ("2", "3"), ("3", "2")}
    for claim, holds in (("ends well", done.returncode == 0),
                         ("goes over ofi between hosts",
                          {used[pair] for pair in used.keys() - inside} == {"ofi"}),
                         ("and over shm inside of one",
                          {used[pair] for pair in used.keys() & inside} == {"shm"})):
        if not holds:
            sys.exit(f"not so: {name} {claim}\n{done.stdout}\n{done.stderr}")
    print(f"ok: {name} takes {time.monotonic() - begin:.1f} s", flush=True)


def main(build):
    os.environ.update(BUILD=os.path.abspath(build), VIREO_CHANNELS="ofi,shm,loopback",
                      VIREO_CHANNEL_PARAMS="ofi.provider=tcp;ofi_rxm",
                      HOSTS_PROGRAM=os.path.join(os.path.abspath(build), "test/hosts/hosts"))
    check("test/mpi/mpi_coll_movement")
    check("test/mpi/mpi_p2p_sizes")
    check("examples/ring", "--delay", "200", "--loss", "2", "--seed", "1")


main(*sys.argv[1:])
