/* SPDX-License-Identifier: BSD-3-Clause */

/* What the tests of files share: a folder that all ranks have, and that is gone at the end. */
#ifndef TEST_MPI_IO_H
#define TEST_MPI_IO_H

#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static char io_folder[64];

/* Collective. Below $VIREO_TEST_IO where that is set, else below /tmp. */
static inline void io_begin(void)
{
    const char *top = getenv("VIREO_TEST_IO");
    if (check_rank(MPI_COMM_WORLD) == 0) {
        snprintf(io_folder, sizeof(io_folder), "%.40s/vireo-io-XXXXXX", top ? top : "/tmp");
        CHECK(mkdtemp(io_folder));
    }
    OK(MPI_Bcast(io_folder, sizeof(io_folder), MPI_CHAR, 0, MPI_COMM_WORLD));
}

/* A name in the folder; for the arguments of one call. */
static inline const char *io_name(const char *name)
{
    static _Thread_local char path[512];
    snprintf(path, sizeof(path), "%s/%s", io_folder, name);
    return path;
}

/* Collective. Removes the folder and what is in it; left files are counted, dot files too. */
static inline int io_end(void)
{
    int left = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (check_rank(MPI_COMM_WORLD) == 0) {
        DIR *dir = opendir(io_folder);
        struct dirent *entry;
        CHECK(dir);
        while ((entry = readdir(dir))) {
            if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
                continue;
            left++;
            (void)unlink(io_name(entry->d_name));
        }
        closedir(dir);
        CHECK(rmdir(io_folder) == 0);
    }
    OK(MPI_Bcast(&left, 1, MPI_INT, 0, MPI_COMM_WORLD));
    return left;
}

static inline MPI_File io_open(const char *name, int amode)
{
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, io_name(name), amode, MPI_INFO_NULL, &file));
    return file;
}

static inline int io_count(MPI_Status *status, MPI_Datatype type)
{
    int count = -1;
    OK(MPI_Get_count(status, type, &count));
    return count;
}

#endif
