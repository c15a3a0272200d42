/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The first error handler and the kinds of memory that mpiexec's command line, or the environment,
 * asks for: what MPI_INFO_ENV says of them, what the predefined communicators begin with, and,
 * where errors return, which do so before MPI_Init and after MPI_Finalize.
 * usage: errh_initial HANDLER KINDS
 */
#include <string.h>

#include "check.h"

static void check_value(MPI_Info info, const char *key, const char *expect)
{
    char value[MPI_MAX_INFO_VAL];
    int len = sizeof(value), flag = 0;
    OK(MPI_Info_get_string(info, key, &len, value, &flag));
    CHECK(flag && !strcmp(value, expect));
}

static void check_env(MPI_Info info, char **argv)
{
    check_value(info, "mpi_initial_errhandler", argv[1]);
    check_value(info, "mpi_memory_alloc_kinds", argv[2]);
}

/* These errors return, and their codes lead to their texts. */
static void check_outside(const char *when)
{
    char text[MPI_MAX_ERROR_STRING];
    int rank = -7, len, side = 0, code = MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(check_class(code) == MPI_ERR_OTHER && rank == -7);
    OK(MPI_Error_string(code, text, &len));
    CHECK(strstr(text, "MPI_Comm_rank: called ") && strstr(text, when));
    FAILS(MPI_ERR_OTHER, MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_SELF));
    FAILS(MPI_ERR_OTHER, MPI_Dims_create(6, 1, &side));
    CHECK(side == 0);
    FAILS(MPI_ERR_INFO, MPI_Info_set(MPI_INFO_NULL, "a", "b"));
}

/* MPI_COMM_WORLD, MPI_COMM_SELF, and what is made of them, begin with the handler; files do not. */
static void check_handlers(MPI_Errhandler expect)
{
    MPI_Comm dup, comms[] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL};
    MPI_Errhandler found;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
    comms[2] = dup;
    for (int i = 0; i < 3; i++) {
        OK(MPI_Comm_get_errhandler(comms[i], &found));
        CHECK(found == expect);
        OK(MPI_Errhandler_free(&found));
    }
    OK(MPI_Comm_free(&dup));
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
    CHECK(found == MPI_ERRORS_RETURN);
    OK(MPI_Errhandler_free(&found));
}

/* Whatever is asked for, these kinds are there, and no others. */
static void check_kinds(void)
{
    MPI_Info info;
    MPI_Session session;
    OK(MPI_Comm_get_info(MPI_COMM_WORLD, &info));
    check_value(info, "mpi_memory_alloc_kinds", "mpi,system");
    OK(MPI_Info_free(&info));
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Session_get_info(session, &info));
    check_value(info, "mpi_memory_alloc_kinds", "mpi,system");
    OK(MPI_Info_free(&info));
    OK(MPI_Session_finalize(&session));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        MPI_Errhandler handler;
    } handlers[] = {{"mpi_errors_are_fatal", MPI_ERRORS_ARE_FATAL},
                    {"mpi_errors_abort", MPI_ERRORS_ABORT},
                    {"mpi_errors_return", MPI_ERRORS_RETURN}};
    MPI_Errhandler expect = MPI_ERRHANDLER_NULL;
    MPI_Info info;
    for (int i = 0; i < 3 && argc == 3; i++)
        if (!strcmp(argv[1], handlers[i].name))
            expect = handlers[i].handler;
    if (expect == MPI_ERRHANDLER_NULL)
        return 2;
    if (expect == MPI_ERRORS_RETURN)
        check_outside("before MPI_Init");
    OK(MPI_Info_create_env(argc, argv, &info));
    check_env(info, argv);
    OK(MPI_Info_free(&info));
    OK(MPI_Init(&argc, &argv));
    check_env(MPI_INFO_ENV, argv);
    check_handlers(expect);
    check_kinds();
    if (expect == MPI_ERRORS_RETURN)
        FAILS(MPI_ERR_RANK, MPI_Send(NULL, 0, MPI_INT, 99, 0, MPI_COMM_WORLD));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL)); /* until the end, not behind */
    OK(MPI_Finalize());
    if (expect == MPI_ERRORS_RETURN)
        check_outside("after MPI_Finalize");
    return 0;
}
