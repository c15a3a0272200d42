#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Variables of launchers, wrong or mixed: never a world of one where several processes were meant.

usage: environments.py WORK

Starts WORK (test/bnr/work.c) without a launcher, with the variables of each row. It ends with one line on stderr, or,
where nothing says that there are others, runs alone.
"""
import subprocess
import sys

from managers import environment

LIMIT = 60  # seconds
ALONE = None

# Variables as NAME=VALUE; a word of the line that names evidence or cure, or ALONE.
ROWS = [
    ("", ALONE),
    # Slurm
    ("SLURM_PROCID=0 SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_NUM_TASKS=4"),
    ("SLURM_PROCID=3 SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=4", "srun"),
    ("SLURM_PROCID=1", "SLURM_PROCID=1"),
    ("SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1", ALONE),
    ("SLURM_NTASKS=4 SLURM_JOB_ID=7 SLURM_NNODES=2", ALONE),                        # a batch script
    ("SLURM_STEP_NUM_TASKS=4", ALONE),                                              # left by a script's parent
    ("SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4 SLURM_MPI_TYPE=none", "--mpi=pmi2"),
    # MPICH, Intel MPI
    ("PMI_RANK=0 PMI_SIZE=2", "PMI_SIZE=2"),
    ("PMI_RANK=1 PMI_SIZE=2", "PMI_RANK=1"),
    ("PMI_SIZE=8", "PMI_SIZE=8"),
    ("PMI_RANK=0 PMI_SIZE=1", ALONE),
    ("PMI_ID=1", "PMI_ID=1"),
    ("PMI_FD=77 PMI_RANK=0 PMI_SIZE=2", "PMI_SIZE=2"),
    ("PMI_FD=77 PMI_RANK=0 PMI_SIZE=1", ALONE),
    ("PMI_FD=x PMI_RANK=0 PMI_SIZE=4", "PMI_SIZE=4"),
    ("PMI_FD=-1 PMI_RANK=0 PMI_SIZE=4", "PMI_SIZE=4"),
    ("PMI_FD=1 PMI_RANK=0 PMI_SIZE=x", "PMI_SIZE"),
    ("PMI_FD=1 PMI_RANK=x PMI_SIZE=2", "PMI_RANK"),
    ("PMI_FD=1", "PMI_RANK"),
    ("PMI_PORT=127.0.0.1:1 PMI_ID=0", "PMI_PORT"),
    ("PMI_PORT=127.0.0.1:70000 PMI_ID=0", "PMI_PORT"),
    ("PMI_PORT=noport PMI_ID=0", "PMI_PORT"),
    ("PMI_PORT=127.0.0.1:1", ALONE),
    # PMIx, Open MPI
    ("PMIX_NAMESPACE=a PMIX_RANK=0", "PMIx"),
    ("PMIX_NAMESPACE=a PMIX_RANK=0 PMIX_SERVER_URI2=a.0;tcp4://127.0.0.1:1", "PMIx"),
    ("PMIX_RANK=2", "PMIX_RANK=2"),
    ("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_SIZE=2"),
    ("OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2", "Open MPI"),
    ("OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_SIZE=2"),
    ("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1", ALONE),
    # others
    ("FLUX_TASK_RANK=1 FLUX_JOB_SIZE=2", "flux"),
    ("FLUX_JOB_SIZE=2", ALONE),                                                     # a batch script
    ("PALS_RANKID=1", "PALS"),
    ("JSM_NAMESPACE_RANK=1 JSM_NAMESPACE_SIZE=2", "jsrun"),
    ("MV2_COMM_WORLD_RANK=1 MV2_COMM_WORLD_SIZE=2", "MVAPICH"),
    # our own, damaged
    ("BNR_RANK=0", "BNR"),
    ("BNR_FD=99 BNR_RANK=0", "mpiexec"),
    ("BNR_FD=x BNR_RANK=0", "mpiexec"),
    ("BNR_FD=0 BNR_RANK=5", "mpiexec"),
    # mixed
    ("PMI_RANK=0 PMI_SIZE=1 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_NUM_TASKS=4"),
    ("PMI_RANK=0 PMI_SIZE=4 SLURM_PROCID=0 SLURM_STEP_NUM_TASKS=1", "PMI_SIZE=4"),
    ("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=1 PMI_RANK=1 PMI_SIZE=2", "PMI_RANK=1"),
    ("SLURM_PROCID=2 SLURM_STEP_NUM_TASKS=4 VIREO_SINGLETON=1", ALONE),
    ("PMI_FD=1 PMI_RANK=x VIREO_SINGLETON=1", ALONE),
]


def main(work):
    bad = 0
    for words, wanted in ROWS:
        more = dict(word.split("=", 1) for word in words.split())
        done = subprocess.run(["timeout", "-k", "5", str(LIMIT), work, "init", "hello", "finalize"], env=environment(**more),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False)
        lines = [l for l in done.stderr.splitlines() if l.startswith("vireo: ")]
        if wanted is ALONE:
            right = done.returncode == 0 and done.stdout == "rank 0 of 1\n" and not done.stderr
        else:
            right = 0 < done.returncode < 124 and len(lines) == 1 and wanted in lines[0] and not done.stdout
        print(f"{'ok' if right else 'not so'}: {words or 'nothing'}: " + (lines[0] if lines else "runs alone"))
        if not right:
            bad += 1
            print(f"    status {done.returncode}, {done.stdout!r}, {done.stderr!r}")
    print(f"{len(ROWS)} environments, {bad} wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
