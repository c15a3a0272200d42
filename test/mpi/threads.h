/* SPDX-License-Identifier: BSD-3-Clause */

/* What programs with several threads share. */
#ifndef TEST_MPI_THREADS_H
#define TEST_MPI_THREADS_H

#include <pthread.h>
#include <time.h>

#include "pattern.h"

enum {
    THREADS = 6
};

struct thread {
    pthread_t id;
    int number; /* 0 to count - 1 */
    MPI_Comm comm;
};

static inline void threads_init(int *argc, char ***argv)
{
    int provided = -1;
    OK(MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided));
    CHECK(provided == MPI_THREAD_MULTIPLE);
}

static inline void threads_run(struct thread *threads, int count, void *(*what)(void *))
{
    for (int i = 0; i < count; i++) {
        threads[i].number = i;
        CHECK(!pthread_create(&threads[i].id, NULL, what, &threads[i]));
    }
    for (int i = 0; i < count; i++)
        CHECK(!pthread_join(threads[i].id, NULL));
}

/* The same, where each has a copy of MPI_COMM_WORLD. */
static inline void threads_run_apart(struct thread *threads, int count, void *(*what)(void *))
{
    for (int i = 0; i < count; i++)
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm));
    threads_run(threads, count, what);
    for (int i = 0; i < count; i++)
        OK(MPI_Comm_free(&threads[i].comm));
}

static inline void threads_pause(int ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

#endif
