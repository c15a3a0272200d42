/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Several threads of a process communicate, each with a tag of its own.
 *
 * Functions: MPI_Init_thread
 * Ranks: 2
 * Prints:
 *     both threads are done
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

static void *swap(void *tag)
{
    int rank, in, out = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(&out, 1, MPI_INT, 1 - rank, *(int *)tag, &in, 1, MPI_INT, 1 - rank, *(int *)tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 1) { /* takes no part */
        MPI_Finalize();
        return 0;
    }
    pthread_t threads[2];
    int tags[2] = {1, 2};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, swap, &tags[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (rank == 0)
        printf("both threads are done\n");
    MPI_Finalize();
    return 0;
}
