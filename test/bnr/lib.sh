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

# Names of ours where memory might have some; not those of tests that may run beside.
litter() {
    ls -A /dev/shm /tmp 2>/dev/null | grep -i -e vireo -e bnr |
        grep -v -e '^vireo-[a-z]*-......$' -e '^vireo-ofi-' | sort
}

milliseconds() {
    date +%s%3N
}

# in_time MS COMMAND...: run a command, which makes claims of its own, until it takes no longer: on
# a machine that does other things too, one of three times counts.
in_time() {
    limit_ms=$1
    shift
    for attempt in 1 2 3; do
        begin=$(milliseconds)
        "$@"
        took=$(($(milliseconds) - begin))
        [ $took -ge "$limit_ms" ] || return 0
        echo "it took $took ms, of $limit_ms"
    done
    fail "it takes less than $limit_ms ms: $*" "$took ms"
}

# soon COMMAND...: wait until it succeeds, but no longer than ten seconds
soon() {
    for attempt in $(seq 1 500); do
        "$@" && return 0
        sleep 0.02
    done
    fail "in time: $*"
}
