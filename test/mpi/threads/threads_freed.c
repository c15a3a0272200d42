/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Requests of a freed communicator that fail in several threads at once: each call of its error
 * handler may use the communicator.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 4, MANY = 30, ROUNDS = 4, PAUSE_US = 100 };

static MPI_Request requests[THREADS][MANY];
static int words[THREADS][MANY];
static _Atomic int calls, wrong;

static void look(MPI_Comm *comm, int *code, ...)
{
    int rank = -1;
    (void)code;
    usleep(PAUSE_US);
    calls++;
    if (MPI_Comm_rank(*comm, &rank) || rank)
        wrong++;
}

static void *wait_all(void *arg)
{
    MPI_Request *mine = arg;
    for (int i = 0; i < MANY; i++)
        MPI_Wait(&mine[i], MPI_STATUS_IGNORE);
    return NULL;
}

/* Each message is longer than its receive. */
static void post(MPI_Comm comm)
{
    int data[2] = {0};
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < MANY; i++)
            OK(MPI_Irecv(&words[t][i], 1, MPI_INT, 0, t, comm, &requests[t][i]));
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < MANY; i++)
            OK(MPI_Send(data, 2, MPI_INT, 0, t, comm));
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Errhandler handler;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)); /* for a handle that leads nowhere */
    OK(MPI_Comm_create_errhandler(look, &handler));
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        MPI_Comm comm;
        OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
        OK(MPI_Comm_set_errhandler(comm, handler));
        post(comm);
        OK(MPI_Comm_free(&comm));
        for (int t = 0; t < THREADS; t++)
            CHECK(!pthread_create(&threads[t], NULL, wait_all, requests[t]));
        for (int t = 0; t < THREADS; t++)
            CHECK(!pthread_join(threads[t], NULL));
    }
    CHECK(calls == ROUNDS * THREADS * MANY);
    CHECK(!wrong);
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Finalize());
    return 0;
}
