#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# examples/watch.c: viewers come, one dies, one comes again; the simulation goes on, and ends.
#
# usage: watch.sh MPIEXEC WATCH
mpiexec=$1 watch=$2
out=$(mktemp)
trap 'rm -f "$out"' EXIT
"$mpiexec" -n 4 "$watch" simulate 6 >"$out" 2>&1 &
simulation=$!
fail() {
    echo "not so: $*"
    cat "$out"
    kill "$simulation"
    exit 1
}
picture=$("$mpiexec" -n 1 "$watch" view) || fail "a viewer under mpiexec gets a picture"
[ "$(echo "$picture" | grep -c '^|.*[*].*|$')" -ge 6 ] || fail "a picture of a wave: $picture"
WATCH_DIES=1 "$mpiexec" -n 1 "$watch" view 2>/dev/null && fail "a viewer dies"
"$watch" view >/dev/null || fail "a viewer without mpiexec gets a picture, after one has died"
wait "$simulation" || fail "the simulation ends well"
[ "$(grep -c 'has the picture' "$out")" = 2 ] && grep -q '^simulation: done' "$out" || fail "what the simulation says"
exit 0
