# SPDX-License-Identifier: BSD-3-Clause
# Faults of the ofi channel. usage: sh ofi.sh MPIEXEC SURVIVORS PROGRAM OTHER_JOB
. "$(dirname "$0")/../../bnr/lib.sh"
survivors=$2 program=$3 other_job=$4
tcp='ofi.provider=tcp;ofi_rxm,ofi.address=127.0.0.1'
export VIREO_TCP_ADDRESSES=127.0.0.1

VIREO_CHANNELS=ofi,loopback VIREO_CHANNEL_PARAMS=ofi.provider=nothing run -n 2 "$program" >out 2>&1 &&
    fail "a provider that is not there cannot be used" "$(cat out)"
holds "the provider that is not there is named" "$(cat out)" "ofi: libfabric has no provider"
VIREO_CHANNELS=ofi,tcp,loopback VIREO_CHANNEL_PARAMS=ofi.provider=nothing \
    run --report -n 2 "$program" >out 2>&1 || fail "another channel serves instead" "$(cat out)"
holds "another channel serves instead" "$(tr -s ' ' <out)" " tcp loopback"
VIREO_CHANNELS=ofi,loopback VIREO_CHANNEL_PARAMS=ofi.provder=tcp run -n 2 "$program" >out 2>&1 &&
    fail "a parameter that there is not is refused" "$(cat out)"
holds "a parameter that there is not is named" "$(cat out)" "which channel ofi does not have"

# Provider sockets stands still where the kernel gives connections little memory: it is refused, and says why.
cat >narrow.sh <<'END'
ip link set lo up && echo 4096 4096 "$1" >/proc/sys/net/ipv4/tcp_rmem || exit 77
shift
exec "$@"
END
if unshare --net --map-root-user sh narrow.sh 4096 true 2>/dev/null; then
    narrow() {
        VIREO_CHANNELS=ofi,loopback VIREO_CHANNEL_PARAMS=ofi.provider=sockets,ofi.address=127.0.0.1 \
            unshare --net --map-root-user --kill-child --fork timeout 60 sh narrow.sh "$1" "$mpiexec" -n 2 "$program" \
            >out 2>&1
    }
    narrow 4096 && fail "provider sockets is refused where connections get little memory" "$(cat out)"
    holds "the memory that connections get is named" "$(cat out)" "net.ipv4.tcp_rmem gives 4096 at most"
    narrow 2097152 || fail "provider sockets works where connections get enough" "$(cat out)"
    echo "ok: provider sockets is refused only where connections get little memory"
fi

# A peer is killed before and amid rendezvous.
for provider in "$tcp" ofi.provider=shm; do
    for call in recv ssend alltoall; do
        for delay in 0 7000; do
            VIREO_CHANNELS=ofi,loopback VIREO_CHANNEL_PARAMS=$provider \
                run --enable-recovery --timeout 50 -n 3 "$survivors" $call 100000 1 $delay >out 2>err
            same "$call, killed after $delay us, over $provider" "$(cat out; grep -v "killed by signal 9" err)" "ok
ok"
        done
    done
done

# Nobody but the fabric tells of the end of a process of another job.
for provider in "$tcp" ofi.provider=shm ofi.provider=sockets,ofi.address=127.0.0.1 \
                "ofi.provider=udp;ofi_rxd,ofi.address=127.0.0.1"; do
    VIREO_CHANNELS=ofi,loopback VIREO_CHANNEL_PARAMS=$provider,ofi.timeout_ms=1000 \
        run --enable-recovery --timeout 50 -n 1 "$other_job" >out 2>err
    same "a process of another job is killed, over $provider" "$(cat out)" heard
done

# Provider shm shares memory under names, which killed processes leave behind.
export VIREO_CHANNELS=ofi,loopback VIREO_CHANNEL_PARAMS=ofi.provider=shm
no_memory_is_left() {
    ! ls -A /dev/shm | grep -q '^vireo-ofi-'
}
soon no_memory_is_left
echo "ok: the survivors remove what a killed process has left"
run -n 1 "$survivors" recv 1 0 0 >out 2>&1 && fail "a job whose only rank is killed fails" "$(cat out)"
run -n 2 "$program" >out 2>&1 || fail "a job after one that was killed" "$(cat out)"
soon no_memory_is_left
echo "ok: where none survives, the next job does"

# The provider's own names are numbers of processes: here, all numbers to come have been used.
cat >used.sh <<'END'
mount -t tmpfs -o mode=1777 none /dev/shm && seq -f /dev/shm/%g:0:0 1 500 | xargs truncate -s 4096 &&
    exec "$@"
END
if unshare --mount --pid --fork --mount-proc --map-root-user true 2>/dev/null; then
    unshare --mount --pid --fork --mount-proc --map-root-user --kill-child \
        timeout 60 sh used.sh "$mpiexec" -n 3 "$program" >out 2>&1 ||
        fail "numbers of processes that were killed are no obstacle" "$(cat out)"
    echo "ok: numbers of processes that were killed are no obstacle"
fi
