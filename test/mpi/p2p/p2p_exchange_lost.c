/* SPDX-License-Identifier: BSD-3-Clause */

/* Sending to a process that is gone, and receiving at the same time what never comes: the error of
 * the send is told, and the receive is withdrawn. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

enum {
    LONG = 1000000,
    TAG = 4
};

static int out[LONG], in[LONG];

/* The receive of the call before did not stay: the next message goes to the next receive. */
static void nothing_is_posted(void)
{
    int one = 1, got = 0;
    in[0] = -1;
    OK(MPI_Sendrecv(&one, 1, MPI_INT, 0, TAG, &got, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    CHECK(got == 1 && in[0] == -1);
}

static void lost(int count, int source)
{
    MPI_Request request;
    MPI_Status status;
    MPI_Comm world = MPI_COMM_WORLD;
    FAILS(MPI_ERR_PROC_ABORTED, MPI_Sendrecv(out, count, MPI_INT, 1, TAG, in, count, MPI_INT,
                                             source, TAG, world, &status));
    nothing_is_posted();
    FAILS(MPI_ERR_PROC_ABORTED,
          MPI_Sendrecv_replace(in, count, MPI_INT, 1, TAG, source, TAG, world, MPI_STATUS_IGNORE));
    nothing_is_posted();
    FAILS(MPI_ERR_ARG,
          MPI_Isendrecv(out, count, MPI_INT, 1, TAG, in, count, MPI_INT, source, TAG, world, NULL));
    OK(MPI_Isendrecv(out, count, MPI_INT, 1, TAG, in, count, MPI_INT, source, TAG, world,
                     &request));
    FAILS(MPI_ERR_PROC_ABORTED, MPI_Wait(&request, &status));
    nothing_is_posted();
    OK(MPI_Isendrecv_replace(in, count, MPI_INT, 1, TAG, source, TAG, world, &request));
    int flag = 0, rc = MPI_SUCCESS;
    while (!flag && !rc)
        rc = MPI_Test(&request, &flag, &status);
    FAILS(MPI_ERR_PROC_ABORTED, rc);
    nothing_is_posted();
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD), other = -1;
    alarm(60);
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, !rank, 1, &other, 1, MPI_INT, !rank, 1, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    CHECK(other == !rank);
    if (rank == 0) {
        usleep(100000); /* the other one is about to finalize */
        OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        while (!MPI_Ssend(out, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD))
            ;
        lost(1, 0);
        lost(LONG, 0);
        lost(1, MPI_ANY_SOURCE);
        lost(LONG, MPI_ANY_SOURCE);
        lost(1, MPI_PROC_NULL);
    }
    OK(MPI_Finalize());
    return 0;
}
