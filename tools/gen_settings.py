#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Print doc/settings.md from the table of settings, as mpiexec tells it.

usage: gen_settings.py MPIEXEC [FILE]

With FILE, fail instead where it holds anything else.
"""
import re
import subprocess
import sys

import gen_page

HEAD = """\
<!-- Printed by tools/gen_settings.py from the table in os/settings.c; a test compares. -->
# Settings

Each is an environment variable, and by its lower-case name without `VIREO_` a setting of
`mpiexec --set NAME=VALUE`. Sizes take k, m or g. A name that is not here, or a value that
makes no sense, is an error: nothing is ignored. `VIREO_CC` and `VIREO_CXX` are no settings, but
choose the compilers of `mpicc` and `mpicxx`.

| variable | unit or words | default | what it does |
|---|---|---|---|
"""
ROW = re.compile(r"^(VIREO_\w+)(?: \[(.*)\])? \(default: (.*)\)\n((?:    .*\n)+)", re.M)


def table(mpiexec):
    said = subprocess.run([mpiexec, "--help=settings"], check=True, capture_output=True,
                          text=True).stdout
    found = ROW.findall(said)
    rows = [[f"`{name}`", unit, f"`{initial}`" if initial != "empty" else "", " ".join(about.split())]
            for name, unit, initial, about in found]
    if sum(1 + about.count("\n") for *_, about in found) != said.count("\n"):
        sys.exit("gen_settings: cannot read what mpiexec --help=settings says")
    return HEAD + "".join("| " + " | ".join(c.replace("|", "\\|") for c in row) + " |\n"
                          for row in rows)


def main(mpiexec, path=None):
    return gen_page.print_or_compare(table(mpiexec), path, "the table",
                                     "tools/gen_settings.py MPIEXEC > doc/settings.md")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
