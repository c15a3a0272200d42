/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Each process sees every third number of a file as if it were a file of its own.
 *
 * Functions: MPI_File_set_view MPI_File_write_all MPI_File_read_at
 * Ranks: 3
 * Prints:
 *     the file begins with 0 1 2 100 101
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int mine[2] = {rank, rank + 100}, whole[5] = {0};
    MPI_File file;
    MPI_Datatype every_third;
    MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &every_third);
    MPI_Type_commit(&every_third);
    MPI_File_open(MPI_COMM_WORLD, "example.view",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT, every_third, "native",
                      MPI_INFO_NULL);
    MPI_File_write_all(file, mine, 2, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 0, whole, 5, MPI_INT, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("the file begins with %d %d %d %d %d\n", whole[0], whole[1], whole[2], whole[3],
               whole[4]);
    MPI_File_close(&file);
    MPI_Type_free(&every_third);
    MPI_Finalize();
    return 0;
}
