/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads that share a communicator and are told apart by tags alone: with the next rank, and
 * with each other through the process's connection to itself; probes by several threads. */
#include <string.h>

#include "threads.h"

enum {
    ROUNDS = 60,
    MOST = 70000,
    PROBED = 1000
};

static const int sizes[] = {4, 64, 700, 9000, MOST};

/* Thread t's messages have tag t. */
static void ring(struct thread *thread, char *out, char *in, int round, int distance)
{
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD), tag = thread->number;
    int to = (me + distance) % size, from = (me + size - distance) % size;
    int len = sizes[(round + tag) % 5], flag = 0;
    MPI_Request requests[2];
    uint32_t seed = (uint32_t)(round * 64 + tag);
    pattern_fill(out, (size_t)len, seed);
    OK(MPI_Irecv(in, MOST, MPI_BYTE, from, tag, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(out, len, MPI_BYTE, to, tag, MPI_COMM_WORLD, &requests[1]));
    if (round % 2)
        while (!flag)
            OK(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
    else
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(pattern_is(in, (size_t)len, seed));
}

/* Threads in pairs, of one process: one sends, the other blocks in a probe or a receive. A
 * message's tag tells for which thread it is. */
static void pair(struct thread *thread, char *out, char *in, int round)
{
    int me = check_rank(MPI_COMM_WORLD), own = PROBED + thread->number;
    int partner = PROBED + (thread->number ^ 1);
    int len = sizes[round % 5], sender = (thread->number + round) % 2 == 0;
    uint32_t seed = (uint32_t)(thread->number / 2 + round);
    MPI_Status status;
    if (sender) {
        pattern_fill(out, (size_t)len, seed);
        OK((round % 3 ? MPI_Send : MPI_Ssend)(out, len, MPI_BYTE, me, partner, MPI_COMM_WORLD));
        OK(MPI_Recv(in, 0, MPI_BYTE, me, own, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        return;
    }
    if (round % 4 == 1) {
        OK(MPI_Probe(me, own, MPI_COMM_WORLD, &status));
        OK(MPI_Recv(in, MOST, MPI_BYTE, me, own, MPI_COMM_WORLD, &status));
    } else if (round % 4 == 2) {
        MPI_Message message;
        OK(MPI_Mprobe(MPI_ANY_SOURCE, own, MPI_COMM_WORLD, &message, &status));
        OK(MPI_Mrecv(in, MOST, MPI_BYTE, &message, &status));
    } else {
        OK(MPI_Recv(in, MOST, MPI_BYTE, MPI_ANY_SOURCE, own, MPI_COMM_WORLD, &status));
    }
    CHECK(status.MPI_SOURCE == me && pattern_is(in, (size_t)len, seed));
    OK(MPI_Send(NULL, 0, MPI_BYTE, me, partner, MPI_COMM_WORLD));
}

static void *work(void *arg)
{
    struct thread *thread = arg;
    char *out = pattern_alloc(MOST), *in = pattern_alloc(MOST);
    for (int round = 0; round < ROUNDS; round++) {
        ring(thread, out, in, round, 1);
        ring(thread, out, in, round, 0);
        pair(thread, out, in, round);
    }
    free(out);
    free(in);
    return NULL;
}

int main(int argc, char **argv)
{
    struct thread threads[THREADS];
    threads_init(&argc, &argv);
    threads_run(threads, THREADS, work);
    OK(MPI_Finalize());
    return 0;
}
