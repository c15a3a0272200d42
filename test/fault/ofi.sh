# SPDX-License-Identifier: BSD-3-Clause
# Faults of the ofi channel. usage: sh ofi.sh MPIEXEC SURVIVORS PROGRAM
. "$(dirname "$0")/../bnr/lib.sh"
survivors=$2 program=$3
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

# A peer is killed before and amid rendezvous.
for provider in "$tcp" ofi.provider=shm; do
    for call in recv ssend alltoall; do
        for delay in 0 7000; do
            VIREO_CHANNELS=ofi,loopback VIREO_CHANNEL_PARAMS=$provider \
                run --enable-recovery --timeout 50 -n 3 "$survivors" $call 100000 1 $delay >out 2>err
            same "$call, killed after $delay us, over $provider" "$(cat out)" "ok
ok"
        done
    done
done
