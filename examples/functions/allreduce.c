/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every process learns the largest of all values, and how long that took.
 *
 * Functions: MPI_Allreduce MPI_Barrier MPI_Wtime
 * Ranks: 3
 * Prints:
 *     the largest is 20, found in less than a minute
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int value = rank * 10, largest;
    MPI_Barrier(MPI_COMM_WORLD); /* all begin together */
    double began = MPI_Wtime();
    MPI_Allreduce(&value, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    double took = MPI_Wtime() - began;
    if (rank == 0)
        printf("the largest is %d, found in %s than a minute\n", largest,
               took < 60 ? "less" : "more");
    MPI_Finalize();
    return 0;
}
