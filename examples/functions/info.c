/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Hints are pairs of words.
 *
 * Functions: MPI_Info_create MPI_Info_set MPI_Info_get_string MPI_Info_free
 * Ranks: 1
 * Prints:
 *     access_style is read_once
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char value[20];
    int length = sizeof(value), found;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "access_style", "read_once");
    MPI_Info_get_string(info, "access_style", &length, value, &found);
    if (rank == 0 && found)
        printf("access_style is %s\n", value);
    MPI_Info_free(&info);
    MPI_Finalize();
    return 0;
}
