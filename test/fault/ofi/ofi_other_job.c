/* SPDX-License-Identifier: BSD-3-Clause */

/* A process waits for one of another job, which is killed: it hears of that. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>

static void be_killed(MPI_Comm parent)
{
    int word = 1;
    MPI_Send(&word, 1, MPI_INT, 0, 0, parent);
    MPI_Recv(&word, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
    raise(SIGKILL);
}

static int wait_for(MPI_Comm child)
{
    int word = 0, error_class = 0;
    MPI_Comm_set_errhandler(child, MPI_ERRORS_RETURN);
    MPI_Recv(&word, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE);
    MPI_Send(&word, 1, MPI_INT, 0, 0, child);
    MPI_Error_class(MPI_Recv(&word, 1, MPI_INT, 0, 0, child, MPI_STATUS_IGNORE), &error_class);
    return word == 1 ? error_class : MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, child;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        be_killed(parent);
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
    printf("%s\n", wait_for(child) == MPIX_ERR_PROC_FAILED ? "heard" : "not heard");
    MPI_Comm_free(&child);
    MPI_Finalize();
    return 0;
}
