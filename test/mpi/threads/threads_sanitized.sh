#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs with the thread sanitizer, awake and asleep; where the sanitizer itself does not run on this
# machine the test is skipped (77).
#   threads_sanitized.sh MPIEXEC PROGRAM
set -eu
mpiexec=$1 program=$2

"$program" probe >/dev/null 2>&1 || exit 77
for channels in shm,loopback tcp,loopback; do
    for spin in 0 50; do
        for n in 1 2; do
            VIREO_CHANNELS=$channels VIREO_SPIN_US=$spin "$mpiexec" --timeout 100 -n $n "$program"
        done
    done
done
