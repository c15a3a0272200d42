/* SPDX-License-Identifier: BSD-3-Clause */

/* A crowd of threads that copy communicators at once, each its own, by MPI_Comm_dup and
 * MPI_Comm_idup in turn: every copy keeps its messages to itself, and all come to an end. */
#include <pthread.h>

#include "check.h"

enum { THREADS = 250, COPIES = 4, STACK = 256 << 10 };

static MPI_Comm parent[THREADS];

static void *work(void *arg)
{
    int id = (int)(intptr_t)arg;
    for (int i = 0; i < COPIES; i++) {
        MPI_Comm copy;
        MPI_Request request;
        if ((id + i) % 2) {
            OK(MPI_Comm_dup(parent[id], &copy));
        } else {
            OK(MPI_Comm_idup(parent[id], &copy, &request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        int rank = check_rank(copy), size = check_size(copy), from = (rank + size - 1) % size;
        int out[3] = {rank, id, i}, in[3] = {-1, -1, -1};
        OK(MPI_Sendrecv(out, 3, MPI_INT, (rank + 1) % size, 3, in, 3, MPI_INT, from, 3, copy,
                        MPI_STATUS_IGNORE));
        CHECK(in[0] == from && in[1] == id && in[2] == i);
        OK(MPI_Comm_free(&copy));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int level;
    pthread_t thread[THREADS];
    pthread_attr_t attr;
    MPI_Request request[THREADS];
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
    CHECK(level == MPI_THREAD_MULTIPLE);
    for (int i = 0; i < THREADS; i++)
        OK(MPI_Comm_idup(MPI_COMM_WORLD, &parent[i], &request[i]));
    OK(MPI_Waitall(THREADS, request, MPI_STATUSES_IGNORE));
    CHECK(!pthread_attr_init(&attr) && !pthread_attr_setstacksize(&attr, STACK));
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&thread[i], &attr, work, (void *)(intptr_t)i));
    for (int i = 0; i < THREADS; i++) {
        CHECK(!pthread_join(thread[i], NULL));
        OK(MPI_Comm_free(&parent[i]));
    }
    OK(MPI_Finalize());
    return 0;
}
