/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Each process has some lines and learns at which number its first one stands.
 *
 * Functions: MPI_Scan MPI_Exscan
 * Ranks: 3
 * Prints:
 *     rank 2 begins at line 3, and ends before line 6
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int lines = rank + 1, first = 0, end;
    MPI_Exscan(&lines, &first, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* rank 0 keeps its 0 */
    MPI_Scan(&lines, &end, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 2)
        printf("rank 2 begins at line %d, and ends before line %d\n", first, end);
    MPI_Finalize();
    return 0;
}
