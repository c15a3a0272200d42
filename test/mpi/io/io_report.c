/* SPDX-License-Identifier: BSD-3-Clause */

/* Errors of files at which the program does not look: of an open that fails together, of a write that the
 * mode does not allow, of a file that is none; and one of a handler that the program has set.
 * usage: io_report FOLDER */
#include <mpi.h>
#include <stdio.h>

#include "../check.h"

static int calls;

static void count(MPI_File *file, int *code, ...)
{
    (void)file;
    (void)code;
    calls++;
}

int main(int argc, char **argv)
{
    char name[4096];
    MPI_File file;
    MPI_Offset size;
    MPI_Errhandler own;
    CHECK(argc == 2);
    MPI_Init(&argc, &argv);
    snprintf(name, sizeof(name), "%s/none/file", argv[1]);
    CHECK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    CHECK(file == MPI_FILE_NULL);
    CHECK(MPI_File_get_size(MPI_FILE_NULL, &size));
    CHECK(!MPI_File_open(MPI_COMM_WORLD, argv[0], MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    CHECK(MPI_File_write(file, name, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_File_close(&file);
    MPI_File_create_errhandler(count, &own);
    MPI_File_set_errhandler(MPI_FILE_NULL, own);
    CHECK(MPI_File_delete(name, MPI_INFO_NULL));
    CHECK(calls == 1);
    MPI_Errhandler_free(&own);
    MPI_Finalize();
    return 0;
}
