# SPDX-License-Identifier: BSD-3-Clause
# Streams of ranks that are killed: the other rank goes on and finds all right.
# Run as: sh stream_death.sh MPIEXEC BNR_STREAMS
. "${0%/*}/lib.sh"
streams=$2
for case in dies-mid-line flush-and-death killed-with-child; do
    out=$(run -disable-auto-cleanup -n 2 "$streams" $case 2>&1)
    same "$case: only the victim has failed" "$?" 137
    case $out in *streams:*) fail "$case" "$out" ;; esac
done
# The order in which mpiexec hears of the death, and of what it closes, differs.
for i in 1 2 3 4 5 6; do
    run -n 1 "$streams" own-sink 2>/dev/null
    same "own-sink: mpiexec ends with the victim's exit code, time $i" "$?" 137
done
