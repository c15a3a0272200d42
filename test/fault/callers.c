/* SPDX-License-Identifier: BSD-3-Clause */

/* All ranks send a word to rank 0, which receives them. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank)
        MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    for (int i = 1; !rank && i < size; i++)
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
