/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A count and so many numbers go in one message.
 *
 * Functions: MPI_Pack MPI_Unpack
 * Ranks: 2
 * Prints:
 *     3 numbers, the last is 0.75
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char buffer[100];
    int at = 0, count = 3;
    double numbers[3] = {0.25, 0.5, 0.75};
    if (rank == 0) {
        MPI_Pack(&count, 1, MPI_INT, buffer, 100, &at, MPI_COMM_WORLD);
        MPI_Pack(numbers, count, MPI_DOUBLE, buffer, 100, &at, MPI_COMM_WORLD);
        MPI_Send(buffer, at, MPI_PACKED, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        double got[3];
        MPI_Recv(buffer, 100, MPI_PACKED, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Unpack(buffer, 100, &at, &count, 1, MPI_INT, MPI_COMM_WORLD);
        MPI_Unpack(buffer, 100, &at, got, count, MPI_DOUBLE, MPI_COMM_WORLD);
        printf("%d numbers, the last is %.2f\n", count, got[count - 1]);
    }
    MPI_Finalize();
    return 0;
}
