#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mpiexec --check names what each faulty program leaves behind at MPI_Finalize, and nothing of a
# correct one.
#
# usage: check_left.sh MPIEXEC PROGRAM
mpiexec=$1 program=$2
failed=0

# expect NUMBER TEXT: rank 2 leaves that.
expect() {
    for n in 3; do
        text=$(timeout 60 "$mpiexec" --check -n $n "$program" "$1" 2>&1)
        status=$?
        case "$status $text" in
        "0 "*"--check: rank 2 leaves $2"*) ;;
        *) echo "fault $1 is not named (exit status $status): $text" && failed=1 ;;
        esac
    done
}

line="(check_left.c:"
command -v addr2line >/dev/null || line=""
expect 1 "1 request of MPI_Irecv ${line}"
expect 2 "1 request of MPI_Issend ${line}"
expect 3 "1 request of MPI_Send_init ${line}"
expect 4 "1 request of MPI_Recv_init ${line}"
expect 5 "1 request of MPI_Ibarrier ${line}"
expect 6 "1 communicator of MPI_Comm_dup ${line}"
expect 7 "1 communicator of MPI_Comm_split ${line}"
expect 8 "1 communicator of MPI_Comm_create ${line}"
expect 9 "1 communicator of MPI_Intercomm_create ${line}"
expect 10 "1 datatype of MPI_Type_contiguous ${line}"
expect 11 "1 datatype of MPI_Type_dup ${line}"
expect 12 "1 datatype of MPI_Type_indexed ${line}"
expect 13 "a message from rank 0 unreceived at MPI_Finalize: 16 bytes, tag 77, MPI_COMM_WORLD"
expect 14 "a message from rank 0 unreceived at MPI_Finalize: 16 bytes, tag 78"
text=$(timeout 60 "$mpiexec" --check -n 3 "$program" 0 2>&1)
[ "$?$text" = 0 ] || { echo "the correct program is named: $text" && failed=1; }
text=$(timeout 60 "$mpiexec" -n 3 "$program" 6 2>&1)
[ "$?$text" = 0 ] || { echo "something is said without --check: $text" && failed=1; }
exit $failed
