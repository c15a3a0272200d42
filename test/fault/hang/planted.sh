# SPDX-License-Identifier: BSD-3-Clause
# Planted deadlocks: sourced behind ../../bnr/lib.sh by scripts that set $deadlock, the program.

# planted NAME CULPRITS PART...: the report at the end of the time names them, and holds every part. Runs
# beside others, in a folder NAME of its own; settle before that is looked at, and at the end. options
# are for mpiexec.
BESIDE=3
options=
beside=
planted() {
    [ ! -d "$1" ] || settle
    mkdir -p "$1"
    (cd "$1" && plant "$@") &
    beside="$beside $!"
    while [ $(echo $beside | wc -w) -ge $BESIDE ]; do
        settle_one $beside
    done
}

settle_one() {
    wait "$1" || { wait; exit 1; }
    shift
    beside=$*
}

settle() {
    while [ "$beside" ]; do
        settle_one $beside
    done
}

# Where the ranks may not all have come so far in a second, they get more time.
plant() {
    name=$1 culprits=$2
    shift 2
    for limit in 1 5 20; do
        run --timeout $limit $options -n 4 "$deadlock" "$name" >out 2>err
        same "$name: the time limit ends it" $? 124
        [ $limit = 20 ] || (is_so "$@") || continue
        break
    done
    is_so "$@" || exit 1
    echo "ok: $name"
}

is_so() {
    expect "$name: the culprits" "$(sed -n 's/^Culprits*: //p' err)" "$culprits" || return 1
    expect "$name: no line is too long" "$(awk 'length > 100' err)" "" || return 1
    unwrapped
    for part in "$@"; do
        case $(cat whole) in
        *"$part"*) ;;
        *) echo "$name: not said: $part" && cat whole && return 1 ;;
        esac
    done
}

expect() {
    [ "$2" = "$3" ] || { echo "$1 are '$2', not '$3'" && cat err && return 1; }
}

# Put the lines of err together that were wrapped: those that begin with many blanks.
unwrapped() {
    sed -e ':a' -e 'N' -e '$!ba' -e 's/\n      *\( [^ ]\)/\1/g' err >whole
}
