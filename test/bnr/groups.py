#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""BNR's groups: spawned, merged, connected, parted, killed, by ranks of our mpiexec, and of the managers that are
installed.

usage: groups.py MPIEXEC GROUPS [OPTION...]

GROUPS is test/bnr/groups.c. Each OPTION goes to mpiexec; with options other managers are not tried.
"""
import os
import shutil
import subprocess
import sys
import tempfile

LIMIT = 140 # seconds
PREFIXES = ("BNR_", "FLUX_", "HYDRA_", "JSM_", "MV2_", "OMPI_", "PALS_", "PMI_", "PMIX_", "SLURM_")
HYDRA, MPIRUN = ("mpiexec.hydra",), ("mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none")
ACTS = (("spawn", (1, 2, 3)), ("again", (2,)), ("several", (1, 3)), ("bad", (1, 2)), ("kill", (1, 2)), ("requests", (1, 3)),
        ("child-dies", (2,)), ("names", (1,)))


def environment(mpiexec, **more):
    """This process's, as if no launcher had started it; mpiexec's folder comes first in PATH."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith(PREFIXES)}
    return kept | {"PATH": os.path.dirname(mpiexec) + ":" + kept["PATH"]} | more


def start(mpiexec, words, **more):
    return subprocess.Popen(["timeout", "-k", "5", str(LIMIT), *words], env=environment(mpiexec, **more),
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            errors="replace")


def claim(text, *jobs):
    told = [(job.communicate(), job.returncode) for job in jobs]
    wrong = [(said, rc) for said, rc in told if rc or "not so" in said[1]]
    if wrong:
        raise SystemExit(f"not so: {text}\n" + "\n".join(f"exit code {rc}\n{out}{err}" for (out, err), rc in wrong))
    print(f"ok: {text}", flush=True)


def check_manager(mpiexec, groups, who, words, acts=ACTS):
    for act, counts in acts:
        for count in counts:
            claim(f"{who}: {act}, {count}", start(mpiexec, [*words, "-n", str(count), groups, act]))


def check_meeting(mpiexec, groups, who, first, second, rounds):
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.basename(folder) # one that no other test has
        claim(f"{who}: connected {rounds} times",
              start(mpiexec, [*first, groups, "accept", name, str(rounds)]),
              start(mpiexec, [*second, groups, "connect", name, str(rounds)]))


def main(mpiexec, groups, *options):
    own = [mpiexec, *options]
    check_manager(mpiexec, groups, " ".join(["mpiexec", *options]), own)
    check_meeting(mpiexec, groups, "two mpiexecs", [*own, "-n", "3"], [*own, "-n", "2"], 200)
    if options:
        return
    claim("alone: spawn", start(mpiexec, [groups, "spawn"]))
    check_meeting(mpiexec, groups, "alone, and an mpiexec", [], [*own, "-n", "2"], 5)
    for manager, package in ((HYDRA, "mpich"), (MPIRUN, "openmpi-bin")):
        if shutil.which(manager[0]):
            check_manager(mpiexec, groups, manager[0], manager,
                          (("spawn", (1, 3)), ("several", (2,)), ("bad", (2,)), ("kill", (2,)), ("requests", (2,))))
        else:
            print(f"{manager[0]} is not tried: it is not there; the package is {package}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
