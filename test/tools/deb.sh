#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Debian packages of this tree: they are installed in a Debian that has nothing more, used, and removed.
#
#     deb.sh FOLDER
#
# FOLDER holds the packages, as ./bootstrap deb makes them; lintian looks at them first, if it is installed. By root, for
# the Debian is made by debootstrap, in a temporary folder, and what runs there has its own mounts and processes. It takes
# a few minutes.
set -eu
folder=$(cd "${1:?usage: deb.sh FOLDER}" && pwd)
top=$(cd "$(dirname "$0")/../.." && pwd)
command -v debootstrap >/dev/null || { echo "debootstrap is missing: apt-get install debootstrap"; exit 1; }
there=$(mktemp -d)
chmod 755 "$there"
trap 'rm -rf --one-file-system "$there"' EXIT
failed=0

ok() {
    echo "ok: $*"
}

not_so() {
    echo "not so: $*"
    failed=$((failed + 1))
}

# inside COMMAND: run it by sh in that Debian
inside() {
    unshare --mount --pid --fork chroot "$there" sh -c "mount -t proc proc /proc && mount -t tmpfs tmpfs /dev/shm && $1" </dev/null
}

# claim WORDS COMMAND: it does what it should
claim() {
    if inside "$2" >"$there.log" 2>&1; then
        ok "$1"
    else
        not_so "$1"
        tail -n 20 "$there.log"
    fi
    rm -f "$there.log"
}

apt() {
    echo "DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 $*"
}

# All files but those that any installation changes.
files() {
    (cd "$there" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./tmp -o -path ./var/cache -o -path ./var/log \
        -o -path ./var/lib/dpkg -o -path ./var/lib/apt -o -path ./root -o -name ld.so.cache \) -prune -o -print | sort)
}

# What Debian's own rules say of the packages: no error, no warning.
rules() {
    command -v lintian >/dev/null || { echo "left out: there is no lintian"; return; }
    if lintian --allow-root --fail-on error,warning --tag-display-limit 0 "$folder"/*.changes >"$there.log" 2>&1; then
        ok "lintian has nothing to say"
    else
        not_so "lintian has nothing to say"
        cat "$there.log"
    fi
    rm -f "$there.log"
}

rules
debootstrap --variant=minbase bookworm "$there" >/dev/null
mkdir -p "$there/packages" "$there/dev/shm"
cp "$folder"/*.deb "$there/packages"
cp "$top"/examples/ring.c "$top"/test/fortran/basic_f08.f90 "$there/tmp"
claim "the compilers are there" "$(apt install -y --no-install-recommends gcc libc6-dev gfortran libfabric1 libhwloc15 libjansson4 libuv1)"
files >"$there/tmp/before"

claim "a launcher and the library install" "$(apt install -y --no-install-recommends /packages/libvireo1_*.deb /packages/vireo_*.deb)"
claim "mpiexec starts programs" "test \"\$(mpiexec -n 3 echo x | wc -l)\" = 3"
claim "the rest installs" "$(apt install -y --no-install-recommends /packages/*.deb)"
claim "mpicc compiles, mpiexec runs" "cd /tmp && mpicc ring.c -o ring && mpiexec -n 4 ./ring"
claim "mpifort makes its modules" "cd /tmp && mpifort basic_f08.f90 -o basic && mpiexec -n 2 ./basic"
claim "a user makes them for himself" \
    "cd /tmp && mkdir -p home && chmod 777 . home && setpriv --reuid 1000 --clear-groups env HOME=/tmp/home mpifort basic_f08.f90 -o basic_user"
claim "vireo tells of the channels" "vireo info | grep -q ofi"
claim "manual pages lie where man seeks them" "ls /usr/share/man/man3/MPI_Send.3* /usr/share/man/man1/mpiexec.1*"
if [ -z "${DEB_TEST_ALONE:-}" ]; then
    claim "Open MPI installs beside it" "$(apt install -y --no-install-recommends openmpi-bin libopenmpi-dev)"
    claim "and goes first, as its priority says" "mpicc --showme:version 2>&1 | grep -q 'Open MPI'"
    claim "until somebody chooses" \
        "update-alternatives --set mpi /usr/bin/mpicc.vireo && update-alternatives --set mpirun /usr/bin/mpirun.vireo && cd /tmp && mpicc ring.c -o ring && mpirun -n 2 ./ring"
    claim "Open MPI goes again" "$(apt purge -y --autoremove openmpi-bin libopenmpi-dev)"
    claim "and this one is left" "cd /tmp && mpicc ring.c -o ring && mpiexec -n 2 ./ring"
fi
claim "the packages go" "$(apt purge -y 'vireo*' 'libvireo*')"
files >"$there/tmp/after"
left=$(comm -13 "$there/tmp/before" "$there/tmp/after" | grep -i vireo || true)
[ -z "$left" ] && ok "nothing of them is left" || not_so "nothing of them is left: $left"
[ "$failed" = 0 ]
