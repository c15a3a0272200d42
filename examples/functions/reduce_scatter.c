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

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int vector[3] = {1, 11, 21}, sum;
    MPI_Reduce_scatter_block(vector, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 1)
        printf("rank 1 has %d\n", sum);
    MPI_Finalize();
    return 0;
}
