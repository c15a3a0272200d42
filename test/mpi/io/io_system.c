/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Files on what the system has in store: io_system KIND FOLDER
 *
 *   full      the folder is on a small file system: every process of a collective write is told that
 *             it is full
 *   readonly  it is mounted for reading: a file there opens for reading alone
 *   vanished  a file is removed while it is open: it goes on until it is closed
 *   none      no file is used: then the library for files is not even loaded
 */
#include "io.h"

enum { BYTES = 1 << 20 };

static char data[BYTES], got[BYTES];

static int open_in(const char *folder, int amode, MPI_File *file)
{
    char name[512];
    snprintf(name, sizeof(name), "%s/file", folder);
    return MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, file);
}

static void full(const char *folder, int rank)
{
    MPI_File file;
    OK(open_in(folder, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, &file));
    FAILS(MPI_ERR_NO_SPACE, MPI_File_write_at_all(file, (MPI_Offset)rank * BYTES, data, BYTES, MPI_BYTE,
                                                  MPI_STATUS_IGNORE));
    FAILS(MPI_ERR_NO_SPACE, MPI_File_preallocate(file, 64 << 20));
    OK(MPI_File_close(&file));
}

static void readonly(const char *folder)
{
    MPI_File file;
    MPI_Status status;
    FAILS(MPI_ERR_READ_ONLY, open_in(folder, MPI_MODE_RDWR, &file));
    OK(open_in(folder, MPI_MODE_RDONLY, &file));
    OK(MPI_File_read_at_all(file, 0, got, 10, MPI_BYTE, &status));
    CHECK(io_count(&status, MPI_BYTE) == 10);
    FAILS(MPI_ERR_READ_ONLY, MPI_File_write_at(file, 0, data, 10, MPI_BYTE, &status));
    OK(MPI_File_close(&file));
}

static void vanished(const char *folder, int rank)
{
    MPI_File file;
    MPI_Status status;
    memset(data, 1 + rank, sizeof(data));
    OK(open_in(folder, MPI_MODE_CREATE | MPI_MODE_RDWR, &file));
    if (rank == 0) {
        char name[512];
        snprintf(name, sizeof(name), "%s/file", folder);
        CHECK(unlink(name) == 0);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_write_at_all(file, (MPI_Offset)rank * BYTES, data, BYTES, MPI_BYTE, &status));
    OK(MPI_File_read_at_all(file, (MPI_Offset)rank * BYTES, got, BYTES, MPI_BYTE, &status));
    CHECK(!memcmp(data, got, BYTES));
    OK(MPI_File_close(&file));
    FAILS(MPI_ERR_NO_SUCH_FILE, open_in(folder, MPI_MODE_RDONLY, &file));
}

static void none(void)
{
    char line[512];
    int loaded = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    while (fgets(line, sizeof(line), maps))
        loaded += strstr(line, "libvireo-io") != NULL;
    fclose(maps);
    CHECK(!loaded);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD);
    CHECK(argc == 3);
    if (!strcmp(argv[1], "full"))
        full(argv[2], rank);
    else if (!strcmp(argv[1], "readonly"))
        readonly(argv[2]);
    else if (!strcmp(argv[1], "vanished"))
        vanished(argv[2], rank);
    else
        none();
    OK(MPI_Finalize());
    return 0;
}
