/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A message travels while the process computes; the buffer is touched again after the wait.
 *
 * Functions: MPI_Wait MPI_Ssend
 * Ranks: 2
 * Prints:
 *     received 42 after computing 4950
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int answer = 42;
        MPI_Ssend(&answer, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        int answer, sum = 0;
        MPI_Request request;
        MPI_Irecv(&answer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        for (int i = 0; i < 100; i++)
            sum += i;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        printf("received %d after computing %d\n", answer, sum);
    }
    MPI_Finalize();
    return 0;
}
