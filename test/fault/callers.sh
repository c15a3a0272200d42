# SPDX-License-Identifier: BSD-3-Clause
# Processes that cannot accept all who call them over tcp: they call, or the job ends with a sentence, and does not hang.
# Run as: sh callers.sh MPIEXEC CALLERS DENY
. "$(dirname "$0")/../bnr/lib.sh"
callers=$2 deny=$3
export VIREO_CHANNELS=tcp,loopback VIREO_TCP_ADDRESSES=127.0.0.1

# job CLAIM STATUS SHELL...: twelve ranks begin by the shell's words; STATUS: 0, or anything that is no hang
job() {
    claim=$1 wanted=$2 begin=$3
    status=0
    timeout -k 5 40 "$mpiexec" -n 12 sh -c "$begin"' exec "$0"' "$callers" >out 2>err || status=$?
    if [ "$wanted" = 0 ]; then
        same "$claim" $status 0
    elif [ $status = 0 ] || [ $status = 124 ]; then
        fail "$claim: status $status"
    fi
}

job "a rank has too few descriptors for those who call it" error '[ "$BNR_RANK" != 0 ] || ulimit -n 14;'
holds "and the cure is named" "$(cat err)" "ulimit -n"
if "$deny" accept4=ENOSYS -- true; then
    job "accept4 is unknown" 0 "[ \"\$BNR_RANK\" != 0 ] || exec '$deny' accept4=ENOSYS -- \"\$0\";"
    job "a rank can accept nobody: it calls" 0 "[ \"\$BNR_RANK\" != 0 ] || exec '$deny' accept4=EPERM accept=EPERM -- \"\$0\";"
    job "nor can those whom it calls" error "exec '$deny' accept4=EPERM accept=EPERM -- \"\$0\";"
    same "by one error" "$(grep -c "no channel leads" err)" 1
    holds "and the cure is named" "$(cat err)" "must allow accept4"
else
    echo "skipped: seccomp is not allowed here"
fi
