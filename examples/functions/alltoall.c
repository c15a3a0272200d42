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
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int *row = malloc(2 * (size_t)size * sizeof(int)), *column = row + size;
    for (int i = 0; i < size; i++)
        row[i] = rank * 10 + i;
    MPI_Alltoall(row, 1, MPI_INT, column, 1, MPI_INT, MPI_COMM_WORLD);
    if (rank == 1) {
        printf("column 1 is");
        for (int i = 0; i < size; i++)
            printf(" %d", column[i]);
        printf("\n");
    }
    free(row);
    MPI_Finalize();
    return 0;
}
