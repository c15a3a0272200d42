/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads of a process lock different targets of one window, and add to its numbers within one
 * MPI_Win_lock_all: every lock is given back, so that the window can be freed, and no sum is lost. */
#include <pthread.h>

#include "windows.h"

enum {
    THREADS = 4,
    ROUNDS = 500,
    COUNT = 4
};

static struct window w;
static int size;

/* Each thread has a part of the targets of its own. */
static void *lock_some(void *arg)
{
    int me = (int)(intptr_t)arg;
    const long one = 1;
    for (int i = 0; i < ROUNDS; i++)
        for (int target = me; target < size; target += THREADS) {
            OK(MPI_Win_lock(i % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target, 0, w.win));
            OK(MPI_Accumulate(&one, 1, MPI_LONG, target, window_at(&w, target, 0), 1, MPI_LONG,
                              MPI_SUM, w.win));
            OK(MPI_Win_unlock(target, w.win));
        }
    return NULL;
}

static void *add_all(void *arg)
{
    const long one = 1;
    for (int i = 0; i < ROUNDS / 20; i++)
        for (int target = 0; target < size; target++)
            OK(MPI_Accumulate(&one, 1, MPI_LONG, target, window_at(&w, target, 1), 1, MPI_LONG,
                              MPI_SUM, w.win));
    return arg;
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
    size = check_size(MPI_COMM_WORLD);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        w = window_open(MPI_COMM_WORLD, (enum window_kind)kind, COUNT);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        run(lock_some);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_lock_all(0, w.win));
        run(add_all);
        OK(MPI_Win_unlock_all(w.win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK(w.mine[0] == (long)ROUNDS * size);
        CHECK(w.mine[1] == (long)ROUNDS / 20 * THREADS * size);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        window_close(&w);
    }
    OK(MPI_Finalize());
    return 0;
}
