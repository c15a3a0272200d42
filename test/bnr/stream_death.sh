# SPDX-License-Identifier: BSD-3-Clause
# Streams of ranks that are killed: the other rank goes on and finds all right.
# Run as: sh stream_death.sh MPIEXEC BNR_STREAMS
. "${0%/*}/lib.sh"
streams=$2
for case in dies-mid-line flush-and-death; do
    out=$(run -disable-auto-cleanup -n 2 "$streams" $case 2>&1)
    same "$case: only the victim has failed" "$?" 137
    case $out in *streams:*) fail "$case" "$out" ;; esac
done
