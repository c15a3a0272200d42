/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads of a process lock different targets of one window, and add to its numbers within one
 * MPI_Win_lock_all and one exclusive lock: every lock is given back, so that the window can be freed,
 * and no sum is lost. What a thread has put and flushed is there, whatever others flush meanwhile. */
#include <pthread.h>

#include "windows.h"

enum {
    THREADS = 4,
    ROUNDS = 500,
    MINE = 3, /* of the first thread; behind it those of the others */
    COUNT = MINE + THREADS
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

static void *add_locked(void *arg)
{
    const long one = 1;
    int target = (check_rank(MPI_COMM_WORLD) + 1) % size;
    for (int i = 0; i < ROUNDS; i++)
        OK(MPI_Accumulate(&one, 1, MPI_LONG, target, window_at(&w, target, 2), 1, MPI_LONG, MPI_SUM,
                          w.win));
    return arg;
}

/* One number has one writer: each process uses the one of the next rank alone. */
static void *flush_next(void *arg)
{
    int target = (check_rank(MPI_COMM_WORLD) + 1) % size, me = MINE + (int)(intptr_t)arg;
    for (int i = 0; i < ROUNDS / 5; i++) {
        long v = i, got = -1;
        OK(MPI_Put(&v, 1, MPI_LONG, target, window_at(&w, target, me), 1, MPI_LONG, w.win));
        OK(MPI_Win_flush(target, w.win));
        OK(MPI_Get(&got, 1, MPI_LONG, target, window_at(&w, target, me), 1, MPI_LONG, w.win));
        OK(i % 2 ? MPI_Win_flush_all(w.win) : MPI_Win_flush_local(target, w.win));
        CHECK(got == v);
    }
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
    int next = (check_rank(MPI_COMM_WORLD) + 1) % size;
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        w = window_open(MPI_COMM_WORLD, (enum window_kind)kind, COUNT);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        run(lock_some);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_lock_all(0, w.win));
        run(add_all);
        OK(MPI_Win_unlock_all(w.win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, w.win));
        run(add_locked);
        OK(MPI_Win_unlock(next, w.win));
        OK(MPI_Win_lock_all(0, w.win));
        run(flush_next);
        OK(MPI_Win_unlock_all(w.win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK(w.mine[0] == (long)ROUNDS * size);
        CHECK(w.mine[2] == (long)ROUNDS * THREADS);
        CHECK(w.mine[1] == (long)ROUNDS / 20 * THREADS * size);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        window_close(&w);
    }
    OK(MPI_Finalize());
    return 0;
}
