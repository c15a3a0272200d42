/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Vectors are added up; each process gets its part of the sum.
 *
 * Functions: MPI_Reduce_scatter_block
 * Ranks: 3
 * Prints:
 *     rank 1 has 33
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
    int *vector = malloc((size_t)size * sizeof(int)), sum;
    for (int i = 0; i < size; i++)
        vector[i] = i * 10 + 1;
    MPI_Reduce_scatter_block(vector, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 1)
        printf("rank 1 has %d\n", sum);
    free(vector);
    MPI_Finalize();
    return 0;
}
