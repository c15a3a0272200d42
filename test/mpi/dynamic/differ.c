/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One of two jobs whose setting byte_order differs: they come together, but no message passes, and all ranks are told
 * so. They part as any jobs do. differ.sh starts them.
 *
 * differ accept|connect NAME
 */
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "check.h"

static void look_up(const char *name, char *port)
{
    const struct timespec pause = {.tv_nsec = 2000000};
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    while (MPI_Lookup_name(name, MPI_INFO_NULL, port))
        nanosleep(&pause, NULL);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
}

/* A message to the other job, and a communicator with it. */
static void refused(MPI_Comm inter, bool accepts)
{
    int rank = check_rank(inter), got = -1;
    MPI_Comm all;
    FAILS(MPI_ERR_OTHER, MPI_Sendrecv(&rank, 1, MPI_INT, rank, 3, &got, 1, MPI_INT, rank, 3, inter, MPI_STATUS_IGNORE));
    CHECK(got == -1);
    CHECK(MPI_Intercomm_merge(inter, accepts, &all) != MPI_SUCCESS);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    OK(MPI_Init(&argc, &argv));
    CHECK(argc == 3);
    bool accepts = !strcmp(argv[1], "accept"), leads = check_rank(MPI_COMM_WORLD) == 0;
    if (accepts && leads) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        OK(MPI_Publish_name(argv[2], MPI_INFO_NULL, port));
    } else if (leads) {
        look_up(argv[2], port);
    }
    if (accepts)
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    else
        OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    refused(inter, accepts);
    OK(MPI_Comm_disconnect(&inter));
    OK(MPI_Finalize());
    return 0;
}
