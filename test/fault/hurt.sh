# SPDX-License-Identifier: BSD-3-Clause
# Programs that hurt themselves: the job goes on, or ends soon with a sentence that says why.
# Run as: sh hurt.sh MPIEXEC HURT [SANITIZED]
. "$(dirname "$0")/../bnr/lib.sh"
hurt=$2 sanitized=${3:-none}
host=$(uname -n)

# goes_on CLAIM ARGUMENT...: with one warning at most a rank
goes_on() {
    claim=$1
    shift
    run "$@" >out 2>err
    same "$claim" $? 0
    [ "$(grep -cv warning: err)" = 0 ] || fail "... with warnings at most" "$(cat err)"
}

# ends_with STATUS CLAIM PART ARGUMENT...: within 2 s
ends_with() {
    status=$1 claim=$2 part=$3
    shift 3
    in_time 2500 ends_so "$@"
}

ends_so() {
    run "$@" >out 2>err
    same "$claim" $? "$status"
    holds "... which says why" "$(cat err)" "$part"
}

if [ "$sanitized" = none ]; then
    goes_on "a rank without space for its peers' memory uses another channel" -n 3 "$hurt" space
    goes_on "and so do all without space" -n 4 "$hurt" space others
    holds "which is said" "$(cat err)" "cannot be mapped: Cannot allocate memory"
    export VIREO_CHANNELS=shm,loopback
    ends_with 1 "without another channel the job ends" "rank 1 on $host cannot be brought there: \
shm: the peer cannot map this process's memory" -n 2 "$hurt" space
    ends_with 16 "as it does where nobody can map anything" "shm: not used with rank 1, as its \
memory cannot be mapped: Cannot allocate memory" -n 2 "$hurt" space others
    unset VIREO_CHANNELS
else
    echo "skipped: a sanitizer needs more address space than any limit leaves"
fi

for channels in "" shm,loopback tcp,loopback; do
    for how in "0 0" "0 1" "1000 0" "1000 1"; do
        # shellcheck disable=SC2086
        VIREO_CHANNELS=$channels run -n 2 "$hurt" finished $how >out 2>err
        same "sending to who has finalized (${how}, ${channels:-all channels})" \
            "$?$(sort -u out)" 01
        same "... without a word" "$(cat err)" ""
        # shellcheck disable=SC2086
        VIREO_CHANNELS=$channels ends_with 58 "... and the error ends the job" \
            "MPI_Ssend: the other process has ended, or has called MPI_Finalize" \
            -n 2 "$hurt" finished $how fatal
    done
done

for channels in "" tcp,loopback; do
    for threads in "" yes; do
        run -n 3 env "VIREO_CHANNELS=$channels" ${threads:+HURT_THREADS=$threads} "$hurt" fork \
            >out 2>err
        same "forked children that call MPI (${channels:-all channels}${threads:+, threads})" $? 0
        same "... are told that they may not" "$(grep -c ": called in a child process of the one \
that called MPI_Init" err)" 18
    done
done

without_port() {
    VIREO_CHANNELS=tcp,loopback run -n 3 "$hurt" close 0 "$1" 2>err && fail "without a port"
    grep -q -e "closed descriptors that are not its own" \
        -e "1 on $host cannot be reached: .*tcp: nobody answers" err ||
        fail "... and it is said" "$(cat err)"
}

for other in 0 1; do
    VIREO_CHANNELS=shm,loopback goes_on "descriptors that are needed no more are closed ($other)" \
        -n 3 "$hurt" close 1 $other
    for channels in "" shm,loopback; do
        VIREO_CHANNELS=$channels ends_with 1 "those that are needed ($other, ${channels:-all})" \
            "this program has closed descriptors that are not its own" -n 3 "$hurt" close 0 $other
    done
    in_time 2500 without_port $other
    echo "ok: a closed port ends the job, by who notices first ($other)"
    VIREO_CHANNELS=tcp,loopback ends_with 1 "or are in use ($other)" \
        "this program has closed descriptors that are not its own" -n 3 "$hurt" close 1 $other
done
