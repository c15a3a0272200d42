#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The report of a hang and the text of an error name the Fortran file and line.
# usage: hang.sh BUILD SOURCE-FOLDER
set -u
build=$(cd "$1" && pwd -P) here=$(cd "$2" && pwd -P)
unset VIREO_FC MPICH_FC OMPI_FC LD_LIBRARY_PATH
command -v gfortran >/dev/null || exit 77
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
fail=0

# says WHAT PATTERN FILE
says() {
    if grep -q "$2" "$3"; then
        echo "ok: $1"
    else
        echo "not ok: $1"
        cat "$3"
        fail=1
    fi
}

"$build/tools/mpifort" -g "$here/hang.f90" -o hang || exit 1
timeout 60 "$build/bnr/mpiexec" --timeout 2 -n 2 ./hang >out 2>&1 </dev/null
says "a hang names the call and its line" 'at hang\.f90:9' out
"$build/tools/mpifort" -g "$here/wrong.f90" -o wrong || exit 1
timeout 60 "$build/bnr/mpiexec" -n 1 ./wrong >out 2>&1 </dev/null
says "an error names its line" 'MPI_Send: .*wrong\.f90:8' out
# Errors that are returned: by ierror and its words alone.
"$build/tools/mpifort" "$here/words.f90" -o words || exit 1
timeout 60 "$build/bnr/mpiexec" -n 1 ./words >out 2>&1 </dev/null
echo "status $?" >>out
says "ierror has words of Fortran" '^status 0$' out
[ "$(wc -l <out)" = 1 ] || { echo "not ok: and nothing is printed"; fail=1; }
exit "$fail"
