#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mpiexec --check names each faulty program, by ranks, calls and lines, and no correct one.
#
# usage: check_faults.sh MPIEXEC PROGRAM CORRECT...
mpiexec=$1 program=$2
shift 2
failed=0
fault=1
while [ $fault -le 26 ]; do
    text=$(timeout 30 "$mpiexec" --check -n 3 "$program" $fault 2>&1)
    status=$?
    if [ $status -eq 0 ] || [ $status -eq 124 ] ||
        ! echo "$text" | grep -q -- '--check: rank [0-2] calls MPI_[A-Z].*, rank [0-2] calls MPI_[A-Z].*collective [0-9]* of a communicator'; then
        echo "fault $fault is not named (exit status $status): $text"
        failed=1
    fi
    fault=$((fault + 1))
done
if command -v addr2line >/dev/null &&
    ! timeout 30 "$mpiexec" --check -n 3 "$program" 9 2>&1 | grep -q 'check_faults.c:[0-9].*check_faults.c:[0-9]'; then
    echo "the lines are not named"
    failed=1
fi
for correct in "$program" "$@"; do
    for n in 2 3; do
        text=$(timeout 100 "$mpiexec" --check -n $n "$correct" 2>&1) || { echo "$correct fails: $text"; failed=1; }
        case $text in
        *--check:*) echo "$correct is named: $text" && failed=1 ;;
        esac
    done
done
exit $failed
