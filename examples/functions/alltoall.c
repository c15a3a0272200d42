/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A matrix that has a row in each process is transposed.
 *
 * Functions: MPI_Alltoall
 * Ranks: 3
 * Prints:
 *     column 1 is 1 11 21
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int row[3] = {rank * 10, rank * 10 + 1, rank * 10 + 2}, column[3];
    MPI_Alltoall(row, 1, MPI_INT, column, 1, MPI_INT, MPI_COMM_WORLD);
    if (rank == 1)
        printf("column 1 is %d %d %d\n", column[0], column[1], column[2]);
    MPI_Finalize();
    return 0;
}
