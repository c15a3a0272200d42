# SPDX-License-Identifier: BSD-3-Clause
# What is around ranks: folders of their own, and commands that run them; on this host, and on another
# that stands for one. Run as: sh around.sh MPIEXEC
. "$(dirname "$0")/lib.sh"
export TMPDIR="$scratch/tmp"
mkdir "$TMPDIR"

# on_hosts WORDS: 2 ranks, on the hosts of $hosts
on_hosts() {
    case $hosts in
    1) run -n 2 "$@" ;;
    2) run --launcher-cmd 'env HOST=%h' -host localhost:1,elsewhere:1 "$@" ;;
    esac
}

folders() {
    on_hosts --set-cwd-to-session-dir sh -c 'pwd; ls -A; ls -ld . >&2
        mkdir -p deep/er; ln -s / link; echo x >deep/er/x; chmod 500 deep' >out 2>err
    same "$hosts: ranks start in folders below TMPDIR" \
        "$(sed "s|^$TMPDIR/vireo-[^/]*/||" out | sort | tr '\n' ' ')" "0 1 "
    same "$hosts: which are the user's alone" "$(grep -c '^drwx------' err)" 2
    same "$hosts: and are gone with the job" "$(ls -A "$TMPDIR")" ""
    same "$hosts: a program is found from here" \
        "$(on_hosts --set-cwd-to-session-dir ./prog 2>&1 | sort | tr '\n' ' ')" "prog 0 prog 1 "
    same "$hosts: -wdir comes first" \
        "$(on_hosts --set-cwd-to-session-dir -wdir / pwd 2>&1 | tr '\n' ' ')" "/ / "
    on_hosts --set-cwd-to-session-dir sh -c 'exit 3' 2>err
    same "$hosts: a failure leaves none either" "$? $(ls -A "$TMPDIR")" "3 "
    rm -f out pid
    on_hosts --set-cwd-to-session-dir --report-pid pid sh -c 'pwd; exec sleep 60' >out 2>err &
    job=$!
    soon has_lines 2
    kill -KILL "$(cat pid)"
    wait "$job"
    soon is_empty
    echo "ok: $hosts: killed mpiexec leaves none"
}

has_lines() { [ -e out ] && [ "$(wc -l <out)" = "$1" ]; }
is_empty() { [ -z "$(ls -A "$TMPDIR")" ]; }

agents() {
    same "$hosts: a command runs the programs" \
        "$(on_hosts --rtos exec-agent=./agent sh -c 'echo "$1" $BNR_RANK' own word 2>&1 | sort)" \
        "agent: $(command -v sh) -c
agent: $(command -v sh) -c
word 0
word 1"
    same "$hosts: it has words of its own, and is sought in PATH" \
        "$(on_hosts --exec-agent 'env  A=1' sh -c 'echo $A' 2>&1 | tr '\n' ' ')" "1 1 "
    same "$hosts: that of Open MPI's parameter, too" \
        "$(on_hosts --mca orte_fork_agent 'env A=2 B=3' sh -c 'echo $A$B' 2>&1 | tr '\n' ' ')" "23 23 "
    on_hosts --exec-agent no-such-agent true 2>err
    same "$hosts: one that is not there is an error" "$?" 127
    holds "$hosts: which names it" "$(cat err)" "no-such-agent"
}

# keepalive: the job ends with the process that holds the other end of a pipe
keepalive() {
    mkfifo "keep$hosts"
    : >out
    on_hosts --keepalive 9 sh -c 'trap "echo ended; exit 7" TERM; echo here; while :; do sleep 0.1; done' \
        >out 2>err 9<"keep$hosts" &
    job=$!
    exec 8>"keep$hosts"
    soon grep -q here out
    echo word >&8
    sleep 0.3
    kill -0 "$job" || fail "$hosts: what comes by the pipe ends nothing"
    exec 8>&-
    wait "$job"
    same "$hosts: the end of --keepalive's pipe is like SIGTERM" "$?" 7
    same "$hosts: the ranks are told" "$(grep -c ended out)" 2
    on_hosts --keepalive 9 true 2>err 9<prog
    same "$hosts: a file has no end that can be waited for" "$?" 2
    holds "$hosts: which is told" "$(cat err)" "'--keepalive 9' has no end to wait for"
}

printf '#!/bin/sh\necho prog $BNR_RANK\n' >prog
printf '#!/bin/sh\necho "agent: $1 $2"\nexec "$@"\n' >agent
chmod +x prog agent
for hosts in 1 2; do
    folders
    agents
    keepalive
done
mkdir bin
printf '#!/bin/sh\necho "$@"\n' >bin/totalview
chmod +x bin/totalview
same "-tv runs mpiexec under TotalView" "$(PATH=$PWD/bin:$PATH run -n 2 -tv prog -tv)" \
    "$(readlink -f "$mpiexec") -a -n 2 prog -tv"
if ! command -v totalview >/dev/null; then
    run -tv true 2>err
    same "TotalView has to be there" "$?" 127
    holds "its name is told" "$(cat err)" "totalview"
fi
on_two() { run --set-cwd-to-session-dir -n 1 pwd : -n 1 pwd; }
same "each program says for itself" "$(on_two 2>&1 | grep -c "^$TMPDIR")" 1
export TMPDIR=/proc/no-such-folder
run --set-cwd-to-session-dir true 2>err
same "no folder can be made" "$?" 1
holds "is told" "$(cat err)" "make a folder for the ranks below TMPDIR: No such file"
rm -f ran
for round in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    run --launcher-cmd "env TMPDIR=$scratch/tmp HOST=%h" -host localhost:1,elsewhere:1 \
        --set-cwd-to-session-dir sh -c "echo ran >>$scratch/ran" 2>err
    [ $? = 1 ] || fail "on two hosts: no folder can be made here" "$(cat err)"
done
same "then no rank of another host starts" "$(cat ran 2>/dev/null)" ""
same "and what the other host has made goes" "$(ls -A "$scratch/tmp")" ""
