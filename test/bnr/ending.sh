# SPDX-License-Identifier: BSD-3-Clause
# How jobs end, and what mpiexec exits with and says.
. "$(dirname "$0")/lib.sh"
probe=$2

# ends CLAIM STATUS PART ARGUMENT...: one line on stderr that holds PART
ends() {
    claim=$1 status=$2 part=$3
    shift 3
    in_time 2500 ends_so "$@"
}

ends_so() {
    run "$@" >out 2>err
    same "$claim" $? "$status"
    [ -z "$part" ] || holds "it is said" "$(cat err)" "$part"
    same "in one line at most" "$(($(wc -l <err) > 1))" 0
}

ends "all well" 0 "" -n 4 "$probe" init fences=2 finalize
ends "a rank's exit code" 3 "rank 0 on " -n 3 "$probe" init exit=3 sleep=20000
ends "a killed rank" 137 "killed by signal 9 (Killed)" -n 4 "$probe" init die=2 sleep=20000
ends "a stubborn peer of a killed rank" 137 "rank 1 on" -n 2 "$probe" init stubborn die=1 sleep=20000
ends "an abort" 5 "aborted with code 5: the probe has had enough" -n 3 "$probe" init abort=5 sleep=20000
ends "an abort with the code of a success" 1 "aborted with code 0: the probe" -n 3 "$probe" init \
    abort=0 sleep=20000
ends "an abort with a code beyond 8 bits" 1 "aborted with code 512: the probe" -n 1 "$probe" init \
    abort=512
ends "an abort under a wrapper" 6 "aborted with code 6" -n 2 sh -c "'$probe' init abort=6; sleep 20"
ends "leaving without finalizing" 1 "rank 1 on" -n 2 sh -c \
    "if [ \$BNR_RANK = 1 ]; then '$probe' init; else sleep 20; fi"
run -disable-auto-cleanup -n 3 sh -c \
    '[ $BNR_RANK != 0 ] || { touch gone; exit 3; }
    until [ -e gone ]; do sleep 0.02; done
    sleep 0.4; [ $BNR_RANK != 1 ] || exit 4; touch went.on' 2>err
same "the first failure's code, also where the job goes on" $? 3
[ -e went.on ] || fail "the others go on"
same "each failure is told" "$(grep -c 'exited with code [34]$' err)$(wc -l <err)" 22
ends "an abort ends a job that goes on" 5 "aborted with code 5" -disable-auto-cleanup -n 3 \
    "$probe" init abort=5 sleep=20000

ends "no such program" 127 "there is no program 'nosuch'" -n 2 nosuch
ends "a file that cannot be executed" 126 "is not executable" -n 2 /etc/passwd
ends "a folder" 126 "is a folder" -n 2 /etc
ends "this folder" 126 "'.' on" -n 2 .
ends "an empty name" 127 "is empty; check the quotes" -n 2 ""
ends "an empty name before others" 127 "is empty; check the quotes" -n 2 "" : true
printf 'true\n' >noexec
ends "a script without the permission" 126 "chmod +x may help" -n 2 ./noexec
ends "a program that is nowhere in PATH" 127 "is in no folder of PATH" -n 2 noexec
ln -s nowhere link
ends "a link to nothing" 127 "leads to no file" -n 2 ./link
ends "one of two programs is missing: none starts" 127 "" -n 1 sh -c 'echo started' : -n 1 ./none
same "indeed none" "$(cat out)" ""
printf '#!/no/such/shell\n' >bad && chmod +x bad
ends "a script without its interpreter" 127 \
    "cannot start rank 0 (./bad) on $(hostname): its interpreter '/no/such/shell' is not there" \
    -n 2 ./bad
ends "also after others have started" 127 "cannot start rank 1 (./bad)" -n 1 sleep 20 : ./bad
: >nothing && chmod +x nothing
ends "an empty file" 126 "the file is empty" -n 2 ./nothing
ends "a time limit" 124 "still running on" -n 2 --timeout 0.3 sleep 20
printf 'exit 9\n' >plain && chmod +x plain
ends "a script that names no interpreter" 9 "exited with code 9" -n 1 ./plain
mkdir sub && printf '#!/bin/sh\npwd\n' >sub/where && chmod +x sub/where
same "the working folder holds for the program's path" "$(run -n 1 -wdir sub ./where)" "$(pwd)/sub"
ends "no such working folder" 2 "cannot enter" -n 1 -wdir none true

same "output before an abort is out" \
    "$(run -n 1 sh -c "i=0; while [ \$i -lt 20000 ]; do echo 0123456789; i=\$((i+1)); done
       exec '$probe' init abort=4" 2>/dev/null | wc -c)" 220000
wrong=0
for i in $(seq 1 50); do
    run -n 10 sh -c 'exit 3' 2>/dev/null
    [ $? = 3 ] || wrong=$((wrong + 1))
done
same "exit 3 gives 3 each time" $wrong 0
same "descriptors of the job stay above those of scripts" \
    "$(run -n 1 sh -c 'for n in 3 4 5 6 7 8; do [ -e /proc/$$/fd/$n ] && echo $n; done; true')" ""

# The first failure decides, also where mpiexec hears of several at once.
cat >turns.sh <<'S'
echo $$ >new.$BNR_RANK && mv new.$BNR_RANK pid.$BNR_RANK
next=pid.$((BNR_RANK + 1))
until [ -e stopped ] && { [ $BNR_RANK = 3 ] || grep -q '^State:.Z' "/proc/$(cat $next)/status"; }; do
    sleep 0.01
done
exit $((BNR_RANK + 1))
S
timeout -k 5 60 "$mpiexec" -n 4 sh turns.sh 2>err &
outer=$!
for rank in 0 1 2 3; do soon [ -e pid.$rank ]; done
job=$(tr -d ' ' <"/proc/$outer/task/$outer/children")
kill -STOP "$job"
touch stopped # each rank ends once the next one has
soon grep -q '^State:.Z' "/proc/$(cat pid.0)/status"
kill -CONT "$job"
wait "$outer"
same "the first of several failures, not the lowest rank" $? 4

# Children that mpiexec had before it became mpiexec are not the job's.
cat >tee.sh <<'S'
exec > >(cat >all; echo done >>all)
exec "$@"
S
timeout 20 bash tee.sh "$mpiexec" -n 2 sh -c 'echo output'
same "mpiexec in the place of a shell with a child" $? 0
soon grep -q done all
same "all output has come through the child" "$(grep -c output all)" 2

# A reader that does not read cannot keep a job whose time is up.
mkfifo pipe
sleep 30 <pipe &
reader=$!
timeout -k 5 20 "$mpiexec" -n 1 --timeout 1 yes 2>err >pipe
same "--timeout bounds output that nobody reads" $? 124
kill "$reader"
wait "$reader" 2>/dev/null || :

# A shell that calls exec leaves its children to mpiexec: however many there are, they are not the
# job's, and what the job leaves behind is found among them.
cat >many.py <<'P'
import os, sys, time
pids = []
for _ in range(1100):
    pid = os.fork()
    if not pid:
        time.sleep(40)
        os._exit(0)
    pids.append(pid)
print(*pids, file=open("earlier", "w"))
os.execv(sys.argv[1], sys.argv[1:])
P
timeout -k 5 60 python3 many.py "$mpiexec" -n 1 sh -c \
    'setsid sh -c "echo \$\$ >left; exec sleep 40" >/dev/null 2>&1 </dev/null & until [ -s left ]; do sleep 0.02; done'
same "a job beside many other children ends well" $? 0
kill -0 "$(cat left)" 2>/dev/null && fail "what it has left behind is ended"
echo "ok: what it has left behind is ended"
alive=0
for pid in $(cat earlier); do
    kill "$pid" 2>/dev/null && alive=$((alive + 1))
done
same "and the others are not" "$alive" 1100

# A zombie whose parent has left the rank's group keeps that group, and no job.
cat >zombie.py <<'P'
import os, signal, time
if not os.fork():
    if not os.fork():
        os._exit(0)
    time.sleep(0.1)
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open("ready", "w").close()
    time.sleep(40)
time.sleep(40)
P
ends "a zombie of a rank's group" 3 "exited with code 3" -n 2 sh -c \
    '[ $BNR_RANK = 0 ] && exec python3 zombie.py; until [ -e ready ]; do sleep 0.02; done; exit 3'
