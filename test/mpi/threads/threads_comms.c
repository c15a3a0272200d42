/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads with a communicator each: rings of blocking and nonblocking messages of all sizes at
 * the same time, and collectives among them. */
#include <string.h>

#include "threads.h"

enum {
    ROUNDS = 40,
    MOST = 100000
};

static const int sizes[] = {0, 8, 100, 600, 9000, 30000, MOST};

static void round_trip(struct thread *thread, char *out, char *in, int round)
{
    MPI_Comm comm = thread->comm;
    int me = check_rank(comm), size = check_size(comm), len = sizes[(round + thread->number) % 7];
    int to = (me + 1) % size, from = (me + size - 1) % size, sum = -1;
    uint32_t seed = (uint32_t)(thread->number * 1000 + round);
    MPI_Request requests[2];
    pattern_fill(out, (size_t)len, seed + (uint32_t)me * 17);
    memset(in, 0, (size_t)len);
    switch (round % 3) {
    case 0:
        OK(MPI_Irecv(in, len, MPI_BYTE, from, round, comm, &requests[0]));
        OK(MPI_Send(out, len, MPI_BYTE, to, round, comm));
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        break;
    case 1:
        OK(MPI_Isend(out, len, MPI_BYTE, to, round, comm, &requests[0]));
        OK(MPI_Recv(in, len, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
        break;
    default:
        OK(MPI_Irecv(in, len, MPI_BYTE, from, round, comm, &requests[0]));
        OK(MPI_Issend(out, len, MPI_BYTE, to, round, comm, &requests[1]));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    CHECK(pattern_is(in, (size_t)len, seed + (uint32_t)from * 17));
    if (round % 8 == 0) {
        OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
        CHECK(sum == size * (size - 1) / 2);
    }
}

static void *work(void *arg)
{
    struct thread *thread = arg;
    char *out = pattern_alloc(MOST), *in = pattern_alloc(MOST);
    for (int round = 0; round < ROUNDS; round++)
        round_trip(thread, out, in, round);
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    struct thread threads[THREADS];
    threads_init(&argc, &argv);
    threads_run_apart(threads, THREADS, work);
    OK(MPI_Finalize());
    return 0;
}
