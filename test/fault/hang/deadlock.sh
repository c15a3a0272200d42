# SPDX-License-Identifier: BSD-3-Clause
# What is told of a job that does not go on: run as sh deadlock.sh MPIEXEC DEADLOCK VIREO. Each case
# of deadlock.c has its culprits, and a reason.
. "$(dirname "$0")/../../bnr/lib.sh"
. "$(dirname "$0")/planted.sh"
deadlock=$2
vireo=$3

planted head_to_head "ranks 0-1 (a deadlock)" "A cycle of waits: 0 -> 1 -> 0" \
    "rank 0 waits in MPI_Recv for a message from rank 1 (tag 5, MPI_COMM_WORLD)" \
    "not there: ranks 0-1, as told above" "Hang report on job" "(deadlock): 4 ranks on" \
    "ranks 2-3: each waits in MPI_Barrier on MPI_COMM_WORLD (its collective number 1), at"
planted wrong_tag "ranks 1-2 (a deadlock)" "Wrong tag? Rank 2 waits in MPI_Recv" \
    "is a message from rank 1 (tag 7, MPI_COMM_WORLD)" \
    "rank 2: 1 message from rank 1 not received (tag 7, MPI_COMM_WORLD), 4 bytes"
planted wrong_comm "ranks 0,3 (a deadlock)" "Wrong communicator? Rank 0 waits in MPI_Recv" \
    "is a message from rank 3 (tag 1, the copy)"
planted missing "ranks 0,2 (a deadlock)" \
    "MPI_Allreduce on MPI_COMM_WORLD: ranks 0-1,3 wait in it" \
    "Send missing? Rank 2 waits in MPI_Recv for a message from rank 0 (tag 3, MPI_COMM_WORLD)" \
    "but rank 0 has none on the way, and waits in MPI_Allreduce" "not there: rank 2, as told above"
planted sends "ranks 2-3 (a deadlock)" "A cycle of waits: 2 -> 3 -> 2" \
    "rank 3 waits in MPI_Send for rank 2 to receive 4194304 bytes (tag 0, MPI_COMM_WORLD)"
planted unsent "ranks 0,2 (a deadlock)" "Wrong tag? Rank 0 waits in MPI_Recv" \
    "rank 2: waits in MPI_Finalize for rank 0 to receive 4194304 bytes (tag 21, MPI_COMM_WORLD)"
planted buffered "rank 0" "Others wait for rank 0, which is outside MPI and sleeps" \
    "rank 3: waits in MPI_Finalize for rank 0 to receive 4194304 bytes (tag 1, MPI_COMM_WORLD)"
planted parts "ranks 1-2 (a deadlock)" \
    "Wrong kind of message? Rank 1 waits in MPI_Wait for a partitioned message from rank 2" \
    "rank 2: waits in MPI_Ssend for rank 1 to receive 16 bytes (tag 6, MPI_COMM_WORLD), at"
planted unready "rank 2" "Others wait for rank 2, which waits in MPI_Wait" \
    "rank 1: waits in MPI_Wait for a partitioned message from rank 2 (tag 6, MPI_COMM_WORLD), at" \
    "rank 2: waits in MPI_Wait for MPI_Pready on 1 partition of its message to rank 1 (tag 6, "
planted computes "rank 3" "not there: rank 3, which is outside MPI and computes" \
    "To see where rank 3 is: gdb -p "
planted sleeps "rank 2" "Others wait for rank 2, which is outside MPI and sleeps" \
    "ranks 0-1,3: each waits in MPI_Probe for a message from rank 2 (any tag, MPI_COMM_WORLD)"
settle
for case in ended finalized; do
    run --timeout 20 -n 4 "$deadlock" $case >out 2>err
    same "$case: a receive from a rank that has left MPI is no deadlock" $? 58
    holds "it is told" "$(cat err)" "MPI_Recv: the other process has ended, or has called MPI_Finalize"
done
planted never_started "rank 0 (a deadlock)" \
    "MPI_Start missing? Rank 1 waits in MPI_Recv for a message from rank 0 (tag 2, MPI_COMM_WORLD)" \
    "rank 0: 1 persistent send to rank 1 not started (tag 2, MPI_COMM_WORLD)"
planted different "rank 3 (a deadlock)" \
    "Different collectives on MPI_COMM_WORLD (its collective number 1):" \
    "MPI_Bcast: ranks 0-2" "MPI_Allreduce: rank 3" "not there: rank 3, as told above"
planted mixed "rank 1 (a deadlock)" "Different collectives on MPI_COMM_WORLD" \
    "MPI_Scatter: ranks 0,2-3" "MPI_Gather: rank 1"
planted crossed "rank 1 (a deadlock)" "MPI_Barrier on second: rank 1 waits in it" \
    "not there: rank 1, which waits in MPI_Barrier on second"
planted ring "ranks 0-3 (a deadlock)" "A cycle of waits: 0 -> 3 -> 2 -> 1 -> 0" \
    "rank 0: waits in MPI_Waitall for all of 2 messages with rank 3, at"
planted tests "rank 0" "not there: rank 0, which polls in MPI_Test" \
    "rank 0: 1 receive from rank 1 without a message (tag 4, MPI_COMM_WORLD), 4 bytes"
planted peeks "rank 0" "not there: rank 0, which polls in MPI_Iprobe"
planted polls "rank 0" "not there: rank 0, which polls in MPI_Iprobe"
planted named "rank 3" "rank 0: waits in MPI_Wait for" "rank 1: waits in MPI_Waitany for" \
    "rank 2: waits in MPI_Comm_dup on MPI_COMM_WORLD"
planted between "ranks 0,3 (a deadlock)" \
    "MPI_Allreduce on bridge: ranks 0-2 wait in it; some members are missing:" \
    "Send missing? Rank 3 waits in MPI_Recv for a message from rank 0 (tag 14, MPI_COMM_WORLD)" \
    "ranks 0-2: each waits in MPI_Allreduce on bridge (its collective number 2)"
planted unrooted "ranks 0,3 (a deadlock)" "MPI_Bcast on bridge: ranks 2-3 wait in it" \
    "Send missing? Rank 0 waits in MPI_Recv for a message from rank 3 (tag 14, MPI_COMM_WORLD)"
settle
run --timeout 1 -n 4 "$deadlock" lively >out 2>err
same "a job that goes on is in no deadlock" "$?$(grep -c 'a deadlock' err)" 1240
for limit in 3 12 40; do # on a busy machine not all ranks have begun yet, or some do not answer in time
    begun=$(date +%s)
    run --timeout $limit -n 32 "$deadlock" crowd >out 2>err
    same "a crowded host: the time limit ends it" $? 124
    late=$(($(date +%s) - begun - limit))
    grep -q "Culprits: ranks 0-3 (a deadlock)" err && break
done
[ $late -lt 17 ] || fail "a crowded host: the report is late" "$(cat err)"
holds "a crowded host" "$(cat err)" "Culprits: ranks 0-3 (a deadlock)"
for limit in 1 4 12; do # on a busy machine the two may not wait for each other yet
    run --timeout $limit --bind-to none -n 4 "$deadlock" starved >out 2>err
    same "a rank without a processor: the time limit ends it" $? 124
    grep -q "No rank is seen to wait in vain: the job goes on" err || break
done
case $(tr -d '\n' <err) in
*"rank 0: is outside MPI"* | *"Culprit: rank 0"*) fail "a rank without a processor is the culprit" "$(cat err)" ;;
*"a deadlock"* | *"rank 0: did not answer in time"*) ;;
*) fail "nothing is told of a rank without a processor" "$(cat err)" ;;
esac
planted busy_tag "ranks 0-1 (a deadlock)" "Wrong tag? Rank 1 waits in MPI_Recv" \
    "not there: rank 1, as told above" "not there: rank 2, which is outside MPI and computes"
planted early "rank 2" "not there: rank 2, which is outside MPI and sleeps"
settle
same "what is early has no wrong tag" "$(grep -c Wrong early/err)" 0
planted ring_tag "rank 1 (a deadlock)" "Wrong tag? Rank 1 waits in MPI_Sendrecv" \
    "Wrong tag? Rank 2 waits in MPI_Sendrecv"
planted unsent_round "ranks 2-3 (a deadlock)" "Send missing? Rank 3 waits in MPI_Waitall" \
    "but rank 2 has none on the way, and waits in MPI_Barrier" "not there: rank 3, as told above"
planted strayed "ranks 2-3 (a deadlock)" \
    "Send missing? Rank 2 waits in MPI_Recv for a message from rank 3 (tag 7, communicator #2 of " \
    "while one (tag 7, MPI_COMM_WORLD) has come to rank 0 (wrong destination or communicator?)"
planted source "ranks 1,3 (a deadlock)" "Send missing? Rank 1 waits in MPI_Recv" \
    "while such a message of rank 0 has come (wrong source?)"
planted taken "rank 0 (a deadlock)" "MPI_Mrecv missing? Rank 1 waits in MPI_Ssend" \
    "but rank 0 has only taken it by MPI_Mprobe or MPI_Improbe, and waits in MPI_Barrier"
planted group "rank 2 (a deadlock)" \
    "MPI_Comm_create_group on a communicator of ranks 0-2, which it makes: ranks 0-1 wait in it" \
    "not there: rank 2, which waits in MPI_Barrier"
planted uncopied "rank 3 (a deadlock)" "Different collectives on MPI_COMM_WORLD (its collective" \
    "MPI_Barrier: rank 3" "MPI_Comm_dup: ranks 0-2"
planted root "rank 2 (a deadlock)" \
    "Different roots on MPI_COMM_WORLD (its collective number 1):" \
    "MPI_Gather with root 0: ranks 0-1,3" "MPI_Gather with root 1: rank 2"
planted bcast_root "rank 2 (a deadlock)" \
    "Different roots on MPI_COMM_WORLD (its collective number 1):" \
    "MPI_Bcast with root 0: ranks 0" "MPI_Bcast with root 1: rank 2"
planted once_more "rank 1 (a deadlock)" \
    "MPI_Allreduce on MPI_COMM_WORLD: rank 1 waits in it, once more than the others do:" \
    "not there: rank"
planted early_leaver "rank 1 (a deadlock)" \
    "MPI_Allreduce on MPI_COMM_WORLD: ranks 0,2-3 wait in it; some members are missing:" \
    "not there: rank 1, which is in MPI_Finalize"
planted wildcard "rank 0 (a deadlock)" "Taken by another receive? Rank 0 waits in MPI_Recv for a" \
    "but a receive with a wildcard has got a message from rank 2 (tag 4, MPI_COMM_WORLD) before" \
    "not there: rank 0, as told above"
settle
run --timeout 20 -n 4 "$deadlock" extra >out 2>err
same "a collective that meets another one is no deadlock" $? 2
holds "it is told" "$(cat err)" "called another collective function or these in another order"
planted peeks_tag "ranks 0-1" \
    "Wrong tag? Rank 0 polls in MPI_Iprobe for a message from any rank (tag 4, MPI_COMM_WORLD)" \
    "but what has come is a message from rank 1 (tag 5, MPI_COMM_WORLD)"
planted tests_tag "ranks 0-1" \
    "Wrong tag? Rank 0 polls in MPI_Test for a message from rank 1 (tag 4, MPI_COMM_WORLD)"
planted threads "ranks 0-2 (a deadlock)" "A cycle of waits: 0 -> " \
    "rank 0: waits in MPI_Recv for a message from rank 1 (tag 11, MPI_COMM_WORLD)" \
    "rank 0: waits in MPI_Recv for a message from rank 2 (tag 11, MPI_COMM_WORLD)"
planted locked "ranks 0-1 (a deadlock)" "A cycle of waits: 0 -> 1 -> 0" \
    "ranks 0-1: each has 1 other thread outside MPI, "
planted helper "rank 0" "Others wait for rank 0, which waits in MPI_Recv" \
    "; and another of its threads computes" "rank 0: has 1 other thread outside MPI, computing"
planted naps "" "No deadlock is certain: threads that sleep outside MPI may call it yet, in rank 0." \
    "If none does, this is what is wrong, and the culprits are ranks 0-1:" "A cycle of waits: 0 -> 1" \
    "rank 0: has 1 other thread outside MPI, asleep"
settle
if command -v addr2line >/dev/null; then
    holds "places are named" "$(cat threads/whole)" ", at deadlock.c:"
fi
planted late "rank 2" "Others wait for rank 2, which has not called MPI_Init"

planted begun "ranks 0-1 (a deadlock)" \
    "MPI_Barrier on MPI_COMM_WORLD: ranks 1-3 wait in it; some members are missing:" \
    "ranks 1-3: each waits in MPI_Wait on MPI_COMM_WORLD (its collective number 1), at"
planted begun_other "rank 3 (a deadlock)" "Different collectives on MPI_COMM_WORLD (its" \
    "MPI_Allreduce: ranks 0-2" "MPI_Gather: rank 3"
planted unstarted "rank 0 (a deadlock)" "not there: rank 0, which is in MPI_Finalize" \
    "MPI_Wait on MPI_COMM_WORLD: ranks 1-3 wait in it"
planted copied "rank 2 (a deadlock)" "MPI_Comm_idup: ranks 0-1,3" "MPI_Comm_dup: rank 2"
VIREO_CHANNELS=tcp,loopback planted unstarted "rank 0 (a deadlock)" \
    "not there: rank 0, which is in MPI_Finalize"
VIREO_CHANNELS=tcp,loopback planted head_to_head "ranks 0-1 (a deadlock)" "A cycle of waits"
VIREO_CHANNELS=tcp,loopback planted sends "ranks 2-3 (a deadlock)" "A cycle of waits: 2 -> 3 -> 2"
# A wait counts from its begin, though it never sleeps.
VIREO_SPIN_US=100000000 planted head_to_head "ranks 0-1 (a deadlock)" "A cycle of waits: 0 -> 1 -> 0"
VIREO_YIELDS=1000000000 planted head_to_head "ranks 0-1 (a deadlock)" "A cycle of waits: 0 -> 1 -> 0"
settle

# Requests come and go while they are looked at.
"$mpiexec" --timeout 100 -n 2 "$deadlock" restless >out 2>err &
job=$!
for i in $(seq 1 20); do
    "$vireo" report "$job" >report 2>&1 || sleep 0.2
done
holds "a restless job" "$(cat report)" "rank 0: waits in MPI_Recv for a message"
kill "$job"
wait "$job" 2>/dev/null

# While the job goes on: by a signal, and by the command, once and again.
"$mpiexec" --timeout 50 -n 4 "$deadlock" missing >out 2>err &
job=$!
for i in $(seq 1 100); do
    "$vireo" report "$job" 2>/dev/null | grep -q '^Culprits: ranks 0,2 (a deadlock)' && break
    sleep 0.2
done
for i in 1 2 3; do
    "$vireo" report "$job" >report 2>&1 || fail "vireo report" "$(cat report)"
    holds "vireo report, time $i" "$(cat report)" "Culprits: ranks 0,2 (a deadlock)"
done
same "mpiexec itself says nothing of it" "$(cat err)" ""
kill -QUIT "$job"
for i in $(seq 1 200); do
    grep -q "the job goes on" err && break
    sleep 0.05
done
holds "SIGQUIT to mpiexec" "$(cat err)" "Culprits: ranks 0,2 (a deadlock)"
rank=$(tr ' ' '\n' <"/proc/$job/task/$job/children" | tail -n 2 | head -n 1)
"$vireo" report "$rank" >report 2>&1
holds "a process of the job stands for it" "$(cat report)" "Hang report on job $job (deadlock)"
kill -0 "$job" || fail "the job goes on"
"$vireo" report "$job" >/dev/null &
"$vireo" report "$job" >report
holds "two who ask at once" "$(cat report)" "Culprits: ranks 0,2 (a deadlock)"
wait $!
kill "$job"
wait "$job" 2>/dev/null
"$vireo" report "$job" >report 2>&1
same "a job that is over cannot be asked" "$?$(cat report)" \
    "1vireo: there is no process $job: its job has ended"
"$vireo" report 1 >report 2>&1
same "nor can what is no job" "$?$(grep -c 'is no mpiexec of this library' report)" 11
"$vireo" report one 2>/dev/null
same "what is no number" $? 2
run --timeout 0.3 -n 2 sleep 20 2>err
same "programs without MPI have nothing to tell" "$?$(wc -l <err)" "1241"

# While the report is made, which takes its time, output flows.
mkdir slow
cat >slow/addr2line <<'END'
#!/bin/sh
[ -e "$TOOL_LOG.begun" ] || { : >"$TOOL_LOG.begun" && sleep 1.2 && : >"$TOOL_LOG.over"; }
echo 'slow.c:7'
END
chmod +x slow/addr2line
TOOL_LOG=$scratch/tool PATH=$scratch/slow:$PATH "$mpiexec" --timeout 50 -n 2 "$deadlock" ticks \
    >ticks 2>err &
job=$!
soon grep -q tick ticks
"$vireo" report "$job" >report 2>&1 &
asker=$!
soon test -e tool.begun
before=$(wc -l <ticks)
grown() {
    [ "$(wc -l <ticks)" -gt $((before + 5)) ]
}
soon grown
[ ! -e tool.over ] || fail "output flows while the report is made"
echo "ok: output flows while the report is made"
wait $asker
holds "the report takes its time" "$(cat report)" "at slow.c:7"
kill "$job"
wait "$job" 2>/dev/null

# Without the program that makes reports, or where it says nothing.
mkdir bin
cp "$mpiexec" bin/mpiexec
bin/mpiexec --timeout 1 -n 2 "$deadlock" ticks >out 2>err
same "no program: the time limit ends the job" $? 124
holds "no program" "$(cat err)" "mpiexec: no report: cannot execute for $scratch/bin/vireo-diagnose"
printf '#!/bin/sh\nexit 1\n' >bin/vireo-diagnose
chmod +x bin/vireo-diagnose
bin/mpiexec --timeout 1 -n 2 "$deadlock" ticks >out 2>err
same "a silent program: the time limit ends the job" $? 124
holds "a silent program" "$(cat err)" "bin/vireo-diagnose has ended without one"
