# SPDX-License-Identifier: BSD-3-Clause
# What the scripts of this folder share. Each runs as: sh NAME.sh MPIEXEC, in a folder of its
# own that goes with it, and ends at the first claim that does not hold.
set -u
mpiexec=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
unset MPIEXEC_TIMEOUT

# Run mpiexec; never longer than a minute.
run() {
    timeout -k 5 60 "$mpiexec" "$@"
}

fail() {
    echo "not so: $1" >&2
    shift
    [ $# = 0 ] || printf '%s\n' "$@" >&2
    exit 1
}

# same CLAIM GOT WANTED
same() {
    [ "$2" = "$3" ] || fail "$1" "got:    $2" "wanted: $3"
    echo "ok: $1"
}

# holds CLAIM TEXT PART
holds() {
    case $2 in
    *"$3"*) echo "ok: $1" ;;
    *) fail "$1" "got:      $2" "lacks:    $3" ;;
    esac
}

milliseconds() {
    date +%s%3N
}
