#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Fatal errors end the job with one clear line. usage: errh_fatal.sh MPIEXEC PROGRAM
mpiexec=$1 program=$2 wrong=0 options=

# expect NP STATUS ARGUMENT WORDS...: the job ends with STATUS (x: any but 0), and each of
# WORDS stands in its output.
expect() {
    np=$1 status=$2 what=$3
    shift 3
    if [ "$np" = 0 ]; then
        output=$(timeout 20 "$program" "$what" 2>&1)
    else
        # shellcheck disable=SC2086
        output=$(timeout 20 "$mpiexec" $options -n "$np" "$program" "$what" 2>&1)
    fi
    got=$?
    if [ "$status" = x ] && [ $got -ne 0 ] && [ $got -ne 124 ]; then
        got=x
    fi
    for word in "$@"; do
        case $output in
        *"$word"*) ;;
        *) got="no '$word'" ;;
        esac
    done
    if [ "$got" != "$status" ]; then
        wrong=1
        echo "$what with $np: $got instead of $status; it said: $output"
    fi
}

for np in 0 1 2; do
    who="(rank "
    [ $np != 0 ] || who="(${program##*/} on "
    expect $np x tag "MPI_Send: " "-3" "MPI_COMM_WORLD" "rank "
    expect $np x null "MPI_Send: " "MPI_COMM_NULL"
    expect $np x errors-abort "MPI_Send: " "99"
    expect $np x before "MPI_Send: called before MPI_Init" "$who"
    expect $np x rank-before "MPI_Comm_rank: called before MPI_Init" "$who"
    expect $np x after "MPI_Send: called after MPI_Finalize"
    expect $np x after-kept "MPI_Barrier: called after MPI_Finalize"
    expect $np x free-kept "MPI_Comm_free: called after MPI_Finalize"
    expect $np 3 child-kept "MPI_Barrier: called in a child process"
    expect $np x finalize "MPI_Finalize: called after MPI_Finalize"
    expect $np x init "MPI_Init: " "already"
    expect $np 42 abort "flushed" "MPI_Abort(MPI_COMM_WORLD, 42)"
    expect $np 1 abort-0 "aborted with code 0: MPI_Abort(MPI_COMM_SELF, 0)"
done
expect 4 x bcast "MPI_Bcast: a message of rank 0 has 40 bytes where "
for handler in mpi_errors_are_fatal mpi_errors_abort; do
    options="-initial-errhandler $handler"
    expect 2 x before "MPI_Send: called before MPI_Init"
    expect 2 x tag "MPI_Send: " "-3" "MPI_COMM_WORLD" "rank "
    expect 2 x null "MPI_Send: " "MPI_COMM_NULL"
    expect 2 x after "MPI_Send: called after MPI_Finalize"
done
options="-initial-errhandler mpi_errors_return"
expect 2 0 before
expect 2 0 null
expect 2 x errors-abort "MPI_Send: " "99"
expect 2 x abort-before
exit $wrong
