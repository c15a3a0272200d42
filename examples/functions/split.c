/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Even and odd ranks each get a communicator of their own; a library takes a copy of it, so its
 * messages cannot be mixed up with others.
 *
 * Functions: MPI_Comm_split MPI_Comm_dup MPI_Comm_free
 * Ranks: 4
 * Prints:
 *     rank 2 is rank 1 of 2 among the even
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm half, copy;
    int my_rank, my_size;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_dup(half, &copy);
    MPI_Comm_rank(copy, &my_rank);
    MPI_Comm_size(copy, &my_size);
    if (rank == 2)
        printf("rank 2 is rank %d of %d among the even\n", my_rank, my_size);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
