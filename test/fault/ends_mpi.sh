# SPDX-License-Identifier: BSD-3-Clause
# How MPI jobs end badly: at once, with the first cause's exit code, and one line that says which
# rank, where and why. Run as: sh ends_mpi.sh MPIEXEC WORK
. "$(dirname "$0")/../bnr/lib.sh"
work=$2
# A sanitizer would turn the signal into an exit code, and complain of what leaving at once leaves.
ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:detect_leaks=0"
export ASAN_OPTIONS
host=$(uname -n)

# ends STATUS PART ACT...: with ranks that go on by ACT...; on each channel
ends() {
    status=$1 part=$2
    shift 2
    for channels in "" shm,loopback tcp,loopback; do
        for go_on in barrier=1000000 p2p=60000 colls=60000 "ring block=60000"; do
            in_time 2500 ends_so "$@"
        done
    done
}

ends_so() {
    # shellcheck disable=SC2086
    VIREO_CHANNELS=$channels run -n 5 "$work" init barrier=2 "$@" $go_on >out 2>err
    same "$* then $go_on (${channels:-all channels})" $? "$status"
    holds "it is said" "$(cat err)" "$part"
    same "in one line" "$(wc -l <err)" 1
    same "with the host" "$(grep -c " on $host " err)" 1
}

ends 137 "rank 2 on $host (pid" die=2
ends 137 "was killed by signal 9 (Killed)" die=0
ends 139 "was killed by signal 11 (Segmentation fault)" crash=1
ends 3 "rank 0 on $host (pid" exit=3
ends 1 "exited without MPI_Finalize" leave=3
ends 7 "aborted with code 7: MPI_Abort(MPI_COMM_WORLD, 7)" abort=7
ends 6 "MPI_Send: rank 8: must be 0 to 4" wrong=2

# A rank that is no MPI program, and ends before and after the others' MPI_Init.
for sleeps in "0 0" "0 200" "200 0"; do
    run -n 2 "$work" "sleep=${sleeps% *}" init barrier finalize : \
        -n 1 sleep "$((${sleeps#* } / 100)).1" >out 2>err
    same "a rank that is no MPI program" $? 1
    holds "it is said" "$(cat err)" "rank "
    holds "and why" "$(cat err)" "exited without MPI_Init"
    same "in one line" "$(wc -l <err)" 1
done
run -n 2 sleep 0.2 : -n 2 true || fail "programs that are none are no failure"
echo "ok: programs that do not use MPI at all are no failure"
