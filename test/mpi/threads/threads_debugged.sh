#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program of several threads has nothing to complain of under valgrind, under the address sanitizer,
# and in gdb; what is not installed is left out, and without any of them the test is skipped (77).
#   threads_debugged.sh MPIEXEC PROGRAM [WITH_ASAN]
mpiexec=$1 program=$2 with_asan=${3:-}
did=77

# clean CLAIM ARGUMENT...: a job of two ranks ends well, and says nothing
clean() {
    claim=$1
    shift
    text=$(timeout -k 5 280 "$mpiexec" -l "$@" 2>&1)
    status=$?
    [ "$status$text" = 0 ] || { echo "not so: $claim ($status)" && echo "$text" | head -60 && exit 1; }
    echo "ok: $claim"
    did=0
}

if command -v valgrind >/dev/null; then
    watched="valgrind -q --leak-check=full --error-exitcode=9"
    for channels in shm,loopback tcp,loopback; do
        # shellcheck disable=SC2086
        clean "valgrind finds nothing ($channels)" --set channels=$channels -n 2 $watched "$program"
    done
    # shellcheck disable=SC2086
    clean "nor where one of two runs by it" -n 1 $watched "$program" : -n 1 "$program"
fi
if [ -n "$with_asan" ]; then
    for channels in shm,loopback tcp,loopback; do
        clean "the address sanitizer finds nothing ($channels)" --set channels=$channels -n 2 "$with_asan"
    done
fi
if command -v gdb >/dev/null; then
    text=$(timeout -k 5 200 "$mpiexec" -n 2 gdb -nx -q -batch -ex run "$program" 2>&1)
    [ "$(echo "$text" | grep -c 'exited normally')" = 2 ] ||
        { echo "not so: it ends well in gdb" && echo "$text" | tail -40 && exit 1; }
    echo "ok: it ends well in gdb"
    did=0
fi
exit $did
