#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pages of section 7: their example runs, they name all constants of mpi.h, and they render.

usage: man7.py BUILD MAN7 COMPILER...
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def example(page):
    """The program of a page, as it was before it became roff."""
    text = page.split(".SH EXAMPLES\n.nf\n")[1].split("\n.fi")[0]
    return re.sub(r"^\\&", "", text, flags=re.M).replace("\\-", "-").replace("\\e", "\\")


def main(build, folder, *compiler):
    build, folder, bad = pathlib.Path(build), pathlib.Path(folder), []
    pages = {p.stem: p.read_text() for p in folder.iterdir()}
    if sorted(pages) != ["mpi", "mpi_constants", "mpi_errors"]:
        bad.append(f"pages: {sorted(pages)}")
    named = set(re.findall(r"\\fB(MPI_\w+)\\fP", pages["mpi_constants"] + pages["mpi_errors"]))
    header = (build / "include/mpi.h").read_text()
    constants = re.findall(r"^(?:#define |    )(MPI_[A-Z]\w+)(?: = | +(?:VIREO_MPI_CAST)?\()", header, re.M)
    bad += [f"{name} is on no page" for name in constants
            if name not in named and name.isupper() and name != "MPI_ERR_LASTCODE"]
    if len(constants) < 300:
        bad.append(f"no more than {len(constants)} constants")
    with tempfile.TemporaryDirectory() as tmp:
        source, program = pathlib.Path(tmp, "hello.c"), pathlib.Path(tmp, "hello")
        source.write_text(example(pages["mpi"]))
        subprocess.run([*compiler, source, "-o", program, f"-I{build}/include", f"-L{build}/mpi",
                        "-lmpi_abi"], check=True)
        run = subprocess.run([build / "bnr/mpiexec", "-n", "2", program], capture_output=True,
                             text=True, env={**os.environ, "LD_LIBRARY_PATH": f"{build}/mpi"})
        if sorted(run.stdout.split("\n")) != ["", "rank 0 of 2", "rank 1 of 2"]:
            bad.append(f"the example says: {run.stdout}{run.stderr}")
    for page in folder.iterdir() if shutil.which("groff") else []:
        run = subprocess.run(["groff", "-ww", "-man", "-Tutf8", page], capture_output=True, text=True)
        if run.stderr:
            bad.append(f"{page.name}: {run.stderr}")
    print("\n".join(bad) or f"man7 ok: {len(constants)} constants")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
