#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: win_dead.sh MPIEXEC WIN_DEAD
#
# A member of a window dies in each kind of epoch, on windows that are mapped and that are not; see
# win_dead.c.
set -u
mpiexec=$1 program=$2
failed=0
said=$(mktemp) || exit 1
trap 'rm -f "$said"' EXIT
for where in "" "--pretend-hosts 2"; do
    for call in holder reader waiter target unlock fence start wait post; do
        for kind in 0 1 3; do
            out=$("$mpiexec" --enable-recovery --timeout 60 $where -n 4 "$program" $call $kind 2>"$said" </dev/null)
            if [ "$out" != "ok
ok
ok" ]; then
                echo "$call, window $kind, '$where': got $(echo $out)"
                failed=1
            fi
            case $call in
            holder | reader)
                if ! grep -q "window: rank 0 died with a lock of rank 1, which is given back" "$said"; then
                    echo "$call, window $kind, '$where': nobody named the dead holder"
                    failed=1
                fi
                ;;
            esac
        done
    done
done
exit $failed
