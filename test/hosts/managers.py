#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Our programs under Debian's Hydra, by a descriptor and by a port, and under Open MPI's mpirun, on several hosts.

usage: run 5 -- managers.py WORK

WORK is test/bnr/work.c. Status 77 where neither is installed.
"""
import os
import pathlib
import shutil
import subprocess
import sys

ACTS = ("init", "hello", "channels", "ring", "barrier=3", "allreduce=3", "message=65536", "message=1048576", "colls",
        "finalize")
AS_SSH = str(pathlib.Path(__file__).resolve().parent / "as_ssh")
HYDRA = ("mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", AS_SSH)
MPIRUN = ("mpirun.openmpi", "--allow-run-as-root", "--bind-to", "none", "--mca", "plm_rsh_agent", AS_SSH)
# of a sanitizer, to its ranks on other hosts
MPIRUN += tuple(word for name in ("ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS") if name in os.environ for word in ("-x", name))
PREFIXES = ("BNR_", "OMPI_", "PMI_", "PMIX_", "VIREO_")
# Name, hosts, ranks of each, the command up to the hosts, and options behind.
WAYS = (
    *((name, hosts, each, (*HYDRA, "-hosts"), options) for name, hosts, each, options in (
        ("Hydra", 2, 1, ()), ("Hydra", 2, 2, ()), ("Hydra", 5, 1, ()), ("Hydra", 5, 2, ()),
        ("Hydra by a port", 2, 2, ("-pmi-port",)), ("Hydra by a port", 5, 2, ("-pmi-port",)))),
    *(("mpirun", hosts, each, (*MPIRUN, "-host"), ()) for hosts, each in ((2, 1), (2, 2), (5, 1), (5, 2))),
)


def claim(text, holds, *told):
    if not holds:
        raise SystemExit(f"not so: {text}" + "".join(f"\n{t}" for t in told))
    print(f"ok: {text}", flush=True)


def start(hosts, each, command, *words):
    environment = {n: v for n, v in os.environ.items() if not n.startswith(PREFIXES) or n.startswith("VIREO_TEST_")}
    listed = ",".join(f"h{i}:{each}" for i in range(hosts))
    return subprocess.run(["timeout", "-k", "5", "60", *command, listed, *words], env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)


def channels(rank, ranks, each):
    """By which each rank is reached: memory within a host, tcp between hosts."""
    return " ".join("loopback" if r == rank else "shm" if r // each == rank // each else "tcp" for r in range(ranks))


def main(work):
    found = [way for way in WAYS if shutil.which(way[3][0])]
    if not found:
        print("no manager is tried: none is there; the packages are mpich and openmpi-bin")
        sys.exit(77)
    for name, hosts, each, command, options in found:
        ranks = hosts * each
        done = start(hosts, each, command, *options, "-n", str(ranks), work, *ACTS)
        said = [f"rank {r} of {ranks}" for r in range(ranks)]
        said += [f"rank {r}: {channels(r, ranks, each)}" for r in range(ranks)]
        claim(f"{name}: {ranks} ranks on {hosts} hosts, shm inside and tcp between", done.returncode == 0 and
              sorted(done.stdout.splitlines()) == sorted(said), done.returncode, done.stdout, done.stderr)
    for name, command in {way[3][0]: way[3] for way in found}.items():
        done = start(5, 1, command, "-n", "5", work, "init", "late=1500", "finalize")
        claim(f"{name}: a rank finds out about one that has left", done.returncode == 0, done.returncode, done.stderr)
        done = start(2, 2, command, "-n", "4", work, "init", "barrier", "abort=9", "sleep=60000")
        claim(f"{name}: an abort ends all", done.returncode == 9, done.returncode, done.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
