/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A message is sent in four parts, each as soon as it is ready; threads may each fill one.
 *
 * Functions: MPI_Psend_init MPI_Precv_init MPI_Pready
 * Ranks: 2
 * Prints:
 *     40 numbers, the last is 39
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
    int numbers[40] = {0};
    MPI_Request request;
    if (rank == 0) {
        MPI_Psend_init(numbers, 4, 10, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        for (int part = 0; part < 4; part++) {
            for (int i = part * 10; i < part * 10 + 10; i++)
                numbers[i] = i;
            MPI_Pready(part, request);
        }
    } else {
        MPI_Precv_init(numbers, 4, 10, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    if (rank == 1)
        printf("40 numbers, the last is %d\n", numbers[39]);
    MPI_Finalize();
    return 0;
}
