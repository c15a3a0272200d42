# SPDX-License-Identifier: BSD-3-Clause
# Streams and exit codes of MPI programs. Run as: sh streams_mpi.sh MPIEXEC WORK. In full (100 MB,
# 10^6 lines, 500 ends) where VIREO_TEST_FULL is set.
. "$(dirname "$0")/lib.sh"
work=$2
if [ "${VIREO_TEST_FULL:-}" ]; then
    megabytes=100 lines=62500 ends=500
else
    megabytes=20 lines=6250 ends=50
fi

head -c ${megabytes}000000 /dev/urandom >big
wanted=$("$work" init drink=0 finalize <big) # alone, and straight from the file
holds "a program alone reads its stdin" "$wanted" "${megabytes}000000 "
same "$megabytes MB from a pipe reach a slow rank 0" \
    "$(cat big | run -n 4 "$work" init drink=20 barrier finalize)" "$wanted"
same "$megabytes MB from a file do, while others communicate" \
    "$(run -n 4 "$work" init drink=20 p2p=200 colls=200 finalize <big)" "$wanted"

begin=$(milliseconds)
run -l -n 16 "$work" init barrier lines=$lines barrier finalize >out || fail "16 ranks write lines"
took=$(($(milliseconds) - begin))
same "$((16 * lines)) labelled lines from 16 ranks, each whole and in its rank's order" "$(awk '
    $1 != "[" $3 "]" || NF != 6 || $5 != next_line[$3]++ || $6 != "abcdefghijklmnopqrstuvwxyz" {
        bad++ }
    END { print NR, bad + 0 }' out)" "$((16 * lines)) 0"
echo "ok: they took $took ms"

# Rank 0 leaves in the midst of the others' barriers, messages, and before them.
for how in "init barrier exit=3 barrier=1000000" "init barrier exit=3 p2p=60000" "init exit=3 finalize" \
    "exit=3 init barrier finalize"; do
    for channels in shm,loopback tcp,loopback; do
        wrong=0
        # shellcheck disable=SC2086
        for i in $(seq 1 $((ends / 8 + 1))); do
            VIREO_CHANNELS=$channels run -n 8 "$work" $how >out 2>err
            [ $? = 3 ] && [ "$(wc -l <err)" = 1 ] || { wrong=$((wrong + 1)); cat err; }
        done
        same "_exit(3) gives 3 each time, and one line: $how ($channels)" $wrong 0
    done
done
