# SPDX-License-Identifier: BSD-3-Clause
# Where all ranks are on one host they listen on its loopback address alone, whether they share memory
# or not; on several hosts, here pretended ones, all listen.
# Run as: sh ports.sh MPIEXEC WORK.
. "$(dirname "$0")/../bnr/lib.sh"
work=$2

greeted() {
    [ "$(grep -c '^rank' out)" = 4 ]
}

# listens ARGUMENT...: the addresses that the ranks of a job listen on while they run, one a line
listens() {
    : >out
    # shellcheck disable=SC2016
    run -n 4 "$@" sh -c 'echo $$ >pid.$BNR_RANK; exec "$0" init hello ring barrier=3 sleep=1500 finalize' \
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
    wait $job || fail "the job runs: $*" "$(cat out)"
    rm -f pid.*
}

listens
same "on one host, on 127.0.0.1 alone" "$(sort -u addresses)" 0100007F
listens --set channels=tcp,loopback
same "without shared memory, too" "$(sort -u addresses) $(wc -l <addresses)" \
    "0100007F 4"
listens --pretend-hosts 2
same "on two hosts, all of them" "$(wc -l <addresses)" 4
