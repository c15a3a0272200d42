#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Compile a program by mpifort with each Fortran compiler that is installed, all against one library,
# and run it at 2 ranks: it prints "ok" last, and nothing else.
# usage: run.sh BUILD PROGRAM [C-FILE]
set -u
build=$(cd "$1" && pwd -P) program=$(realpath "$2")
unset VIREO_FC MPICH_FC OMPI_FC LD_LIBRARY_PATH
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
objects=
if [ $# -gt 2 ]; then
    objects=$tmp/c.o
    "$build/tools/mpicc" -c "$3" -o "$objects" || exit 1
fi
cd "$tmp" || exit 1
done=0 failed=0
for compiler in gfortran gfortran-11 flang-new-19; do
    command -v "$compiler" >/dev/null || continue
    done=$((done + 1))
    VIREO_FC=$compiler "$build/tools/mpifort" -g "$program" $objects -o program >log 2>&1 &&
        timeout 40 "$build/bnr/mpiexec" -n 2 ./program >out 2>>log </dev/null
    status=$?
    if [ "$status" = 0 ] && [ "$(tr -d ' ' <out)" = ok ]; then
        echo "ok: $compiler"
    else
        echo "not ok: $compiler (status $status)"
        tail -n 30 log out
        failed=1
    fi
done
[ "$done" -gt 0 ] || exit 77
exit "$failed"
