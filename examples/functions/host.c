/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The processes of a host find each other.
 *
 * Functions: MPI_Comm_split_type
 * Ranks: 2
 * Prints:
 *     2 on this host
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm host;
    int count;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &count);
    if (rank == 0)
        printf("%d on this host\n", count);
    MPI_Comm_free(&host);
    MPI_Finalize();
    return 0;
}
