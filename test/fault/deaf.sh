# SPDX-License-Identifier: BSD-3-Clause
# Where a descriptor to be woken by cannot be had, it is said once, and waiting is neither late nor
# costly. Run as: sh deaf.sh MPIEXEC LATE DENY
. "$(dirname "$0")/../bnr/lib.sh"
late=$2 deny=$3
export VIREO_SPIN_US=0 VIREO_YIELDS=0
if ! "$deny" eventfd2=EPERM -- true; then
    echo "skipped: seccomp is not allowed here"
    exit 77
fi

# wakes CLAIM LINES ARGUMENT...: of mpiexec. On a machine that does other things too, one of three
# times counts.
wakes() {
    claim=$1 lines=$2
    shift 2
    for attempt in 1 2 3; do
        run "$@" >out 2>err
        status=$?
        cat out
        [ $status != 0 ] || break
    done
    same "$claim" "$status" 0
    same "... and it is said once" "$(grep -c "looks every millisecond" err)" "$lines"
    [ "$(wc -l <err)" = "$lines" ] || fail "... and nothing else" "$(cat err)"
}

# Rank 2 uses tcp, so that the others sleep on descriptors.
tcp="env VIREO_CHANNELS=tcp,loopback"
# shellcheck disable=SC2086
{
    wakes "with all" 0 -n 2 "$late" peers : -n 1 $tcp "$late" peers
    wakes "a sleeper without a socket" 1 -n 1 "$deny" socket_unix=EPERM -- "$late" peers : \
        -n 1 "$late" peers : -n 1 $tcp "$late" peers
    wakes "a sender without a socket" 1 -n 1 "$late" peers : \
        -n 1 "$deny" socket_unix=EPERM -- "$late" peers : -n 1 $tcp "$late" peers
    wakes "threads without an eventfd" 1 -n 1 $tcp "$deny" eventfd2=EPERM -- "$late" threads
}
