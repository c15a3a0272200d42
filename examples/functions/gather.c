/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rank 0 gives each process a number, and collects their squares.
 *
 * Functions: MPI_Scatter MPI_Gather MPI_Abort
 * Ranks: 3
 * Prints:
 *     1 4 9
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int numbers[3] = {1, 2, 3}, mine, squares[3];
    if (size != 3)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Scatter(numbers, 1, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
    mine *= mine;
    MPI_Gather(&mine, 1, MPI_INT, squares, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d %d %d\n", squares[0], squares[1], squares[2]);
    MPI_Finalize();
    return 0;
}
