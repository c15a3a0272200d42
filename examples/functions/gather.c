/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rank 0 gives each process a number, and collects their squares.
 *
 * Functions: MPI_Scatter MPI_Gather
 * Ranks: 3
 * Prints:
 *     1 4 9
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
    int *numbers = malloc(2 * (size_t)size * sizeof(int)), *squares = numbers + size, mine;
    for (int i = 0; i < size; i++)
        numbers[i] = i + 1;
    MPI_Scatter(numbers, 1, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
    mine *= mine;
    MPI_Gather(&mine, 1, MPI_INT, squares, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < size && rank == 0; i++)
        printf("%d%s", squares[i], i + 1 < size ? " " : "\n");
    free(numbers);
    MPI_Finalize();
    return 0;
}
