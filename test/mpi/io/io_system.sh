#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Files on a full file system, on one mounted for reading, and removed while they are open. The mounts are
# in a namespace of their own, and gone with it; where there can be none the test is skipped (77).
#   io_system.sh MPIEXEC PROGRAM
set -eu
mpiexec=$1 program=$2

if [ "${3:-}" != inside ]; then
    unshare -rm true 2>/dev/null || exit 77
    exec unshare -rm sh "$0" "$mpiexec" "$program" inside
fi
folder=$(mktemp -d)
trap 'umount "$folder" 2>/dev/null || :; rmdir "$folder"' EXIT
mount -t tmpfs -o size=1536k vireo-test "$folder" || exit 77
for n in 1 3; do
    "$mpiexec" --timeout 40 -n $n "$program" none "$folder"
    "$mpiexec" --timeout 40 -n 4 "$program" full "$folder"
    [ -z "$(ls -A "$folder")" ] || { echo "left: $(ls -A "$folder")"; exit 1; }
    mount -o remount,size=16m "$folder"
    "$mpiexec" --timeout 40 -n $n "$program" vanished "$folder"
    [ -z "$(ls -A "$folder")" ] || { echo "left: $(ls -A "$folder")"; exit 1; }
    echo 0123456789 >"$folder/file"
    mount -o remount,ro "$folder"
    "$mpiexec" --timeout 40 -n $n "$program" readonly "$folder"
    mount -o remount,rw,size=1536k "$folder"
    rm "$folder/file"
done
