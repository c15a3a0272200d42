/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An error is returned instead of ending the job; its class says what is wrong.
 *
 * Functions: MPI_Comm_set_errhandler MPI_Error_class MPI_Error_string
 * Ranks: 1
 * Prints:
 *     MPI_ERR_RANK, with a sentence about it
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char text[MPI_MAX_ERROR_STRING];
    int error_class, length, value = 1;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error = MPI_Send(&value, 1, MPI_INT, size + 10, 0, MPI_COMM_WORLD);
    MPI_Error_class(error, &error_class);
    MPI_Error_string(error, text, &length);
    if (rank == 0 && error_class == MPI_ERR_RANK)
        printf("MPI_ERR_RANK, with %s\n", length ? "a sentence about it" : "nothing said");
    MPI_Finalize();
    return 0;
}
