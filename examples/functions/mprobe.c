/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A message that was probed is taken out of the queue: no other thread can receive it.
 *
 * Functions: MPI_Mprobe MPI_Mrecv
 * Ranks: 2
 * Prints:
 *     received 2.5
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double value = 2.5;
    if (rank == 0) {
        MPI_Send(&value, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Message message;
        value = 0;
        MPI_Mprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        MPI_Mrecv(&value, 1, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
        printf("received %.1f\n", value);
    }
    MPI_Finalize();
    return 0;
}
