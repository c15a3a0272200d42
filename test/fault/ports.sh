# SPDX-License-Identifier: BSD-3-Clause
# Ranks that share memory do not listen at all, until one of them finds that it cannot reach another so.
# Others on one host listen on its loopback address alone; on several hosts, here pretended ones, all
# listen.
# Run as: sh ports.sh MPIEXEC WORK DOORS FIFO.so
. "$(dirname "$0")/../bnr/lib.sh"
work=$2
doors=$3
fifo=$(realpath "$4")

greeted() {
    [ "$(grep -c '^rank' out)" = 4 ]
}

# listens ARGUMENT...: the addresses that the ranks of a job listen on while they run, one a line
listens() {
    : >out
    # shellcheck disable=SC2016
    run -n 4 "$@" sh -c 'echo $$ >pid.$BNR_RANK; exec "$0" init hello ring barrier=3 seen=40 finalize' \
        "$work" >out 2>&1 &
    job=$!
    soon greeted
    for pid in $(cat pid.*); do
        for fd in /proc/"$pid"/fd/*; do
            inode=$(readlink "$fd" | sed -n 's/^socket:\[\([0-9]*\)\]$/\1/p')
            [ -z "$inode" ] || awk -v i="$inode" '$4 == "0A" && $10 == i { print $2 }' \
                /proc/net/tcp /proc/net/tcp6 | sed 's/:.*//'
        done
    done >addresses
    : >seen
    wait $job || fail "the job runs: $*" "$(cat out)"
    rm -f pid.* seen
}

# counts CLAIM WANTED ARGUMENT...: what the ranks of a job count
counts() {
    claim=$1
    wanted=$2
    shift 2
    same "$claim" "$(run "$@" 2>&1)" "$wanted"
}

listens
same "on one host, not at all" "$(wc -l <addresses)" 0
listens --set channels=tcp,loopback
same "without shared memory, too" "$(sort -u addresses) $(wc -l <addresses)" \
    "0100007F 4"
listens --pretend-hosts 2
same "on two hosts, all of them" "$(wc -l <addresses)" 4

counts "messages through shared memory open nothing" "first 0 then 0 elsewhere 0" -n 3 "$doors"
# The one that lacks shared memory listens, and the others call it.
counts "one without shared memory is reached, and reaches all" "first 1 then 1 elsewhere 0" \
    -n 1 -env VIREO_CHANNELS tcp,loopback "$doors" : -n 3 "$doors"
counts "so is the last one" "first 1 then 1 elsewhere 0" \
    -n 3 "$doors" : -n 1 -env VIREO_CHANNELS tcp,loopback "$doors"
# Each calls a peer that does not listen, and may be called by one at the same time: of any two one
# listens in the end.
for ranks in 2 5; do
    run -n $ranks "$doors" unshared >out 2>err
    same "shared memory that cannot be mapped gives way, $ranks ranks" \
        "$(sed "s/then \($ranks\|$((ranks - 1))\) /then enough /" out)" \
        "first 0 then enough elsewhere 0"
done
# One rank cannot map the memory of the others, who map its memory: it refuses their links.
for others in 1 2; do
    run -n 1 "$doors" unshared : -n $others "$doors" >out 2>err
    same "so does that which one alone cannot map, $others others" \
        "$(sed 's/then [123] /then enough /' out)" "first 0 then enough elsewhere 0"
done
counts "a rank alone opens nothing" "first 0 then 0 elsewhere 0" -n 1 "$doors"

# A rank's card changes twice: it gets a channel, and a port.
for when in before after tool apart; do
    run --report -n 3 "$doors" unshared "$fifo" $when >out 2>err ||
        fail "a channel and a port come late, $when" "$(cat err)"
    grep -Eq ' fifo |fifo: would do' err || fail "$when: those who have the channel know it" "$(cat err)"
    holds "a channel and a port come late, $when: the rank without the channel is reached" \
        "$(tr -s ' ' <err)" " tcp "
    same "and listens late" "$(sed 's/then [123] /then enough /' out)" \
        "first 0 then enough elsewhere 0"
done
