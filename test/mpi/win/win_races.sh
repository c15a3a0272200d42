#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mpiexec --check names each wrong use of a window by both calls and lines, and no right one.
#
# usage: win_races.sh MPIEXEC PROGRAM
mpiexec=$1 program=$2
failed=0 races=0
place='(win_races.c:[0-9]*)'
command -v addr2line >/dev/null || place='.*'

list=$("$program" list)
[ "$(echo "$list" | wc -l)" -ge 30 ] || { echo "too few wrong programs: $list"; failed=1; }
while read -r name first second; do
    races=$((races + 1))
    text=$(timeout 60 "$mpiexec" --check -n 3 "$program" "$name" 2>&1 </dev/null)
    status=$?
    one="--check: rank [0-2] calls $first $place, rank [0-2] calls $second $place[:,]"
    other="--check: rank [0-2] calls $second $place, rank [0-2] calls $first $place[:,]"
    [ "$second" != MPI_ ] || one="--check: rank [0-2] calls $first $place:" other=$one
    if [ $status -eq 0 ] || [ $status -eq 124 ] || ! echo "$text" | grep -q -e "$one" -e "$other"; then
        echo "$name is not named (exit status $status): $text"
        failed=1
    fi
done <<END
$list
END
echo "$races wrong programs"

for channels in "" tcp,loopback; do
    text=$(VIREO_CHANNELS=$channels timeout 200 "$mpiexec" --check -n 3 "$program" fine 2>&1 </dev/null)
    status=$?
    count=${text%% fine}
    case $status$text in
    0[0-9]*" fine") [ "$count" -ge 30 ] || { echo "too few right programs: $text"; failed=1; } ;;
    *) echo "a right program is named, or fails (exit status $status): $text"; failed=1 ;;
    esac
done
echo "$count right programs"
exit $failed
