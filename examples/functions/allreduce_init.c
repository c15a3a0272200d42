/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A sum that is made often is prepared once.
 *
 * Functions: MPI_Allreduce_init
 * Ranks: 3
 * Prints:
 *     the last sum is 9
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int value, sum;
    MPI_Request request;
    MPI_Allreduce_init(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int step = 1; step <= 3; step++) {
        value = step;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    if (rank == 0)
        printf("the last sum is %d\n", sum);
    MPI_Finalize();
    return 0;
}
