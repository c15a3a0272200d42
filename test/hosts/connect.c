/* SPDX-License-Identifier: BSD-3-Clause */

/* An MPI program that opens a connection between each two ranks, and prints how long the slowest
 * took: from the first message to its answer, less one exchange over the connection as it is then.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size;

/* The lower of two sends first. Writes the time until the answer for each higher rank. */
static void exchange(int tag, double *seconds)
{
    MPI_Request *sends = malloc((size_t)size * sizeof(MPI_Request));
    MPI_Request *receives = malloc((size_t)size * sizeof(MPI_Request));
    int *words = calloc((size_t)size, sizeof(*words));
    if (!sends || !receives || !words)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int r = 0; r < size; r++) {
        sends[r] = receives[r] = MPI_REQUEST_NULL;
        if (r != rank)
            MPI_Irecv(&words[r], 1, MPI_INT, r, tag, MPI_COMM_WORLD, &receives[r]);
    }
    double begin = MPI_Wtime();
    for (int r = rank + 1; r < size; r++)
        MPI_Isend(&rank, 1, MPI_INT, r, tag, MPI_COMM_WORLD, &sends[r]);
    for (int left = size - 1; left; left--) {
        int from;
        MPI_Waitany(size, receives, &from, MPI_STATUS_IGNORE);
        if (words[from] != (from < rank ? from : rank))
            MPI_Abort(MPI_COMM_WORLD, 3);
        if (from > rank)
            seconds[from] = MPI_Wtime() - begin;
        else
            MPI_Isend(&words[from], 1, MPI_INT, from, tag, MPI_COMM_WORLD, &sends[from]);
    }
    MPI_Waitall(size, sends, MPI_STATUSES_IGNORE);
    free(sends);
    free(receives);
    free(words);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *first = calloc((size_t)size, sizeof(*first));
    double *second = calloc((size_t)size, sizeof(*second)), mine = 0, slowest;
    if (!first || !second)
        MPI_Abort(MPI_COMM_WORLD, 2);
    exchange(1, first);
    exchange(2, second);
    for (int r = rank + 1; r < size; r++)
        if (first[r] - second[r] > mine)
            mine = first[r] - second[r];
    MPI_Reduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d connections, the slowest in %.3f s\n", size * (size - 1) / 2, slowest);
    free(first);
    free(second);
    MPI_Finalize();
    return 0;
}
