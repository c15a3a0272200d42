#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Two jobs, one of network byte order, one of the host's: what differ.c says, and nobody hangs.
# usage: differ.sh MPIEXEC DIFFER [OPTION-OF-MPIEXEC...]
mpiexec=$1 differ=$2
shift 2
failed=0

# job ORDER OPTION... accept|connect NAME
job() {
    in=$1
    shift
    timeout 30 "$mpiexec" --set "byte_order=$in" -n 3 "$@" </dev/null
}

for run in 1 2 3 4; do
    [ $((run % 2)) = 1 ] && order=host other=network || order=network other=host
    name=differ-$$-$run
    job $order "$@" "$differ" accept "$name" &
    job $other "$@" "$differ" connect "$name"
    there=$?
    wait $!
    here=$?
    [ "$here $there" = "0 0" ] && said=ok || said='not so' failed=$((failed + 1))
    echo "$said: a job of order $order accepts one of $other: exit codes $here, $there"
done
[ $failed = 0 ]
