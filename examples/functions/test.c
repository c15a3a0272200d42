/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rank 0 works in small steps until a message is there.
 *
 * Functions: MPI_Test MPI_Testall
 * Ranks: 2
 * Prints:
 *     worked, and got 5
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int value, done = 0;
        long steps = 0;
        MPI_Request request;
        MPI_Irecv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        while (!done) {
            steps++; /* a step of work */
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        printf("%s, and got %d\n", steps ? "worked" : "idle", value);
    } else if (rank == 1) {
        int value = 5, done = 0;
        MPI_Request request;
        MPI_Isend(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
        while (!done)
            MPI_Testall(1, &request, &done, MPI_STATUSES_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
