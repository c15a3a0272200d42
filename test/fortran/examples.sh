#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The Fortran examples, one for each interface, compile as they say and print what is right at 1 and
# 3 ranks.
# usage: examples.sh BUILD EXAMPLES-FOLDER
set -u
build=$(cd "$1" && pwd -P) examples=$(cd "$2" && pwd -P)
unset VIREO_FC MPICH_FC OMPI_FC LD_LIBRARY_PATH
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
done=0 failed=0

# prints RANKS TEXT: ./ring at so many ranks prints the text last
prints() {
    last=$(timeout 30 "$build/bnr/mpiexec" -n "$1" ./ring 2>&1 </dev/null | tail -n 1)
    if [ "$last" = "$2" ]; then
        echo "ok: $compiler $example at $1 ranks: $last"
    else
        echo "not ok: $compiler $example at $1 ranks prints: $last"
        failed=1
    fi
}

for compiler in gfortran gfortran-11 flang-new-19; do
    command -v "$compiler" >/dev/null || continue
    for example in ring_f08.f90 ring_mpi.f90 ring_mpif.f; do
        done=$((done + 1))
        rm -f ring
        if ! VIREO_FC=$compiler "$build/tools/mpifort" "$examples/$example" -o ring >log 2>&1; then
            echo "not ok: $compiler $example does not compile"
            tail -n 30 log
            failed=1
            continue
        fi
        case $example in
        ring_f08.f90) prints 1 'round 3: the token is 0' && prints 3 'round 3: the token is 9' ;;
        ring_mpi.f90) prints 1 'the ranks are together 0' && prints 3 'the ranks are together 3' ;;
        *) prints 1 'the largest rank is 0' && prints 3 'the largest rank is 2' ;;
        esac
    done
done
[ "$done" -gt 0 ] || exit 77
exit "$failed"
