/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Some processes make a communicator; the others do not take part.
 *
 * Functions: MPI_Comm_group MPI_Group_incl MPI_Comm_create_group MPI_Group_free
 * Ranks: 4
 * Prints:
 *     0 and 3 share 6
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int chosen[2] = {0, size - 1}, value;
    MPI_Group world, pair;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 2, chosen, &pair);
    if (rank == 0 || rank == size - 1) {
        MPI_Comm both;
        int sum;
        MPI_Comm_create_group(MPI_COMM_WORLD, pair, 0, &both);
        value = rank * 2;
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, both);
        if (rank == 0)
            printf("0 and %d share %d\n", size - 1, sum);
        MPI_Comm_free(&both);
    }
    MPI_Group_free(&pair);
    MPI_Group_free(&world);
    MPI_Finalize();
    return 0;
}
