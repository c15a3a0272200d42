/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Communicates in all the ways whose messages a trace joins by arrows; profile_check.py knows how many
 * there are: WAYS of them each round from each rank to the next one.
 *   profile_work ROUNDS
 */
#include <signal.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static int rank, size, to, from;
static int out[4], in[4];

/* Messages of one tag that are taken by receives of other numbers than the order of waiting for them,
 * and by any sender. 6 messages. */
static void nonblocking(MPI_Comm comm, int round)
{
    MPI_Request requests[4];
    MPI_Status statuses[4];
    int index, count, indices[4];
    for (int i = 0; i < 4; i++)
        OK(MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? from : MPI_ANY_SOURCE, 3, comm, &requests[i]));
    OK(MPI_Send(&out[0], 1, MPI_INT, to, 3, comm));
    OK(MPI_Ssend_c(&out[1], 1, MPI_INT, to, 3, comm));
    MPI_Request send;
    OK(MPI_Isend(&out[2], 1, MPI_INT, to, 3, comm, &send));
    OK(MPI_Send(&out[3], 1, MPI_INT, to, 3, comm));
    OK(MPI_Wait(&send, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&requests[3], MPI_STATUS_IGNORE));
    OK(MPI_Waitany(3, requests, &index, &statuses[0]));
    OK(MPI_Waitsome(3, requests, &count, indices, statuses));
    OK(MPI_Waitall(3, requests, statuses));
    for (int i = 0; i < 4; i++)
        CHECK(in[i] == from * 1000 + round * 10 + i);
    OK(MPI_Sendrecv(&out[0], 1, MPI_INT, to, 4, &in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm,
                    MPI_STATUS_IGNORE));
    OK(MPI_Sendrecv_replace(&out[0], 1, MPI_INT, to, 4, MPI_ANY_SOURCE, 4, comm, MPI_STATUS_IGNORE));
    out[0] = rank * 1000 + round * 10;
}

/* 3 messages. */
static void others(MPI_Comm comm, MPI_Request persistent[2])
{
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Startall(2, persistent));
    OK(MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE));
    OK(MPI_Isend(&out[1], 1, MPI_INT, to, 6, comm, &request));
    OK(MPI_Mprobe(from, 6, comm, &message, &status));
    OK(MPI_Mrecv(&in[1], 1, MPI_INT, &message, &status));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Isend(&out[1], 1, MPI_INT, to, 7, comm, &request));
    OK(MPI_Mprobe(MPI_ANY_SOURCE, 7, comm, &message, MPI_STATUS_IGNORE));
    MPI_Request taken;
    OK(MPI_Imrecv(&in[1], 1, MPI_INT, &message, &taken));
    int flag = 0;
    while (!flag)
        OK(MPI_Test(&taken, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, &status));
}

/* A communicator that is made of a session, of as many ranks. */
static void by_session(int ranks)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int value = 1, sum;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    OK(MPI_Group_from_session_pset(session, ranks ? "mpi://WORLD" : "mpi://SELF", &group));
    OK(MPI_Comm_create_from_group(group, "work", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == (ranks ? ranks : 1));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_finalize(&session));
}

/* Before MPI_Init, after it, and after MPI_Finalize. */
static void sessions(void)
{
    by_session(0);
    OK(MPI_Init(NULL, NULL));
    by_session(check_size(MPI_COMM_WORLD));
    OK(MPI_Finalize());
    by_session(0);
}

/* One message, and its receiver comes long after the others to MPI_Finalize. */
static void quiet(void)
{
    int value = 0;
    OK(MPI_Init(NULL, NULL));
    rank = check_rank(MPI_COMM_WORLD);
    if (rank == 1)
        OK(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD));
    if (rank == 0) {
        OK(MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < 30; i++) {
            int there;
            (void)usleep(10000);
            OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE));
        }
    }
    OK(MPI_Finalize());
}

static void wrong(void)
{
    OK(MPI_Init(NULL, NULL));
    MPI_Send(&size, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
}

/* Each kind of epoch, with operations; profile_check.py knows how many. */
static void windows(void)
{
    MPI_Win win;
    MPI_Group all, self;
    MPI_Request request;
    int *base, next, flag = 0;
    OK(MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    OK(MPI_Win_get_group(win, &all));
    OK(MPI_Group_incl(all, 1, &rank, &self));
    next = to;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(out, 4, MPI_INT, next, 0, 4, MPI_INT, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    OK(MPI_Win_post(self, 0, win));
    OK(MPI_Win_start(self, 0, win));
    OK(MPI_Get(in, 3, MPI_INT, rank, 0, 3, MPI_INT, win));
    OK(MPI_Win_complete(win));
    while (!flag)
        OK(MPI_Win_test(win, &flag));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, win));
    OK(MPI_Rput(out, 2, MPI_INT, next, 4, 2, MPI_INT, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Win_unlock(next, win));
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Fetch_and_op(out, in, MPI_INT, next, 8, MPI_SUM, win));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&self));
    OK(MPI_Win_free(&win));
    OK(MPI_Finalize());
}

/* Some calls, and then nothing that ends; or one rank is killed outside of MPI. */
static void end_badly(int dies)
{
    int value = 0;
    for (int i = 0; i < 700; i++)
        OK(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD));
    if (dies && rank == size - 1) {
        (void)usleep(300000);
        raise(SIGKILL);
    }
    OK(MPI_Recv(&value, 1, MPI_INT, from, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    MPI_Comm dup, half;
    MPI_Request persistent[2], dropped;
    if (!strcmp(argv[1], "sessions") || !strcmp(argv[1], "quiet") || !strcmp(argv[1], "wrong")) {
        (*argv[1] == 's' ? sessions : *argv[1] == 'q' ? quiet : wrong)();
        return 0;
    }
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    if (!strcmp(argv[1], "windows")) {
        windows();
        return 0;
    }
    if (!strcmp(argv[1], "hang") || !strcmp(argv[1], "die"))
        end_badly(!strcmp(argv[1], "die"));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
    OK(MPI_Send_init(&out[1], 1, MPI_INT, to, 5, dup, &persistent[0]));
    OK(MPI_Recv_init(&in[1], 1, MPI_INT, from, 5, dup, &persistent[1]));
    for (int round = 0; round < atoi(argv[1]); round++) {
        for (int i = 0; i < 4; i++)
            out[i] = rank * 1000 + round * 10 + i;
        nonblocking(round % 2 ? dup : MPI_COMM_WORLD, round);
        others(dup, persistent);
        OK(MPI_Allreduce(MPI_IN_PLACE, &out[0], 1, MPI_INT, MPI_MAX, half));
        if (rank == size - 1)
            (void)usleep(10000);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    /* A receive that is withdrawn, and one from nowhere. */
    OK(MPI_Irecv(&in[0], 1, MPI_INT, from, 99, dup, &dropped));
    OK(MPI_Cancel(&dropped));
    OK(MPI_Wait(&dropped, MPI_STATUS_IGNORE));
    OK(MPI_Recv(&in[0], 1, MPI_INT, MPI_PROC_NULL, 0, dup, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&persistent[0]));
    OK(MPI_Request_free(&persistent[1]));
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_free(&dup));
    OK(MPI_Finalize());
    return 0;
}
