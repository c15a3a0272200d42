/* SPDX-License-Identifier: BSD-3-Clause */

/* Error handlers for other objects than communicators: each kind is for its own, the default of
 * files can be set and called, and one that is freed lives as long as it is in use. */
#include "check.h"

static int calls, last_code;
static MPI_File last_file;
static MPI_Errhandler own; /* freed and set anew within the callback */

static void on_file(MPI_File *file, int *code, ...)
{
    calls++;
    last_file = *file;
    last_code = *code;
}

static void on_comm(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_code = *code;
}

static void on_win(MPI_Win *win, int *code, ...)
{
    calls++;
}

static void on_session(MPI_Session *session, int *code, ...)
{
    calls++;
}

/* The last reference on the handler goes while it runs. */
static void changing(MPI_Comm *comm, int *code, ...)
{
    calls++;
    OK(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN));
    last_code = *code;
}

static void called(int code)
{
    CHECK(calls == 1 && last_code == code && last_file == MPI_FILE_NULL);
    calls = 0;
}

static void files(void)
{
    MPI_Errhandler mine, got;
    MPI_File bad = (MPI_File)0x11c;
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO)); /* returns */
    FAILS(MPI_ERR_FILE, MPI_File_get_errhandler(bad, &got));
    OK(MPI_File_create_errhandler(on_file, &mine));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, mine));
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == mine);
    OK(MPI_Errhandler_free(&mine));
    OK(MPI_Errhandler_free(&got));
    OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO)); /* it is still there */
    called(MPI_ERR_IO);
    int rc = MPI_File_set_errhandler(bad, MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_FILE, rc);
    called(rc);
    rc = MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRHANDLER_NULL);
    FAILS(MPI_ERR_ERRHANDLER, rc);
    called(rc);
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO));
    CHECK(calls == 0);
}

static void kinds(void)
{
    MPI_Errhandler all[4];
    OK(MPI_Comm_create_errhandler(on_comm, &all[0]));
    OK(MPI_File_create_errhandler(on_file, &all[1]));
    OK(MPI_Win_create_errhandler(on_win, &all[2]));
    OK(MPI_Session_create_errhandler(on_session, &all[3]));
    for (int i = 0; i < 4; i++) {
        if (i != 0)
            FAILS(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_WORLD, all[i]));
        if (i != 1)
            FAILS(MPI_ERR_ERRHANDLER, MPI_File_set_errhandler(MPI_FILE_NULL, all[i]));
        CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(all[i])) == all[i]);
    }
    for (int i = 0; i < 4; i++) {
        OK(MPI_Errhandler_free(&all[i]));
        CHECK(all[i] == MPI_ERRHANDLER_NULL);
    }
    FAILS(MPI_ERR_ARG, MPI_File_create_errhandler(NULL, &all[0]));
    FAILS(MPI_ERR_ARG, MPI_Win_create_errhandler(on_win, NULL));
    FAILS(MPI_ERR_ARG, MPI_Session_create_errhandler(NULL, &all[0]));
}

static void within(void)
{
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_errhandler(changing, &own));
    OK(MPI_Comm_set_errhandler(comm, own));
    OK(MPI_Errhandler_free(&own));
    for (int i = 0; i < 2; i++)
        OK(MPI_Comm_call_errhandler(comm, MPI_ERR_OTHER));
    CHECK(calls == 1 && last_code == MPI_ERR_OTHER);
    calls = 0;
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MPI_Errhandler early;
    OK(MPI_File_create_errhandler(on_file, &early)); /* at any time */
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    files();
    kinds();
    within();
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, early)); /* stays to the end */
    OK(MPI_Finalize());
    OK(MPI_Errhandler_free(&early));
    return 0;
}
