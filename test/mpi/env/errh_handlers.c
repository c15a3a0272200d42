/* SPDX-License-Identifier: BSD-3-Clause */

/* Error handlers: which one is called, with what, and how long it lives. */
#include "check.h"

static int calls, last_code;
static MPI_Comm last_comm;

static void count(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_code = *code;
    last_comm = *comm;
}

static void called_on(MPI_Comm on, int error_class)
{
    CHECK(calls == 1 && last_comm == on && check_class(last_code) == error_class);
    calls = 0;
}

int main(int argc, char **argv)
{
    MPI_Errhandler mine, got, null = MPI_ERRHANDLER_NULL;
    MPI_Comm comm;
    int n, rc;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &got));
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_errhandler(count, &mine));
    OK(MPI_Comm_set_errhandler(comm, mine));
    OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK(got == mine);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Errhandler_free(&mine)); /* the communicator keeps it */
    rc = MPI_Send(NULL, 0, MPI_INT, 0, -1, comm);
    CHECK(rc == last_code);
    called_on(comm, MPI_ERR_TAG);
    OK(MPI_Comm_call_errhandler(comm, MPI_ERR_IO));
    CHECK(last_code == MPI_ERR_IO);
    called_on(comm, MPI_ERR_IO);
    FAILS(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(comm, MPI_ERRHANDLER_NULL));
    called_on(comm, MPI_ERR_ERRHANDLER);
    /* Errors without a communicator are MPI_COMM_SELF's. */
    OK(MPI_Comm_create_errhandler(count, &mine));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, mine));
    OK(MPI_Errhandler_free(&mine));
    FAILS(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_NULL, &n));
    called_on(MPI_COMM_SELF, MPI_ERR_COMM);
    FAILS(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &n));
    called_on(MPI_COMM_SELF, MPI_ERR_GROUP);
    FAILS(MPI_ERR_ERRHANDLER, MPI_Errhandler_free(&null));
    called_on(MPI_COMM_SELF, MPI_ERR_ERRHANDLER);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_COMM, MPI_Comm_size(MPI_COMM_NULL, &n));
    CHECK(calls == 0);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Finalize());
    return 0;
}
