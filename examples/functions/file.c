/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All processes write their part of one file, and read the part of another.
 *
 * Functions: MPI_File_open MPI_File_write_at_all MPI_File_read_at_all MPI_File_close MPI_File_sync
 * Ranks: 3
 * Prints:
 *     rank 0 reads what rank 1 wrote: 11
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int value = rank + 10, got = 0;
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, "example.numbers",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof(int), &value, 1, MPI_INT,
                          MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    MPI_File_read_at_all(file, (rank + 1) % size * (MPI_Offset)sizeof(int), &got, 1, MPI_INT,
                         MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("rank 0 reads what rank 1 wrote: %d\n", got);
    MPI_File_close(&file);
    MPI_Finalize();
    return 0;
}
