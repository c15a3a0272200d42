/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The receiver learns how long a message is before it makes room for it.
 *
 * Functions: MPI_Probe MPI_Iprobe
 * Ranks: 2
 * Prints:
 *     4 letters: ping
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Send("ping", 4, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Status status;
        int count, here;
        MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Iprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &here, &status); /* does not wait */
        MPI_Get_count(&status, MPI_CHAR, &count);
        char *letters = malloc((size_t)count);
        MPI_Recv(letters, count, MPI_CHAR, 0, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d letters: %.*s\n", here ? count : -1, count, letters);
        free(letters);
    }
    MPI_Finalize();
    return 0;
}
