/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The smallest whole program: each rank prints its number and its host.
 *
 *   mpicc hello.c -o hello
 *   mpiexec -n 4 ./hello
 */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    char host[MPI_MAX_PROCESSOR_NAME], library[MPI_MAX_LIBRARY_VERSION_STRING];
    int rank, size, length, version, subversion;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    if (rank == 0) {
        MPI_Get_version(&version, &subversion);
        MPI_Get_library_version(library, &length);
        library[strcspn(library, "\n")] = '\0'; /* the first line of it */
        printf("MPI %d.%d, %s\n", version, subversion, library);
    }
    printf("Hello from rank %d of %d on %s\n", rank, size, host);
    MPI_Finalize();
    return 0;
}
