#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# ./bootstrap on machines that are made up: programs that stand for apt-get, dpkg-query, meson and others
# say what they were asked for. usage: bootstrap.sh SOURCE
set -eu
source=$(cd "$1" && pwd -P)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/tree/tools" "$tmp/bin"
cp "$source/bootstrap" "$tmp/tree/"
cp "$source/tools/packages.txt" "$tmp/tree/tools/"
said=$tmp/said
count=0

# same WHAT GOT WANT
same() {
    count=$((count + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $count - $1"
    else
        printf 'not ok %d - %s\n# got:  %s\n# want: %s\n' $count "$1" "$2" "$3"
    fi
}

# has WHAT TEXT PART
has() {
    case $2 in
        *"$3"*) same "$1" yes yes ;;
        *) same "$1" "$2" "... $3 ..." ;;
    esac
}

# stand_in NAME LINES: a program of this name
stand_in() {
    printf '#!/bin/sh\n%s\n' "$2" >"$tmp/bin/$1"
    chmod +x "$tmp/bin/$1"
}

for name in awk bash cat chmod cp cut date dash dirname env grep mkdir mktemp printf pwd rm sed sh sort tail tee touch tr wc; do
    path=$(command -v $name) && [ -x "$path" ] && ln -s "$path" "$tmp/bin/$name"
done
log_it='echo "${0##*/} $*" >>'$said
stand_in id 'echo "${AS:-1000}"'
stand_in dpkg-query 'case " $MISSING " in *" ${4:-$3} "*) exit 1 ;; esac; echo installed'
stand_in apt-get "$log_it; exit \${APT:-0}"
stand_in python3 true
stand_in ninja "$log_it; exit \${NINJA:-0}"
# A tree with one file is installed.
stand_in meson "$log_it"'
case $1 in
    setup)
        [ "$2" != --reconfigure ] || shift
        mkdir -p "$2" && touch "$2/build.ninja"
        while [ $# -gt 1 ]; do [ "$1" != --prefix ] || echo "$2" >prefix; shift; done ;;
    install) mkdir -p "${DESTDIR:-}$(cat prefix)/bin" && echo x >"${DESTDIR:-}$(cat prefix)/bin/mpicc" ;;
esac'
run() {
    : >"$said"
    if (cd "$tmp/tree" && PATH=$tmp/bin sh ./bootstrap "$@") >"$tmp/out" 2>&1; then code=0; else code=$?; fi
}

MISSING="gcc ninja-build" export MISSING
run build
same "without root and sudo it ends" "$code" 1
has "with the packages that root is to install" "$(cat "$tmp/out")" "have root run: apt-get install gcc ninja-build"
stand_in sudo "$log_it; exec \"\$@\""
run build
has "by sudo they are installed" "$(cat "$said")" "apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends gcc ninja-build"
APT=1 export APT
rm -rf "$tmp/tree/build"
run build
same "a failure ends it" "$code" 1
has "and is told" "$(cat "$tmp/out")" "bootstrap: installing gcc ninja-build has failed"
unset APT
MISSING="libcmocka-dev tmux gdb cmake"
run build
same "build needs no package of the tests'" "$code $(grep -c apt-get "$said")" "0 0"
has "nor the tests" "$(grep setup "$said")" "-Dtests=false -Dextras=true"
run build asan
has "their kinds do" "$(cat "$said")" "apt-get -qq -o Dpkg::Use-Pty=0 install -y --no-install-recommends cmake"
MISSING=
run build
run install "$tmp/a place"
same "install configures nothing anew, whatever the prefix" "$code $(grep -c setup "$said")" "0 0"
same "and puts the tree there" "$(cat "$tmp/a place/bin/mpicc")" x
mkdir -p "$tmp/tree/test/cross"
printf '#!/bin/sh\n%s\n' "$log_it" >"$tmp/tree/test/cross/libraries.sh"
chmod +x "$tmp/tree/test/cross/libraries.sh"
MISSING=gcc-s390x-linux-gnu
run test s390x
has "another machine needs its compiler" "$(cat "$said")" "install -y --no-install-recommends gcc-s390x-linux-gnu"
has "and its libraries" "$(cat "$said")" "libraries.sh s390x build-s390x/other"
has "for which the tree is configured" "$(grep setup "$said")" "--cross-file $tmp/tree/build-s390x/other/machine.ini"
MISSING=
NINJA=1 export NINJA
run build
same "a build that fails ends it" "$code" 1
has "and names the log" "$(cat "$tmp/out")" "all of it is in $tmp/tree/build/bootstrap.log"
echo "1..$count"
