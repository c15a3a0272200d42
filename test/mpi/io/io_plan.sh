#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How the data of a view are accessed: by the length of its runs, the number of processes, hosts and hints.
#   io_plan.sh MPIEXEC PROGRAM
set -eu
mpiexec=$1 program=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A table of what the report says: bytes of a run; reads, writes; collective reads, writes.
plans() {
    ranks=$1
    shift
    VIREO_IO_REPORT=1 "$mpiexec" --timeout 40 -n "$ranks" "$@" 2>&1 | sed -n \
        -e 's/run by run/direct/g' -e 's/by sieving/sieve/g' \
        -e 's/.*runs of \([0-9]*\) bytes; reads: \(.*\), writes: \(.*\); collective reads: \(.*\), writes: \(.*\)/\1 \2 \3 \4 \5/p'
}

same() {
    [ "$2" = "$3" ] || { printf 'not so: %s\ngot:\n%s\nwanted:\n%s\n' "$1" "$2" "$3" >&2; exit 1; }
    echo "ok: $1"
}

# Bytes in memory: system calls cost little.
in_memory() {
    same "two processes, memory: runs one by one from 4 KiB apart" "$(plans 2 "$program" "$1")" \
"64 sieve sieve sieve two-phase
2048 direct direct direct two-phase
8192 direct direct direct direct
65536 direct direct direct direct
1048576 direct direct direct direct"
}

on_disk() {
    same "two processes: long runs one by one, short ones sieved or written together" \
        "$(plans 2 "$program" "$1")" \
"64 sieve sieve sieve two-phase
2048 sieve sieve sieve two-phase
8192 direct sieve direct two-phase
65536 direct direct direct direct
1048576 direct direct direct direct"

    same "nine processes: two-phase for short runs with long gaps" "$(plans 9 "$program" "$1")" \
"64 sieve sieve two-phase two-phase
2048 sieve sieve two-phase two-phase
8192 direct direct direct direct
65536 direct direct direct direct
1048576 direct direct direct direct"
}

case $(stat -f -c %T "$folder") in
ext* | xfs | btrfs | overlay*) on_disk "$folder" ;;
tmpfs) in_memory "$folder" ;;
*) exit 77 ;; # the choice is for file systems of one host
esac
if [ "$(stat -f -c %T /dev/shm)" = tmpfs ] && [ -w /dev/shm ]; then
    memory=$(mktemp -d /dev/shm/io_plan.XXXXXX)
    trap 'rm -rf "$folder" "$memory"' EXIT
    in_memory "$memory"
fi

hosts=$(plans 2 --pretend-hosts 2 "$program" "$folder")
same "two hosts: two-phase for all runs" "$hosts" \
"64 sieve sieve two-phase two-phase
2048 sieve sieve two-phase two-phase
8192 sieve sieve two-phase two-phase
65536 sieve sieve two-phase two-phase
1048576 sieve sieve two-phase two-phase"

hints=$(plans 2 "$program" "$folder" romio_ds_read enable romio_ds_write disable romio_cb_read enable \
    romio_cb_write disable)
same "hints come first" "$hints" \
"64 sieve direct two-phase direct
2048 sieve direct two-phase direct
8192 sieve direct two-phase direct
65536 sieve direct two-phase direct
1048576 sieve direct two-phase direct"
