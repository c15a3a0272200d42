#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail where the library exports what it should not, or lacks what is implemented.

usage: check_exports.py LIBRARY TABLE API.c...

Only the prefixes below are exported. Each MPI_ name has its PMPI_ name, at the same address. What
the api files implement, by tools/gen_interface.py's reading, is there.
"""
import subprocess
import sys

import gen_interface

ALLOWED = ("MPI_", "PMPI_", "MPIX_", "PMPIX_", "BNR_", "MPIR_queues", "MPIR_dll_name")


def exports(library):
    """{name: address} of the library's dynamic symbols."""
    run = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                         check=True)
    rows = [line.split() for line in run.stdout.splitlines()]
    return {row[-1].split("@")[0]: row[0] for row in rows if len(row) == 3}


def main(library, table_path, *api):
    table, have, bad = gen_interface.read_table(table_path), exports(library), []
    bad += [f"exports {name}" for name in have if not name.startswith(ALLOWED)]
    for name, address in have.items():
        if name.startswith(("MPI_", "MPIX_")) and (
                "P" + name not in have if name.endswith(gen_interface.FORMS)
                else have.get("P" + name) != address):
            bad.append(f"{name} is not P{name}")
        if name.startswith(("PMPI_", "PMPIX_")) and name[1:] not in have:
            bad.append(f"{name} has no name {name[1:]}")
        if name.startswith("MPI_") and name not in table:
            bad.append(f"exports {name}, which MPI does not have")
    want = [name for path in api for name in gen_interface.twins(table, path)[1]]
    bad += [f"lacks {name}" for name in want if name not in have]
    print("\n".join(bad) or f"exports ok: {len(want)} MPI functions, {len(have)} names")
    return 1 if bad or not want else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
