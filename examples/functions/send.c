/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One process sends numbers, another receives them and asks how many came.
 *
 * Functions: MPI_Send MPI_Recv MPI_Get_count
 * Ranks: 2
 * Prints:
 *     3 numbers from rank 0 with tag 7: 1 2 3
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int numbers[] = {1, 2, 3};
        MPI_Send(numbers, 3, MPI_INT, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        int numbers[10], count;
        MPI_Status status;
        MPI_Recv(numbers, 10, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        printf("%d numbers from rank %d with tag %d: %d %d %d\n", count, status.MPI_SOURCE,
               status.MPI_TAG, numbers[0], numbers[1], numbers[2]);
    }
    MPI_Finalize();
    return 0;
}
