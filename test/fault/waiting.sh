# SPDX-License-Identifier: BSD-3-Clause
# What waiting costs, and more ranks than processors. Run as: sh waiting.sh MPIEXEC WORK. For 10 s
# where VIREO_TEST_FULL is set, else for 2.
. "$(dirname "$0")/../bnr/lib.sh"
work=$2
ms=2000
[ -z "${VIREO_TEST_FULL:-}" ] || ms=10000

# On two processors where there are more: 16 ranks outnumber them anyway.
few() {
    if command -v taskset >/dev/null && taskset -c 0,1 true 2>/dev/null; then
        taskset -c 0,1 "$@"
    else
        "$@"
    fi
}

for channels in shm,loopback tcp,loopback ""; do
    for acts in "init block=$ms finalize" "init=3 block=$ms finalize" \
        "init p2p=100 block=$ms finalize"; do
        # shellcheck disable=SC2086
        VIREO_CHANNELS=$channels few timeout 60 "$mpiexec" -n 16 "$work" $acts >out 2>err
        same "16 ranks: $acts (${channels:-all channels})" "$?$(cat err)" 0
        cat out
    done
done

many() {
    few timeout 60 "$mpiexec" -n 64 "$work" init barrier=100 allreduce=20 finalize ||
        fail "64 ranks on 2 processors"
}
in_time 10000 many
echo "ok: 100 barriers and 20 reductions of 64 ranks, with start and end, took $took ms"
begin=$(milliseconds)
VIREO_CHANNELS=tcp,loopback few timeout 60 "$mpiexec" -n 64 "$work" init barrier=100 finalize ||
    fail "64 ranks on 2 processors over tcp"
echo "ok: the barriers over tcp took $(($(milliseconds) - begin)) ms"
