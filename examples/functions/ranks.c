/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Each process tells who it is.
 *
 * Functions: MPI_Init MPI_Finalize MPI_Comm_rank MPI_Comm_size MPI_Get_processor_name
 * Ranks: 1
 * Prints:
 *     rank 0 of 1 has a processor
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char name[MPI_MAX_PROCESSOR_NAME];
    int length;
    MPI_Get_processor_name(name, &length);
    printf("rank %d of %d has %s\n", rank, size, length > 0 ? "a processor" : "no name");
    MPI_Finalize();
    return 0;
}
