# SPDX-License-Identifier: BSD-3-Clause
# What a user sends to mpiexec, and what the ranks get of it.
. "$(dirname "$0")/lib.sh"

# Start mpiexec with signals as a terminal's shell would leave them; a shell without job
# control starts its background with SIGINT ignored.
cat >begin.py <<'P'
import os, signal, sys
for s in (signal.SIGINT, signal.SIGQUIT):
    signal.signal(s, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
P
begin() {
    : >out # what the last job said is not to be taken for this one's
    timeout -k 5 60 python3 begin.py "$mpiexec" "$@" >out 2>err &
    outer=$!
    soon has $ranks ready
    job=
    for i in $(seq 1 100); do # the kernel may leave a child out while others come and go
        job=$(cat "/proc/$outer/task/$outer/children" 2>/dev/null | tr -d ' ')
        [ "$job" ] && break
        sleep 0.01
    done
}
ranks=2

# has N WORD: whether so many lines of the output hold it
has() {
    [ "$(grep -c "$2" out)" -ge "$1" ]
}

cat >rank.sh <<'S'
trap 'echo "got INT"; [ "$1" = die ] && { trap - INT; kill -INT $$; }' INT
trap 'echo "got USR1"' USR1
trap 'echo "got XCPU"' XCPU
trap 'echo "got TERM"; [ "$1" = deaf ] || exit 0' TERM
echo ready
i=0
while [ $i -lt 2000 ]; do sleep 0.01; i=$((i + 1)); done
S

begin -n 2 sh rank.sh die
kill -INT "$job"
wait "$outer"
same "ranks that die of SIGINT give 130" $? 130
same "each got it once, and nothing else" "$(sort out | uniq -c | tr -s ' ')" \
" 2 got INT
 2 ready"
same "without a word" "$(cat err)" ""

begin -n 2 sh rank.sh deaf
kill -USR1 "$job"; soon has 2 "got USR1"
kill -XCPU "$job"; soon has 2 "got XCPU"
kill -INT "$job"; soon has 2 "got INT"
kill -INT "$job"; soon has 2 "got TERM"
kill -INT "$job"
wait "$outer"
same "INT, then TERM, then KILL" $? 130
same "in this order" "$(sort out | uniq -c | tr -s ' ')" \
" 2 got INT
 2 got TERM
 2 got USR1
 2 got XCPU
 2 ready"

begin -n 2 sh rank.sh
kill -TERM "$job"
wait "$outer"
same "ranks that end well at SIGTERM" $? 0
begin -n 2 sleep 20 : -n 2 echo ready
kill -TERM "$job"
wait "$outer"
same "ranks that die of SIGTERM" $? 143
begin --set leave_limit_ms=700 -n 2 sh rank.sh deaf
kill -HUP "$job"
wait "$outer"
same "deaf ranks at SIGHUP" $? 129
holds "are killed with a line" "$(cat err)" "mpiexec: ranks 0-1 did not end within 0.7"
holds "that names the signal" "$(cat err)" " s after SIGHUP, and are killed"
begin -n 2 sh rank.sh deaf
kill -TERM "$job"
soon has 2 "got TERM"
sleep 1.5
[ -d "/proc/$job" ] || fail "ranks that were asked to leave have more than a second" "$(cat err)"
kill -TERM "$job"
wait "$outer"
same "a second SIGTERM hurries" $? 143
holds "and ends in a line, too" "$(cat err)" " s after SIGTERM, and are killed"

begin -n 2 sleep 20 : -n 2 echo ready
# is STATE PID
is() {
    [ "$(sed 's/.*) //; s/ .*//' "/proc/$2/stat")" = "$1" ]
}
kill -TSTP "$job"
soon is T "$job"
echo "ok: mpiexec stops"
rank=$(tr ' ' '\n' <"/proc/$job/task/$job/children" | sed -n 3p) # after two wardens
soon is T "$rank"
echo "ok: and its ranks"
kill -CONT "$job"
soon is S "$job"
soon is S "$rank"
echo "ok: SIGCONT lets them go on"
kill -TERM "$job"
wait "$outer"
same "and end as before" $? 143

# A program under a shell has its grace, although the signal ends the shell at once.
cat >slow.py <<'P'
import os, signal, sys, time
def end(*_):
    time.sleep(float(sys.argv[1]) if sys.argv[1:] else 0.5)
    print("in good order", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
signal.signal(signal.SIGINT, signal.SIG_IGN)
print("ready", flush=True)
time.sleep(20)
P
begin -n 2 sh -c 'python3 slow.py; true'
kill -TERM "$job"
wait "$outer"
same "the status of shells that died of SIGTERM" $? 143
same "what they ran has had its grace" "$(grep -c 'in good order' out)" 2

begin -n 2 python3 slow.py 1.6
kill -TERM "$job"
wait "$outer"
same "a checkpoint at SIGTERM may take longer than a second" "$?$(grep -c 'in good order' out)$(cat err)" 02

begin -n 2 python3 slow.py
kill -INT "$job"
soon grep -q "waiting for ranks 0-1 to end after SIGINT; send it again" err
echo "ok: what ignores SIGINT is named, with what to do"
kill -INT "$job"
wait "$outer"
same "a second one ends them" "$?$(grep -c 'in good order' out)" 02

# A signal that mpiexec was started to ignore is ignored in the ranks.
same "an ignored SIGQUIT stays ignored" "$(timeout 20 sh -c 'trap "" QUIT HUP; exec "$@"' sh \
    "$mpiexec" -n 1 grep SigIgn /proc/self/status | tr -d ':[:alpha:][:space:]')" \
    0000000000000005

# Batch systems start programs with signals blocked. mpiexec and daemons hear theirs all the same, and
# ranks have the mask, and the ignored signals, that mpiexec was given, on other hosts too.
cat >blocked.py <<'P'
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
signal.signal(signal.SIGHUP, signal.SIG_IGN)
os.execvp(sys.argv[1], sys.argv[1:])
P
blocked() {
    timeout -k 1 20 python3 blocked.py "$@"
}
printf '#!/bin/sh\nshift\nexec python3 %s/blocked.py "$@"\n' "$scratch" >far
chmod +x far
wanted=$(blocked grep -E 'SigBlk|SigIgn' /proc/self/status)
wanted=$(printf '%s\n' "$wanted" "$wanted" | sort)
for hosts in 1 2; do
    set --
    [ $hosts = 1 ] || set -- --launcher-cmd "$scratch/far %h" -host localhost:1,elsewhere:1
    out=$(blocked "$mpiexec" "$@" -n 2 grep -E 'SigBlk|SigIgn' /proc/self/status)
    same "a job ends although SIGCHLD was blocked, and blocks what mpiexec blocked: $hosts hosts" \
        "$?
$(printf '%s\n' "$out" | sort)" "0
$wanted"
done

# What stops processes: nothing that mpiexec waits for may stand still for ever.
begin -n 2 sleep 20 : -n 2 echo ready
warden=$(tr ' ' '\n' <"/proc/$job/task/$job/children" | sed -n 1p)
kill -STOP "$warden"
soon is T "$warden"
kill -TERM "$job"
wait "$outer"
same "a warden that was stopped does not hold mpiexec's end up" $? 143

printf '#!/bin/sh\nshift\ntouch came\nsleep 0.7\nexec "$@"\n' >late
rm -f came
timeout -k 1 30 python3 begin.py "$mpiexec" --set launch_limit_ms=2500 --launcher-cmd "sh $scratch/late %h" \
    -host localhost:1,elsewhere:1 -n 2 echo ready >out 2>err &
outer=$!
soon test -e came
job=$(tr -d ' ' <"/proc/$outer/task/$outer/children")
kill -TSTP "$job"
soon is T "$job"
sleep 2
kill -CONT "$job"
wait "$outer"
same "mpiexec stops while it starts daemons, and goes on" "$?$(grep -c ready out)$(cat err)" 02

if unshare -rpf --mount-proc --kill-child true 2>/dev/null; then
    cat >first.sh <<'S'
for i in 1 2 3 4 5 6 7 8 9 10; do echo "$i"; sleep 0.1; done
S
    timeout -k 1 20 unshare -rpf --mount-proc --kill-child python3 begin.py "$mpiexec" -n 1 sh first.sh \
        >out 2>err &
    outer=$!
    soon has 1 1
    inner=$(tr -d ' ' <"/proc/$outer/task/$outer/children")
    job=$(tr -d ' ' <"/proc/$inner/task/$inner/children")
    kill -TSTP "$job"
    wait "$outer"
    same "as process 1 it goes on, and its ranks" "$?$(wc -l <out)" 010
    holds "and says so" "$(cat err)" "cannot be stopped"
fi
