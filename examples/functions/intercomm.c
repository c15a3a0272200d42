/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Two halves of a job become partners of an intercommunicator, and then one group again.
 *
 * Functions: MPI_Intercomm_create MPI_Intercomm_merge MPI_Comm_remote_size
 * Ranks: 4
 * Prints:
 *     2 here, 2 there, 4 together
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int here, there, together, second = (size + 1) / 2, half = rank >= second;
    MPI_Comm mine, partners, all;
    MPI_Comm_split(MPI_COMM_WORLD, half, rank, &mine);
    MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, half ? 0 : second, 5, &partners);
    MPI_Comm_size(partners, &here);
    MPI_Comm_remote_size(partners, &there);
    MPI_Intercomm_merge(partners, half, &all);
    MPI_Comm_size(all, &together);
    if (rank == 0)
        printf("%d here, %d there, %d together\n", here, there, together);
    MPI_Comm_free(&all);
    MPI_Comm_free(&partners);
    MPI_Comm_free(&mine);
    MPI_Finalize();
    return 0;
}
