/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads of their own begin and end sessions at the same time, the world model not being there
 * or, with an argument, beginning and ending in the midst of it. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#include "check.h"

enum { THREADS = 6, ROUNDS = 40 };

static pthread_barrier_t all;

static void one_round(int thread, int round)
{
    char name[32];
    int rank, size, from = -1;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    snprintf(name, sizeof(name), "thread %d", thread);
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    OK(MPI_Group_from_session_pset(session, round % 3 ? "mpi://WORLD" : "mpi://SELF", &group));
    OK(MPI_Comm_create_from_group(group, name, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    rank = check_rank(comm);
    size = check_size(comm);
    int mine = thread * 100000 + round * 100 + rank, left = (rank + size - 1) % size;
    OK(MPI_Sendrecv(&mine, 1, MPI_INT, (rank + 1) % size, 0, &from, 1, MPI_INT, left, 0, comm,
                    MPI_STATUS_IGNORE));
    CHECK(from == thread * 100000 + round * 100 + left);
    OK(MPI_Barrier(comm));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_finalize(&session));
}

static void *run(void *arg)
{
    int thread = (int)(intptr_t)arg;
    pthread_barrier_wait(&all);
    for (int round = 0; round < ROUNDS; round++)
        one_round(thread, round);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int provided = -1, sum = 0, one = 1;
    (void)argv;
    CHECK(!pthread_barrier_init(&all, NULL, THREADS + 1));
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i));
    pthread_barrier_wait(&all);
    if (argc > 1) {
        OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
        CHECK(provided == MPI_THREAD_MULTIPLE);
        OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK(sum == check_size(MPI_COMM_WORLD));
        OK(MPI_Finalize());
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_join(threads[i], NULL));
    return 0;
}
