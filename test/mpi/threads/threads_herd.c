/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads that wait for what does not come yet sleep on while others of their process exchange
 * messages: a message wakes the thread that it is for, and now and then the one that looks for
 * all; the others get no processor. */
#include <sys/resource.h>

#include "threads.h"

enum {
    BLOCKED = 16,
    ROUNDS = 200,
    WORD = 99,
    LAST = 100, /* tag of what ends the first thread's wait */
    PAUSE_MS = 1,
    LATE_MS = 50,
    LATE_MOST = 20,
    SETTLE_MS = 100
};

/* In each of the ways to wait for messages. */
static void *blocked(void *arg)
{
    struct thread *thread = arg;
    MPI_Request requests[2];
    int nothing[2], index = -1, tag = LAST + thread->number;
    if (thread->number % 4 == 0) {
        OK(MPI_Recv(nothing, 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        return NULL;
    }
    OK(MPI_Irecv(&nothing[0], 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Irecv(&nothing[1], 1, MPI_INT, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &requests[1]));
    switch (thread->number % 4) {
    case 1: OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE)); break;
    case 2: OK(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE)); break;
    default: break;
    }
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    return NULL;
}

/* Returns in how many rounds the message was late. */
static int exchange(int me, int size)
{
    int late = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int in = -1;
        threads_pause(PAUSE_MS);
        double began = MPI_Wtime();
        OK(MPI_Sendrecv(&round, 1, MPI_INT, (me + 1) % size, WORD, &in, 1, MPI_INT,
                        (me + size - 1) % size, WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(in == round);
        late += (MPI_Wtime() - began) * 1e3 > LATE_MS;
    }
    return late;
}

/* How often the other threads of this process have gone to sleep. A yield is not counted: on a
 * busy machine, a thread that looks for all hands its processor over often. */
static long sleeps(void)
{
    struct rusage all, own;
    CHECK(!getrusage(RUSAGE_SELF, &all) && !getrusage(RUSAGE_THREAD, &own));
    return all.ru_nvcsw - own.ru_nvcsw;
}

/* Wait until the others sleep, which on a busy machine takes them a while. */
static void settle(void)
{
    long before, now = sleeps();
    do {
        before = now;
        threads_pause(SETTLE_MS);
        now = sleeps();
    } while (now - before > 8 * BLOCKED);
}

int main(int argc, char **argv)
{
    struct thread threads[BLOCKED];
    threads_init(&argc, &argv);
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD), nothing = 0;
    for (int i = 0; i < BLOCKED; i++) {
        threads[i].number = i;
        CHECK(!pthread_create(&threads[i].id, NULL, blocked, &threads[i]));
    }
    settle();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    double began = MPI_Wtime();
    long before = sleeps();
    CHECK(exchange(me, size) < LATE_MOST); /* nobody forgets a wake, and finds out later */
    /* A thread looks up ten times a second by itself; and one is there for all. */
    double most = 20 * BLOCKED * (1 + MPI_Wtime() - began) + 10 * ROUNDS;
#ifndef __SANITIZE_THREAD__
    CHECK(sleeps() - before < most);
#else
    (void)before;
    (void)most;
#endif
    for (int i = 0; i < BLOCKED; i++)
        for (int k = 0; k < (i % 4 ? 2 : 1); k++)
            OK(MPI_Send(&nothing, 1, MPI_INT, me, LAST + i, MPI_COMM_WORLD));
    for (int i = 0; i < BLOCKED; i++)
        CHECK(!pthread_join(threads[i].id, NULL));
    OK(MPI_Finalize());
    return 0;
}
