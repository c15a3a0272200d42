#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mpiexec --check names each wrong use of a window by both calls and lines, and no right one: on one host, and on two,
# where the origins are on one and the target on the other.
#
# usage: win_races.sh MPIEXEC PROGRAM
mpiexec=$1 program=$2
failed=0
# Lines may come too late on a busy machine, and not at all without addr2line: then there are offsets.
line='(win_races.c:[0-9]*)' place='([a-z_]*win_races[.+][^)]*)' lines=0
least_lines=20
command -v addr2line >/dev/null || least_lines=0
export VIREO_TCP_ADDRESSES=127.0.0.1
# Between hosts these are not seen: accesses of the target itself, and an exposure that is open still.
near=" self_put window_recv window_send window_bcast window_get_to complete_is_local "

list=$("$program" list)

# is_named NAME FIRST SECOND OPTIONS...: whether the program is ended, and both calls are named.
is_named() {
    name=$1 first=$2 second=$3
    shift 3
    text=$(timeout 60 "$mpiexec" --check "$@" "$program" "$name" 2>&1 </dev/null)
    status=$?
    one="--check: rank [0-3] calls $first $place, rank [0-3] calls $second $place[:,]"
    other="--check: rank [0-3] calls $second $place, rank [0-3] calls $first $place[:,]"
    [ "$second" != MPI_ ] || one="--check: rank [0-3] calls $first $place:" other=$one
    ! echo "$text" | grep -q "$line.*$line" || lines=$((lines + 1))
    [ $status -ne 0 ] && [ $status -ne 124 ] && echo "$text" | grep -q -e "$one" -e "$other"
}

# name_all LEAST LEFT_OUT OPTIONS...: that is so of all wrong programs.
name_all() {
    least=$1 left_out=$2 races=0
    shift 2
    while read -r name first second; do
        case $left_out in *" $name "*) continue ;; esac
        races=$((races + 1))
        is_named "$name" "$first" "$second" "$@" && continue
        echo "$name ($*) is not named (exit status $status): $text"
        failed=1
    done <<END
$list
END
    echo "$races wrong programs ($*)"
    [ "$races" -ge "$least" ] || failed=1
}

# No right program is named.
spare_all() {
    text=$(timeout 200 "$mpiexec" --check "$@" "$program" fine 2>&1 </dev/null)
    status=$?
    count=${text%% fine}
    case $status$text in
    0[0-9]*" fine") [ "$count" -ge 30 ] || { echo "too few right programs: $text"; failed=1; } ;;
    *) echo "a right program ($*) is named, or fails (exit status $status): $text"; failed=1 ;;
    esac
    echo "$count right programs ($*)"
}

name_all 30 "" -n 3
name_all 30 "$near" --pretend-hosts 2 -n 4
spare_all -n 3
spare_all --pretend-hosts 2 -n 3
spare_all --pretend-hosts 2 -n 4
VIREO_CHANNELS=tcp,loopback spare_all -n 3
[ $lines -ge $least_lines ] || { echo "only $lines programs are named by both lines"; failed=1; }
exit $failed
