# SPDX-License-Identifier: BSD-3-Clause
# BNR's calls, in ranks that mpiexec starts and in a process alone.
. "$(dirname "$0")/lib.sh"
probe=$2

for n in 1 2 5 16; do
    same "$n ranks put, get, fence and share memory" \
        "$(run -n $n "$probe" init cards late fences=20 memory finalize 2>&1; echo $?)" 0
done
same "every rank knows its place, its program and one group id" "$(
    run -n 3 "$probe" init facts finalize : -n 2 "$probe" init facts finalize | sort |
    awk '{ print $1, $2, $4; ids[$5]++ } END { for (i in ids) n++; print n }')" \
"0/5 native 0
1/5 native 0
2/5 native 0
3/5 native 1
4/5 native 1
1"
for n in 1 2 5; do
    same "$n ranks take what each sends to all in one order, and to some" \
        "$(run -n $n "$probe" init xcasts=20 xcast_some xcast_order=20 finalize 2>&1; echo $?)" 0
done
same "a rank that takes nothing holds nobody up, and is told what is missing" \
    "$(run -n 3 "$probe" init xcast_missing finalize 2>&1; echo $?)" 0
same "alone, a process takes what it sends" "$("$probe" init xcasts=20 xcast_some xcast_order=20 finalize 2>&1; echo $?)" 0
for hosts in 1 2 3 7; do
    same "7 ranks are on $hosts hosts that are pretended" \
        "$(run --pretend-hosts $hosts -n 7 "$probe" init hosts=$hosts cards late later news fences=20 finalize \
            2>&1; echo $?)" 0
done
same "there are no more of them than ranks" \
    "$(run --pretend-hosts 9 -n 2 "$probe" init hosts=2 finalize 2>&1; echo $?)" 0
holds "a rank that fails is on its own host" \
    "$(run --pretend-hosts 2 -n 2 sh -c 'exit $BNR_RANK' 2>&1)" "rank 1 on $(uname -n).pretend1 ("
holds "hosts are counted where ranks are too late" \
    "$(run --timeout 0.2 --pretend-hosts 2 -n 3 sleep 20 2>&1)" "still running on 2 hosts: ranks 0-2"
holds "0 hosts are refused" "$(run --pretend-hosts 0 true 2>&1)" "takes a number from 1"

holds "alone, a process is a group of one" \
    "$("$probe" init cards fences=3 facts finalize 2>&1)" "0/1 singleton app -1"

same "only one process is a rank, and it may come back" \
    "$(run -n 2 "$probe" init twice finalize 2>err; echo $?)" 0
holds "a fork of it is refused" "$(cat err)" "forked child"
holds "so is another program after it" \
    "$(run -n 1 sh -c "'$probe' init finalize; '$probe' init; true" 2>&1)" \
    "rank 0 of this job is already another program"
holds "so is one to which the job's memory was not handed on" \
    "$(BNR_FD=98,99 BNR_RANK=0 "$probe" init 2>&1)" "was not handed on"
holds "so is one with a rank that is none" "$(BNR_FD=x BNR_RANK=0 "$probe" init 2>&1)" "mpiexec"


# Programs between mpiexec and the rank that close its descriptors, or clear its environment.
cat >closing.py <<'P'
import subprocess, sys
sys.exit(subprocess.run(sys.argv[1:], close_fds=True).returncode)
P
same "a rank started by Python's subprocess is of the job" \
    "$(run -n 3 python3 closing.py "$probe" init cards fences=3 finalize 2>&1; echo $?)" 0
same "so is one without its environment" \
    "$(run -n 3 env -i "$probe" init universe=3 cards fences=3 finalize 2>&1; echo $?)" 0
same "so is one in a job within a job" \
    "$(run -n 1 "$mpiexec" -n 3 env -i "$probe" init universe=3 fences=3 finalize 2>&1; echo $?)" 0
holds "one without both is refused" \
    "$(run -n 2 sh -c "BNR_FD=98,99,1 exec '$probe' init" 2>&1)" "was not handed on"

# On a busy machine, too, before SIGKILL would end it.
same "a fence and a get end when a member dies" \
    "$(VIREO_KILL_AFTER_MS=20000 run -n 4 "$probe" init broken 2>&1 | grep -c 'broken as told')" 3
same "ends are heard of, also by those who register late" \
    "$(run -n 4 "$probe" init events sleep=20 finalize 2>&1; echo $?)" 0

same "-usize sets the size of the universe" \
    "$(run -usize 9 -n 2 "$probe" init universe=9 finalize 2>&1; echo $?)" 0
same "else it is the job's" "$(run -n 2 "$probe" init universe=2 finalize 2>&1; echo $?)" 0
holds "one that cannot hold the job is refused" "$(run -usize 1 -n 2 true 2>&1)" "no room for"

holds "a foreign launcher's world is never silently split" \
    "$(PMI_RANK=0 PMI_SIZE=4 "$probe" init 2>&1)" "meant 4 processes"
same "unless told so" "$(VIREO_SINGLETON=1 PMI_RANK=0 PMI_SIZE=4 "$probe" init finalize 2>&1)" ""
holds "a setting that does not exist is refused" \
    "$(VIREO_CHANNELZ=tcp run -n 1 "$probe" init finalize 2>&1)" "did you mean 'channels'"
