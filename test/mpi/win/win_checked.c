/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads of a program that is right, under mpiexec --check: an operation with a request is over once its
 * own request is, whatever other threads start meanwhile; and windows come and go while other threads
 * use memory. Nothing is named. */
#include <pthread.h>

#include "windows.h"

enum {
    THREADS = 4,
    ROUNDS = 60,
    GETS = 40, /* a thread, in each round */
    WINDOWS = 100,
    TAG = 5
};

static struct window w;
static int next;
static MPI_Comm comms[THREADS];

/* Each thread has a number of its own. */
static void *get(void *arg)
{
    int me = (int)(intptr_t)arg;
    long got;
    MPI_Request request;
    for (int i = 0; i < GETS; i++) {
        OK(MPI_Rget(&got, 1, MPI_LONG, next, window_at(&w, next, me), 1, MPI_LONG, w.win, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    return NULL;
}

/* The first thread makes windows, and the others send to themselves. */
static void *come_and_go(void *arg)
{
    int me = (int)(intptr_t)arg;
    for (int i = 0; i < WINDOWS; i++) {
        long sent = i, got = -1;
        if (me == 0) {
            struct window some = window_open(comms[me], WINDOW_ALLOCATE, 1);
            window_close(&some);
            continue;
        }
        for (int k = 0; k < 10; k++)
            OK(MPI_Sendrecv(&sent, 1, MPI_LONG, 0, TAG, &got, 1, MPI_LONG, 0, TAG, comms[me], MPI_STATUS_IGNORE));
        CHECK(got == sent);
    }
    return NULL;
}

static void run(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, body, (void *)(intptr_t)i));
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_join(threads[i], NULL));
}

int main(int argc, char **argv)
{
    int provided;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    CHECK(provided == MPI_THREAD_MULTIPLE);
    int me = check_rank(MPI_COMM_WORLD);
    next = (me + 1) % check_size(MPI_COMM_WORLD);
    w = window_open(MPI_COMM_WORLD, WINDOW_ALLOCATE, THREADS);
    OK(MPI_Win_lock_all(0, w.win));
    for (int i = 0; i < ROUNDS; i++) {
        run(get);
        OK(MPI_Barrier(MPI_COMM_WORLD)); /* all have been got, so they may change */
        long value[THREADS] = {i};
        OK(MPI_Put(value, THREADS, MPI_LONG, me, 0, THREADS, MPI_LONG, w.win));
        OK(MPI_Win_flush(me, w.win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Win_unlock_all(w.win));
    window_close(&w);
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_dup(MPI_COMM_SELF, &comms[i]));
    run(come_and_go);
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_free(&comms[i]));
    OK(MPI_Finalize());
    return 0;
}
