/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every process sends to the next and receives from the one before. Neither call blocks, so the
 * order of the calls cannot lead to a deadlock.
 *
 * Functions: MPI_Isend MPI_Irecv MPI_Waitall
 * Ranks: 3
 * Prints:
 *     rank 0 has 20
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int out = rank * 10, in;
    MPI_Request requests[2];
    MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
        printf("rank 0 has %d\n", in);
    MPI_Finalize();
    return 0;
}
