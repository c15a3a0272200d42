# SPDX-License-Identifier: BSD-3-Clause
# Ranks that no channel connects are told so in every call, all of them, at once: where a setting
# leaves the channels out, and where the host has no address at all.
# Run as: sh apart.sh MPIEXEC APART.
. "$(dirname "$0")/../bnr/lib.sh"
apart=$2
calls="recv recv-any probe probe-any iprobe iprobe-any test send ssend both both-long sendrecv
    barrier ibarrier bcast reduce allreduce alltoall gather dup"

# told CHANNELS PREFIX...: each call fails in each rank
told() {
    channels=$1
    shift
    for ranks in 2 3 4; do
        for call in $calls; do
            mkdir meet
            timeout -k 5 20 "$@" "$mpiexec" --set "channels=$channels" -n $ranks "$apart" "$call" \
                meet >"$scratch/out" 2>&1
            same "$call fails in $ranks ranks: $*" $? 0
            same "... without a word" "$(cat "$scratch/out")" ""
            rm -r meet
        done
    done
    mkdir meet
    timeout -k 5 20 "$@" "$mpiexec" --set "channels=$channels" -n 2 "$apart" one-way meet
    rm -r meet
    same "one way: $*" $? 0
}

told loopback env
for call in recv-any barrier dup; do
    timeout -k 5 20 "$mpiexec" --set channels=loopback -n 4 "$apart" $call fatal >"$scratch/out" 2>&1
    same "$call ends the job" $? 16
    holds "... that says why" "$(cat "$scratch/out")" "cannot be reached: loopback: not the same process"
    case $(cat "$scratch/out") in
    *"context is in use"*) fail "... and not another cause" "$(cat "$scratch/out")" ;;
    esac
done
if unshare -rn true 2>/dev/null; then
    told tcp,loopback unshare -rn
else
    echo "skipped: no namespaces here"
fi
