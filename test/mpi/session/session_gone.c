/* SPDX-License-Identifier: BSD-3-Clause */

/* A process ends between its sessions, while others make a communicator with it once more: they
 * are told, instead of waiting. The argument is its rank. */
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static int epoch(int number, int gone)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    int rank, rc = MPI_SUCCESS;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Group_rank(group, &rank));
    int goes = number && rank == gone;
    if (!goes)
        rc = MPI_Comm_create_from_group(group, "gone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    if (!goes && number)
        FAILS(MPI_ERR_PROC_ABORTED, rc);
    if (!number) {
        OK(rc);
        OK(MPI_Barrier(comm));
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Group_free(&group));
    OK(MPI_Session_finalize(&session));
    if (goes)
        usleep(100000);
    return goes;
}

int main(int argc, char **argv)
{
    int gone = argc > 1 ? atoi(argv[1]) : 0;
    for (int number = 0; number < 2; number++)
        if (epoch(number, gone))
            break;
    return 0;
}
