/* SPDX-License-Identifier: BSD-3-Clause */

/* Files in sessions, one after the other: there is no MPI_COMM_WORLD, and MPI ends and begins
 * between them. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mpi.h>

static void need(int good, const char *what, int line)
{
    if (good)
        return;
    fprintf(stderr, "io_session.c:%d: not so: %s\n", line, what);
    exit(1);
}
#define NEED(what) need(!!(what), #what, __LINE__)

static void access_file(MPI_Comm comm, const char *name, int epoch)
{
    MPI_File file;
    MPI_Request request;
    int rank, size, got = -1, mine;
    NEED(!MPI_Comm_rank(comm, &rank));
    NEED(!MPI_Comm_size(comm, &size));
    mine = epoch * 100 + rank;
    NEED(!MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                        MPI_INFO_NULL, &file));
    NEED(!MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    NEED(!MPI_File_iwrite_at_all(file, rank, &mine, 1, MPI_INT, &request));
    NEED(!MPI_Wait(&request, MPI_STATUS_IGNORE));
    NEED(!MPI_File_write_ordered(file, &mine, 1, MPI_INT, MPI_STATUS_IGNORE));
    NEED(!MPI_File_read_at_all(file, (rank + 1) % size, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    NEED(got == epoch * 100 + (rank + 1) % size);
    NEED(!MPI_File_close(&file));
}

int main(void)
{
    char name[64];
    for (int epoch = 0; epoch < 3; epoch++) {
        MPI_Session session;
        MPI_Group group;
        MPI_Comm comm;
        NEED(!MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
        NEED(!MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
        NEED(!MPI_Comm_create_from_group(group, "io", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
        snprintf(name, sizeof(name), "/tmp/vireo-io-session-%d", (int)getppid());
        access_file(comm, name, epoch);
        NEED(!MPI_Group_free(&group));
        NEED(!MPI_Comm_free(&comm));
        NEED(!MPI_Session_finalize(&session));
    }
    return 0;
}
