# SPDX-License-Identifier: BSD-3-Clause
# What is told of a job that does not go on at a window: run as
# sh deadlock_windows.sh MPIEXEC DEADLOCK_WINDOWS.
. "$(dirname "$0")/../../bnr/lib.sh"
. "$(dirname "$0")/planted.sh"
deadlock=$2

planted fence "ranks 0,2 (a deadlock)" \
    "MPI_Win_fence on window counters: ranks 0-1,3 wait in it; some members are missing:" \
    "Send missing? Rank 2 waits in MPI_Recv for a message from rank 0"
planted unnamed "rank 1" "MPI_Win_free on window #3 of ranks 0-3: ranks 0,2-3 wait in it" \
    "not there: rank 1, which is outside MPI and sleeps"
planted writer "ranks 0,2 (a deadlock)" "A cycle of waits: 0 -> 2 -> 0" \
    "rank 2: waits in MPI_Win_lock for rank 0 to unlock rank 1 (window counters), at"
planted readers "ranks 0-2 (a deadlock)" \
    "waits in MPI_Win_lock for rank 0 to unlock rank 3 (window counters) and rank 1 to unlock rank 3"
planted unposted "ranks 0-1 (a deadlock)" "A cycle of waits: 0 -> 1 -> 0" \
    "rank 1: waits in MPI_Win_start for rank 0 to call MPI_Win_post (window counters), at"
planted incomplete "ranks 2-3 (a deadlock)" "A cycle of waits: 2 -> 3 -> 2" \
    "rank 3: waits in MPI_Win_wait for rank 2 to call MPI_Win_complete (window counters), at"
# Ranks 0-1 and 2-3 are on a host each. Only the target knows who has its lock.
options="--pretend-hosts 2"
planted far_writer "" "No rank is seen to wait in vain." \
    "rank 2: waits in MPI_Win_unlock for the lock of rank 1 (window counters)"
options="--pretend-hosts 2 --set rma_thread=0"
planted unanswered "rank 3" "not there: rank 3, which is outside MPI and sleeps" \
    "rank 0: waits in MPI_Win_flush for rank 3 to answer (window counters), at"
settle
