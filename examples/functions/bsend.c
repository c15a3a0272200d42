/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A buffered send returns at once, whether or not the message is received: the program gives the
 * room for it.
 *
 * Functions: MPI_Bsend MPI_Buffer_attach MPI_Buffer_detach MPI_Pack_size
 * Ranks: 2
 * Prints:
 *     received 9
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int value = 9, bytes;
    if (rank == 0) {
        MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &bytes);
        bytes += MPI_BSEND_OVERHEAD;
        void *buffer = malloc((size_t)bytes);
        MPI_Buffer_attach(buffer, bytes);
        MPI_Bsend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
        MPI_Buffer_detach(&buffer, &bytes); /* waits until the message is out */
        free(buffer);
    } else if (rank == 1) {
        value = 0;
        MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("received %d\n", value);
    }
    MPI_Finalize();
    return 0;
}
