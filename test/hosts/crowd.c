/* SPDX-License-Identifier: BSD-3-Clause */

/* Each rank sends a few bytes to each at once, the first between any two. Prints how long that took, in ms. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *in = calloc((size_t)size, sizeof(*in));
    MPI_Request *requests = calloc(2 * (size_t)size, sizeof(*requests));
    if (!in || !requests)
        return 1;
    double began = MPI_Wtime();
    for (int i = 0; i < size; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, i, 1, MPI_COMM_WORLD, &requests[i]);
        MPI_Isend(&rank, 1, MPI_INT, i, 1, MPI_COMM_WORLD, &requests[size + i]);
    }
    MPI_Waitall(2 * size, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < size; i++)
        wrong |= in[i] != i;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_BOR, MPI_COMM_WORLD);
    if (!rank)
        printf("%.0f\n", 1e3 * (MPI_Wtime() - began));
    free(in);
    free(requests);
    MPI_Finalize();
    return all;
}
