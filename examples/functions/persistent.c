/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The same message goes again and again: it is prepared once.
 *
 * Functions: MPI_Send_init MPI_Recv_init MPI_Start MPI_Request_free
 * Ranks: 2
 * Prints:
 *     the sum of three rounds is 3
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank > 1) { /* takes no part */
        MPI_Finalize();
        return 0;
    }
    int value = 0, sum = 0;
    MPI_Request request;
    if (rank == 0)
        MPI_Send_init(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    else
        MPI_Recv_init(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    for (int round = 0; round < 3; round++) {
        if (rank == 0)
            value = round;
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        sum += value;
    }
    MPI_Request_free(&request);
    if (rank == 1)
        printf("the sum of three rounds is %d\n", sum);
    MPI_Finalize();
    return 0;
}
