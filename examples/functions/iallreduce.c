/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A sum is made, and a number sent to all, while the process does something else.
 *
 * Functions: MPI_Iallreduce MPI_Ibcast MPI_Ibarrier
 * Ranks: 3
 * Prints:
 *     the sum is 3, the number 7
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int sum, number = 7, work = 0;
    MPI_Request requests[3];
    MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
    MPI_Ibcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
    while (work < 1000)
        work++;
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
        printf("the sum is %d, the number %d\n", sum, number);
    MPI_Finalize();
    return 0;
}
