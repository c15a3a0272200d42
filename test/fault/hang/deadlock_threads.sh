# SPDX-License-Identifier: BSD-3-Clause
# What is told of a job of several threads that does not go on: run as
# sh deadlock_threads.sh MPIEXEC DEADLOCK_THREADS [CASE]...: some cases, or all.
. "$(dirname "$0")/../../bnr/lib.sh"
. "$(dirname "$0")/planted.sh"
deadlock=$2
shift 2
only=" $* "

# worker NAME ...: as planted, where the case is wanted.
worker() {
    case $only in
    "  " | *" $1 "*) planted "$@" ;;
    esac
}

worker both_receive "ranks 0-1 (a deadlock)" "A cycle of waits: 0 -> 1 -> 0" \
    "rank 0: waits in MPI_Recv for a message from rank 1 (tag 1, MPI_COMM_WORLD)"
worker wrong_tags "ranks 0-1 (a deadlock)" "Wrong tag? Rank 1 waits in MPI_Recv" \
    "rank 1: waits in MPI_Recv for a message from rank 0 (tag 21, MPI_COMM_WORLD)"
worker unwoken "ranks 2-3 (a deadlock)" "Send missing? Rank 3 waits in MPI_Recv for a message" \
    "rank 2: has 1 other thread outside MPI, waiting for a lock or a condition"
worker idle_worker "rank 1 (a deadlock)" "MPI_Barrier on worker 1: ranks 0,2-3 wait in it" \
    "not there: rank 1"
worker send_locked "ranks 0-1 (a deadlock)" "A cycle of waits: 0 -> 1 -> 0" \
    "rank 0 waits in MPI_Ssend for rank 1 to receive 4 bytes (tag 0, MPI_COMM_WORLD)"
worker two_rings "ranks 0-3 (a deadlock)" "A cycle of waits: 0 -> 3 -> 2 -> 1 -> 0"
worker oneself "rank 0 (a deadlock)" "Wrong tag? Rank 0 waits in MPI_Recv" \
    "is a message from rank 0 (tag 1, MPI_COMM_WORLD)"
worker round_more "rank 2 (a deadlock)" \
    "MPI_Allreduce on worker 0: rank 2 waits in it, once more than the others do:" \
    "not there: rank"
worker round_less "rank 1 (a deadlock)" "MPI_Allreduce on worker 0: ranks 0,2-3 wait in it" \
    "not there: rank 1, which is in MPI_Finalize"
worker worker_roots "rank 3 (a deadlock)" "Different roots on worker 0" \
    "MPI_Bcast with root 0: ranks 0-2" "MPI_Bcast with root 1: rank 3"
worker greedy "rank 0 (a deadlock)" "Taken by another receive? Rank 0 waits in MPI_Recv" \
    "but a receive with a wildcard has got a message from rank 1 (tag 5, MPI_COMM_WORLD) before"
worker probed_twice "ranks 0-1 (a deadlock)" "Send missing? Rank 0 waits in MPI_Recv" \
    "but rank 1 has none on the way, and waits in MPI_Barrier"
worker never_received "rank 0 (a deadlock)" "MPI_Mrecv missing? Rank 1 waits in MPI_Ssend"
worker one_of_two "ranks 0,3 (a deadlock)" "Send missing? Rank 0 waits in MPI_Waitall" \
    "but rank 3 has none on the way"
worker endless "rank 0" "Others wait for rank 0, which waits in MPI_Barrier" \
    "and another of its threads computes"
worker unstarted "rank 0 (a deadlock)" "MPI_Start missing? Rank 1 waits in MPI_Recv"
worker forgotten_part "rank 2" "waits in MPI_Wait for MPI_Pready on 1 partition of its message"
worker one_stop "rank 0 (a deadlock)" "Send missing? Ranks 1-3 wait in MPI_Recv for a message" \
    "but rank 0 has none on the way"
worker worker_copies "rank 3 (a deadlock)" "Different collectives on worker 0" \
    "MPI_Barrier: rank 3" "MPI_Comm_dup: ranks 0-2"
worker swapped "rank 2 (a deadlock)" "MPI_Barrier on worker 0: ranks 0-1,3 wait in it" \
    "not there: rank 2"
settle
