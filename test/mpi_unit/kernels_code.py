#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail where a reduction kernel is not vector code.

usage: kernels_code.py COMPILER SOURCE

Compiles mpi/type/op_kernels.c as the library is, for any x86-64 processor and for those with AVX2, and
looks at the instructions of each kernel. Exits with 77 (skipped) on other machines.
"""
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

SKIP = 77
FLAGS = ["-std=gnu11", "-O3", "-ffp-contract=off", "-fno-trapping-math", "-DOP_KERNELS=table", "-c"]
# No processor has vectors of these.
SCALAR = re.compile(r"_(u128|i128|flong|f128|clong|c128|flong_int)$")
# Sums of complex numbers call those of their parts.
WRAPPER = re.compile(r"^sum_c\d+$")
# Without AVX2 there are no products and no order of integers of 64 bits.
NEEDS_AVX2 = re.compile(r"^((prod|land|lor|lxor|min|max)_[ui]64|(min|max)loc_long_int)$")
PACKED = re.compile(r"\b(v?(add|mul|sub|min|max|and|or|xor|blend)p[sd]|v?cmp\w*p[sd]"
                    r"|v?p(add|mul|and|or|xor|cmp|min|max|sub|avg)\w*)\b.*%[xy]mm")
FUNCTION = re.compile(r"^[0-9a-f]+ <((?:sum|prod|min|max|band|bor|bxor|land|lor|lxor|minloc|maxloc)_\w+)>:")
HALF = {"x86-64": "loop", "x86-64-v3": "f16c"}  # mpi/type/op_half_NAME.h


def packed_counts(compiler, source, march):
    """Vector instructions of each kernel."""
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder) / "kernels.o"
        command = [*compiler.split(), *FLAGS, f"-march={march}", "-mno-fma", f"-I{source}",
                   f'-DOP_HALF="mpi/type/op_half_{HALF[march]}.h"', "-o", str(made),
                   f"{source}/mpi/type/op_kernels.c"]
        subprocess.run(command, check=True)
        text = subprocess.run(["objdump", "-d", str(made)], check=True, capture_output=True,
                              text=True).stdout
    counts, name = {}, None
    for line in text.splitlines():
        begin = FUNCTION.match(line)
        if begin or line.endswith(">:"):
            name = begin and begin.group(1)
            if name:
                counts[name] = 0
        elif name and PACKED.search(line):
            counts[name] += 1
    return counts


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if platform.machine() != "x86_64":
        return SKIP
    failed = 0
    for march in ("x86-64", "x86-64-v3"):
        counts = packed_counts(sys.argv[1], sys.argv[2], march)
        for name, count in sorted(counts.items()):
            excused = SCALAR.search(name) or WRAPPER.match(name) or (
                march == "x86-64" and NEEDS_AVX2.match(name))
            if not count and not excused:
                print(f"{march}: {name} has no vector instruction")
                failed += 1
        if len(counts) < 100:
            print(f"{march}: only {len(counts)} kernels found")
            failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
