#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A job of ranks of this machine and, by qemu, of another one, in turns: mixed.c over shared memory and tcp, and on two
# hosts that mpiexec makes out of one; long_double.c. Where the byte order differs, ranks of both share no host: the
# other machine's are those of its daemon, on a host that is this one by another name. mpiexec finds the byte order.
# usage: mixed.sh aarch64|s390x|ppc64el [BUILD]
#        registered.sh MACHINE mixed.sh MACHINE [BUILD]    programs are named alone, without qemu before them
# BUILD is this machine's build folder, BUILD-MACHINE the other's, which ./bootstrap test MACHINE makes; both are built
# as far as needed. Its last line says N passed, N failed, N skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
. test/cross/machine.sh
machine=${1:?usage: mixed.sh MACHINE [BUILD]} build=${2:-build}
machine_facts "$machine" || { echo "there is no machine '$machine'" >&2; exit 2; }
theirs=$build-$machine
[ "${REGISTERED:-}" != "$machine" ] || qemu=
passed=0 failed=0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
# Some programs of test/mpi, too, where the byte order differs.
programs="coll_movement coll_reduce p2p_modes p2p_sizes part_basic win_basic"
more=
if [ "$endian" = big ]; then
    more=$(for program in $programs; do echo "test/mpi/mpi_$program"; done)
fi
for at in "$build" "$theirs"; do
    [ -e "$at/build.ninja" ] || { echo "there is no build in $at"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
    # shellcheck disable=SC2086
    ninja --quiet -C "$at" bnr/mpiexec bnr/vireod mpi/libvireo-io.so test/mpi/mpi_mixed test/mpi/mpi_long_double $more \
        >"$out/log" 2>&1 ||
        { tail -n 20 "$out/log"; exit 1; }
done
QEMU_LD_PREFIX=$(realpath "$theirs")/other/root
export QEMU_LD_PREFIX

# job PROGRAM OPTION...: four ranks, of the machines in turns
job() {
    ours="$build/test/mpi/mpi_$1 $out/file" other="$qemu $theirs/test/mpi/mpi_$1 $out/file"
    shift
    # shellcheck disable=SC2086
    timeout 200 "$build/bnr/mpiexec" "$@" -n 1 $ours : -n 1 $other : -n 1 $ours : -n 1 $other </dev/null >"$out/log" 2>&1
}

# says WORDS STATUS: whether the job that has ended with this status did what it should
says() {
    if [ "$2" = 0 ]; then
        passed=$((passed + 1))
        echo "ok: $1: $(tail -n 1 "$out/log")"
    else
        failed=$((failed + 1))
        echo "not so: $1"
        tail -n 8 "$out/log"
    fi
}

long_double() {
    timeout 200 "$build/bnr/mpiexec" -n 1 "$build/test/mpi/mpi_long_double" : \
        -n 1 ${qemu:+"$qemu"} "$theirs/test/mpi/mpi_long_double" </dev/null >"$out/log" 2>&1 || return 1
    echo "refused by name" >"$out/log"
}

# far PROGRAM OPTION...: as job, with the other machine's ranks on another host, of which its daemon says what it is
far() {
    program=$1
    shift
    job "$program" --map-by node --launcher-cmd "$out/daemon %h" -host localhost:2,elsewhere:2 "$@"
}

# neighbors N PROGRAM: N ranks on each of the two hosts, one host after the other
neighbors() {
    timeout 200 "$build/bnr/mpiexec" --launcher-cmd "$out/daemon %h" -host "localhost:$1,elsewhere:$1" \
        -n "$1" "$build/test/mpi/mpi_$2" : -n "$1" ${qemu:+"$qemu"} "$theirs/test/mpi/mpi_$2" </dev/null >"$out/log" 2>&1
}

# two_orders: what a job of both byte orders does
two_orders() {
    printf '#!/bin/sh\nexec %s %s\n' "$qemu" "$(realpath "$theirs")/bnr/vireod" >"$out/daemon"
    chmod +x "$out/daemon"
    job mixed
    [ $? = 16 ] && grep 'error: cannot join.*with the other byte order' "$out/log" >"$out/words"
    says "two byte orders on one host are refused" $?
    far mixed
    says "a job of two byte orders" $?
    VIREO_CHANNELS=tcp,loopback far mixed
    says "over tcp alone" $?
    for program in $programs; do
        neighbors 2 "$program"
        says "$program" $?
    done
    neighbors 1 long_double
    says "long double is refused by name" $?
    VIREO_BYTE_ORDER=host far mixed
    [ $? != 0 ] && grep 'the other byte order' "$out/log" >"$out/words"
    says "nothing goes on where a user keeps the host's order" $?
    far mixed --check
    [ $? != 0 ] && grep 'one byte order' "$out/log" >"$out/words"
    says "--check is refused" $?
}

if [ "$endian" = big ]; then
    two_orders
    echo "$passed passed, $failed failed, 0 skipped"
    [ $failed = 0 ]
    exit
fi

job mixed
says "a job over shared memory" $?
VIREO_CHANNELS=tcp,loopback job mixed
says "over tcp" $?
VIREO_TCP_ADDRESSES=127.0.0.1 job mixed --pretend-hosts 2
says "on two hosts" $?
long_double
says "long double" $?
VIREO_CHANNELS=tcp,loopback long_double
says "long double over tcp" $?
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
