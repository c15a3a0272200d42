#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""libmpifort_abi has every procedure of the table, and calls nothing but MPI and the C library.

usage: library.py LIBRARY TOOLS TABLE API.c...
"""
import subprocess
import sys

sys.dont_write_bytecode = True
library, tools, table, *api = sys.argv[1:]
sys.path.insert(0, tools)
import gen_fortran      # noqa: E402
import gen_interface    # noqa: E402


def symbols(option):
    run = subprocess.run(["nm", "-D", option, library], capture_output=True, text=True, check=True)
    return {line.split()[-1].split("@")[0] for line in run.stdout.splitlines()}


have, wants = symbols("--defined-only"), symbols("--undefined-only")
# A sanitizer has names of its own in each library.
bad = [f"exports {name}" for name in have if not name.startswith(("mpi_", "pmpi_", "mpix_", "pmpix_", "__odr_asan."))]
bad += [f"calls {name}, of a Fortran runtime" for name in wants
        if name.startswith(("_gfortran", "_Fortran", "CFI_", "for_", "pgf90"))]
count = 0
rows = gen_interface.read_table(table)
for p in gen_fortran.procedures(rows, api) + gen_fortran.extensions(rows, api):
    names = [p.name.lower() + p.suffix() + "_"] + ([] if p.large else [p.name.lower() + "_"])
    for name in names if not p.only_mpi else names[1:]:
        count += 1
        bad += [f"lacks {letter}{name}: write it in fortran/" for letter in ("", "p")
                if letter + name not in have]
print("\n".join(bad) or f"{count} procedures, each with its pmpi_ name")
sys.exit(1 if bad or count < 400 else 0)
