#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of a build for another machine, run by qemu on this one; mpiexec, too, is the other machine's.

usage: under_qemu.py BUILD [-k WORD] [NAME...]

BUILD is one of `./bootstrap build MACHINE`, which has the machine's libraries in BUILD/other/root. Without NAMEs the unit
tests run, the channel suite, and MPI programs with up to four ranks. qemu's own programs stand before each of the
machine's, so that no binfmt_misc is needed. -k takes only tests whose name has the word. Its last line says N passed, N failed, N skipped.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

# e_machine of an ELF file: the program of qemu
MACHINES = {183: "qemu-aarch64", 22: "qemu-s390x", 21: "qemu-ppc64le", 243: "qemu-riscv64"}
LIMIT = 900 # seconds; qemu is ten times slower than the machine
PATIENCE = "4" # a channel test's own limits are so many times as long
AT_ONCE = 3
# These count threads, sleeps, memory or time, set limits, or read the parts of the machine: qemu's own or this one's. For
# queues and profile a script runs mpiexec. The tests of all orders (steps) run one thread at a time, so that no machine
# differs, and take qemu a quarter of an hour each.
NOT_UNDER_QEMU = re.compile(r"os-futex$|shm-many|tcp-(doors|ends)|tool_queues|p2p_asleep|io_session|^queues|^profile|"
                            r"comm_split_type n=. hosts|^win_many|^threads_herd|[-_]steps$")
RANKS = re.compile(r" n=([0-9]+) (\S+)$")


def emulator(path):
    """The program of qemu for this file, or None."""
    try:
        head = open(path, "rb").read(20)
    except OSError:
        return None
    if head[:4] != b"\x7fELF":
        return None
    return MACHINES.get(int.from_bytes(head[18:20], "little" if head[5] == 1 else "big"))


def wanted(test):
    name, suite = test["name"], test["suite"][0].partition(":")[2]
    if NOT_UNDER_QEMU.search(name):
        return False
    if suite in ("unit", "mpi_unit"):
        return True
    if suite == "channels":
        return re.match(r"conform-(loopback|shm|tcp)|tcp-|shm-", name) is not None
    ranks = RANKS.search(name)
    return suite == "mpi" and ranks is not None and 2 <= int(ranks[1]) <= 4


def run(test, build):
    words = []
    for word in test["cmd"]:
        path = build / word if "/" in word else pathlib.Path(word)
        qemu = emulator(path) if "/" in word else None
        words += [qemu, str(path)] if qemu else [word]
    environment = os.environ | test["env"] | {"QEMU_LD_PREFIX": str(build / "other/root"), "CONFORM_PATIENCE": PATIENCE}
    try:
        done = subprocess.run(["timeout", "-k", "5", str(LIMIT), *words], cwd=build, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        return 1, str(error)
    return done.returncode, done.stdout + done.stderr


def introspect(build, what):
    done = subprocess.run(["meson", "introspect", what, str(build)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def make(build, tests):
    """Build what these tests need."""
    files = {target["id"]: target["filename"] for target in introspect(build, "--targets")}
    needed = {file for test in tests for target in test["depends"] for file in files[target]}
    print("==> building what they need", flush=True)
    status = subprocess.run(["ninja", "--quiet", "-C", str(build), *(os.path.relpath(f, build) for f in sorted(needed))],
                            stdin=subprocess.DEVNULL, check=False).returncode
    if status:
        sys.exit(status)


def main(build, *options):
    build = pathlib.Path(build).resolve()
    tests = [t for t in introspect(build, "--tests") if t["suite"]]
    word = options[1] if options[:1] == ("-k",) else ""
    names = options[2:] if word else options
    tests = [t for t in tests if (t["name"] in names if names else wanted(t)) and word in t["name"]]
    make(build, tests)
    counts = {0: 0, 77: 0, 1: 0}
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for test, (status, said) in zip(tests, pool.map(lambda t: run(t, build), tests)):
            kind = status if status in (0, 77) else 1
            counts[kind] += 1
            done = sum(counts.values())
            if done * 20 // len(tests) != (done - 1) * 20 // len(tests):
                print(f"==> {done} of {len(tests)} tests, {time.monotonic() - began:.0f} s", flush=True)
            if kind == 1:
                print(f"not so: {test['name']}: status {status}\n    " + "\n    ".join(said.splitlines()[-12:]), flush=True)
    print(f"{counts[0]} passed, {counts[1]} failed, {counts[77]} skipped")
    return 1 if counts[1] or not counts[0] else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
