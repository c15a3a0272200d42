#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mpiexec --check names each receive whose types are not those of the send, by ranks, calls and lines,
# and no correct one.
#
# usage: check_types.sh MPIEXEC PROGRAM CORRECT...
mpiexec=$1 program=$2
shift 2
failed=0

# named NUMBER SEND RECEIVE: the calls, with what they name
named() {
    text=$(timeout 60 "$mpiexec" --check -n 2 "$program" "$1" 2>&1)
    status=$?
    if [ $status -eq 0 ] || [ $status -eq 124 ] ||
        ! echo "$text" | grep -q -- "--check: rank [01] calls $2, rank [01] calls $3: the basic types"; then
        echo "fault $1 is not named (exit status $status): $text"
        failed=1
    fi
}

line=' (check_types.c:[0-9]*)'
command -v addr2line >/dev/null || line='.*'
named 1 "MPI_Send$line with 4 of MPI_INT" "MPI_Recv$line with 4 of MPI_FLOAT"
named 2 "MPI_Isend$line with 8 of MPI_DOUBLE" "MPI_Irecv$line with 8 of MPI_LONG"
named 3 "MPI_Ssend$line with 1 of a datatype of the program's" "MPI_Recv$line with 1 of a datatype.*"
named 4 "MPI_Send$line with 524288 of MPI_INT" "MPI_Recv$line with 524288 of MPI_FLOAT"
named 5 "MPI_Send$line with 2 of a.*" "MPI_Recv$line with 2 of a.*"
named 6 "MPI_Send$line with 1 of a.*" "MPI_Recv$line with 16 of MPI_INT"
named 7 "MPI_Sendrecv$line with 4 of MPI_INT" "MPI_Sendrecv$line with 4 of MPI_FLOAT"
named 8 "MPI_Sendrecv_replace$line with 4 of MPI_INT" "MPI_Recv$line with 4 of MPI_FLOAT"
named 9 "MPI_Bsend$line with 4 of MPI_INT" "MPI_Mrecv$line with 4 of MPI_FLOAT"
named 10 "MPI_Start$line with 4 of MPI_INT" "MPI_Start$line with 4 of MPI_FLOAT"

for channels in "" tcp,loopback; do
    text=$(VIREO_CHANNELS=$channels timeout 100 "$mpiexec" --check -n 2 "$program" 0 2>&1)
    [ "$?$text" = 0 ] || { echo "what fits is named, or fails: $text" && failed=1; }
done
for correct in "$@"; do
    text=$(timeout 100 "$mpiexec" --check -n 2 "$correct" 2>&1) ||
        { echo "$correct fails: $text" && failed=1; }
    case $text in
    *"the basic types"*) echo "$correct is named: $text" && failed=1 ;;
    esac
done
text=$(timeout 60 "$mpiexec" -n 2 "$program" 1 2>&1)
[ "$?$text" = 0 ] || { echo "something is said without --check: $text" && failed=1; }
exit $failed
