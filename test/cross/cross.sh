#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The library, compiled for another machine or by another C library, and its tests that need one process; qemu runs
# those of another machine.
# usage: cross.sh aarch64|s390x|ppc64el|riscv64|musl [BUILD]
# BUILD, a build folder of this machine's, has what is made before anything is compiled. Headers of
# libraries are this machine's. Its last line says N passed, N failed, N skipped.
set -u
cd "$(dirname "$0")/../.." || exit 1
. test/cross/machine.sh
machine=$1 build=${2:-build}
gnu= more= qemu= kernel=
if [ "$machine" = musl ]; then
    compiler=musl-gcc qemu=env packages=musl-tools
    kernel="linux asm-generic $(gcc -print-multiarch)/asm"
else
    machine_facts "$machine" || { echo "there is no machine '$machine'" >&2; exit 2; }
    compiler=$gnu-gcc packages="gcc-$gnu and qemu-user"
fi
[ "$machine" != riscv64 ] || more=-latomic
if ! command -v "$compiler" >/dev/null || ! command -v "$qemu" >/dev/null; then
    echo "there is no $compiler or no $qemu: install $packages"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
mkdir "$out/headers"
for header in uthash.h utlist.h hwloc.h hwloc; do
    ln -s "/usr/include/$header" "$out/headers/$header"
done
for headers in $kernel; do # musl-gcc has none of them
    ln -s "/usr/include/$headers" "$out/headers/${headers##*/}"
done
cp -r /usr/include/hwloc "$out/own" 2>/dev/null
for at in "/usr/include/$(gcc -print-multiarch)/hwloc"; do # what hwloc's build has written: sizes of 64 bits
    [ ! -d "$at" ] || { rm "$out/headers/hwloc"; cp -r "$at/." "$out/own/"; mv "$out/own" "$out/headers/hwloc"; }
done
passed=0 failed=0
cache=$(command -v ccache)

compile() {
    $cache "$compiler" -std=gnu11 -O2 -D_GNU_SOURCE -DVIREO_MPI_NO_DEPRECATED -Wall -Wextra -Werror \
        -Wno-unused-parameter -DOP_KERNELS=op_kernels_any \
        '-DOP_HALF="mpi/type/op_half_loop.h"' -I. -Itest/mpi -I"$build" -I"$build/include" -I"$build/channels" \
        -I"$build/mpi" -idirafter "$out/headers" "$@"
}

# The sources of the shared library, as the build has them.
sources=$(python3 - "$build" <<'P'
import json, os, subprocess, sys
build = sys.argv[1]
commands = json.load(open(os.path.join(build, "compile_commands.json")))
wanted = ("libmpi_abi.so.1.p/", "libmpi_api.a.p/", "libmpid.a.p/", "libchannels.a.p/", "libos.a.p/",
          "libbnr_client.a.p/", "libop_any.a.p/")
for command in commands:
    if any(part in command["output"] for part in wanted):
        print(os.path.relpath(os.path.join(command["directory"], command["file"]))
              .replace("op_best_x86_cpuid", "op_best_any").replace("op_best_x86", "op_best_any"))
P
)
echo "==> compiling $(echo "$sources" | wc -l) files by $compiler"
object_of() {
    echo "$out/$(echo "$1" | tr / _).o"
}
export -f compile object_of
export cache compiler build out
echo "$sources" | xargs -P "$(nproc)" -I SOURCE bash -c 'compile -c "$0" -o "$(object_of "$0")"' SOURCE
objects=
for source in $sources; do
    object=$(object_of "$source")
    if [ -s "$object" ]; then
        passed=$((passed + 1)) objects="$objects $object"
    else
        failed=$((failed + 1))
    fi
done
if [ "$machine" = musl ]; then # its compiler here is the other C library's, whose unwinder asks that one
    echo 'int _dl_find_object(void *address, void *found); int _dl_find_object(void *address, void *found) { (void)address; (void)found; return -1; }' |
        musl-gcc -xc -c - -o "$out/find.o"
    objects="$objects $out/find.o"
fi
echo "==> running tests of one process"
for test in type_contents type_match type_signature coll_reduce coll_movement coll_forms p2p_types \
    p2p_sizes p2p_cancel p2p_persist group_sets group_ranges info_basic handle_garbage handle_numbers \
    errh_codes errh_words attr_type comm_dup topo_cart part_shapes threads_objects; do
    # shellcheck disable=SC2086
    if compile -static test/mpi/*/"$test.c" $objects -o "$out/$test" -lpthread -ldl $more 2>"$out/log" &&
        timeout 60 "$qemu" "$out/$test" >>"$out/log" 2>&1; then
        passed=$((passed + 1))
    else
        echo "not so on $machine: $test"
        grep -v 'statically linked' "$out/log" | tail -5
        failed=$((failed + 1))
    fi
done
# A job of both.
mixed() {
    words=$1
    shift
    if "$@" >>"$out/log" 2>&1; then
        passed=$((passed + 1))
    else
        echo "not so between this machine and $machine: $words"
        grep -v 'statically linked' "$out/log" | tail -5
        failed=$((failed + 1))
    fi
}
long_double() {
    # shellcheck disable=SC2086
    compile -static test/cross/long_double.c $objects -o "$out/theirs" -lpthread -ldl $more &&
        gcc -D_GNU_SOURCE -Itest/mpi -I"$build/include" -Iinclude test/cross/long_double.c -o "$out/ours" \
            "$build/mpi/libmpi_abi.so" -Wl,-rpath,"$(realpath "$build")/mpi" &&
        timeout 60 "$build/bnr/mpiexec" -n 1 "$out/ours" : -n 1 "$qemu" "$out/theirs"
}
: >"$out/log"
[ ! -x "$build/bnr/mpiexec" ] || case $machine in
s390x) ;;
musl) mixed coll_reduce timeout 60 "$build/bnr/mpiexec" -n 2 "$build/test/mpi/mpi_coll_reduce" : -n 2 "$out/coll_reduce" ;;
*) mixed long_double long_double ;;
esac
echo "$passed passed, $failed failed, 0 skipped"
[ $failed = 0 ]
