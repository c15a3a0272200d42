#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What ./bootstrap tarball makes: it is unpacked, moved and used, here and in other Debians.
#
#     tarball.sh FILE [SUITE...]
#
# SUITE is a Debian (bullseye, trixie), made by debootstrap in a temporary folder, for which this must be root. That
# takes some minutes each. Needs what the wrappers need: gcc, and g++ and gfortran where they are there.
set -eu
file=$(realpath "${1:?usage: tarball.sh FILE [SUITE...]}")
shift
top=$(cd "$(dirname "$0")/../.." && pwd)
there=$(mktemp -d)
chmod 755 "$there"
trap 'rm -rf --one-file-system "$there"' EXIT
failed=0 count=0

# claim WORDS COMMAND...: it does what it should
claim() {
    words=$1
    shift
    count=$((count + 1))
    if "$@" >"$there/log" 2>&1 </dev/null; then
        echo "ok $count - $words"
    else
        echo "not ok $count - $words"
        tail -n 20 "$there/log" | sed 's/^/# /'
        failed=$((failed + 1))
    fi
}

# No file but a manual page may have the path of the tree in which it was built.
knows_its_origin() {
    grep -rlF -e "$top" "$1" && return 1
    return 0
}

# Only this tree is on the PATH of an MPI's programs; no variable of ours is set.
use() {
    env -i PATH="$1/bin:/usr/bin:/bin" HOME="$there" "${@:2}"
}

mkdir "$there/unpacked" "$there/another place"
tar -xzf "$file" -C "$there/unpacked"
name=$(ls "$there/unpacked")
claim "all lies in one folder" test -d "$there/unpacked/$name/bin"
claim "no binary needs a glibc newer than 2.28" python3 "$top/tools/old_glibc.py" needs 2.28 "$there/unpacked/$name"
claim "no file knows where it was built" knows_its_origin "$there/unpacked/$name"
mv "$there/unpacked/$name" "$there/another place/mpi"
tree="$there/another place/mpi"
cd "$there"
claim "mpicc compiles, in a path with a blank" use "$tree" mpicc -O2 "$top/examples/ring.c" -o ring
claim "mpiexec runs it" use "$tree" mpiexec -n 4 ./ring
claim "also over tcp, on pretended hosts" use "$tree" mpiexec --pretend-hosts 2 -n 4 ./ring
claim "with files" use "$tree" mpicc -O2 "$top/examples/sort.c" -o sort
claim "which run" use "$tree" mpiexec -n 3 ./sort "$top/examples/words.txt" sorted
if command -v g++ >/dev/null; then
    cp "$top/examples/hello.c" hello.cpp
    claim "mpicxx compiles" use "$tree" mpicxx hello.cpp -o hello
    claim "mpiexec runs that" use "$tree" mpiexec -n 2 ./hello
fi
if command -v gfortran >/dev/null; then
    claim "mpifort makes its modules" use "$tree" mpifort "$top/test/fortran/basic_f08.f90" -o basic
    claim "mpiexec runs that" use "$tree" mpiexec -n 2 ./basic
fi
claim "vireo tells of the channels" use "$tree" vireo info
claim "a manual page is found" use "$tree" man -M "$tree/share/man" -w MPI_Send

# inside SUITE COMMAND: run it by sh in that Debian
inside() {
    unshare --mount --pid --fork chroot "$there/$1" sh -c "mount -t proc proc /proc && mount -t tmpfs tmpfs /dev/shm && export PATH=/opt/mpi/bin:/usr/bin:/bin:/usr/sbin:/sbin && cd /tmp && $2"
}

for suite; do
    if ! debootstrap --variant=minbase --include=gcc,libc6-dev "$suite" "$there/$suite" >"$there/log" 2>&1; then
        tail -n 5 "$there/log" | sed 's/^/# /'
        claim "$suite can be had" false
        continue
    fi
    mkdir -p "$there/$suite/opt" "$there/$suite/dev/shm"
    tar -xzf "$file" -C "$there/$suite/opt"
    mv "$there/$suite/opt/$name" "$there/$suite/opt/mpi"
    cp "$top/examples/ring.c" "$top/examples/sort.c" "$top/examples/words.txt" "$there/$suite/tmp"
    libc=$(inside "$suite" "ldd --version | head -n 1" | sed 's/.* //')
    claim "$suite, glibc $libc: mpicc compiles, mpiexec runs" inside "$suite" "mpicc ring.c -o ring && mpiexec -n 4 ./ring"
    claim "$suite: also over tcp" inside "$suite" "mpiexec --pretend-hosts 2 -n 4 ./ring"
    claim "$suite: and with files" inside "$suite" "mpicc sort.c -o sort && mpiexec -n 3 ./sort words.txt sorted"
    claim "$suite: vireo tells of the channels" inside "$suite" "vireo info"
done
echo "1..$count"
[ "$failed" = 0 ]
