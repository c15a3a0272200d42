/* SPDX-License-Identifier: BSD-3-Clause */

/* One session: hints, process sets, error handlers, buffers, and what is refused. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int calls, last_code;
static MPI_Session last_session;

static void handler(MPI_Session *session, int *code, ...)
{
    calls++;
    last_session = *session;
    last_code = *code;
}

/* ---- before, between and after ---- */

/* What may be called at any time. */
static void check_always(void)
{
    int flag = -1, version, subversion, len;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Info info;
    MPI_Errhandler errhandler;
    OK(MPI_Initialized(&flag));
    CHECK(!flag);
    OK(MPI_Finalized(&flag));
    CHECK(!flag);
    OK(MPI_Get_version(&version, &subversion));
    OK(MPI_Get_library_version(text, &len));
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "k", "v"));
    CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info);
    OK(MPI_Info_free(&info));
    OK(MPI_Info_create_env(0, NULL, &info));
    OK(MPI_Info_free(&info));
    OK(MPI_Session_create_errhandler(handler, &errhandler));
    OK(MPI_Errhandler_free(&errhandler));
    OK(MPI_Error_class(MPI_ERR_TAG, &flag));
    CHECK(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
}

/* ---- process sets ---- */

static int size_of(MPI_Session session, const char *name)
{
    char value[16] = "";
    int len = sizeof(value), flag = 0;
    MPI_Info info;
    OK(MPI_Session_get_pset_info(session, name, &info));
    OK(MPI_Info_get_string(info, "mpi_size", &len, value, &flag));
    CHECK(flag);
    OK(MPI_Info_free(&info));
    return atoi(value);
}

static void check_set(MPI_Session session, const char *name)
{
    MPI_Group group;
    int size, rank;
    OK(MPI_Group_from_session_pset(session, name, &group));
    OK(MPI_Group_size(group, &size));
    OK(MPI_Group_rank(group, &rank));
    CHECK(size == size_of(session, name));
    CHECK(rank >= 0 && rank < size); /* all that are listed have us in them */
    OK(MPI_Group_free(&group));
}

static void check_sets(MPI_Session session)
{
    int count = -1;
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    CHECK(count >= 2);
    for (int i = 0; i < count; i++) {
        char *name, cut[4] = "###";
        int len = 0, three = 3;
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &len, NULL));
        CHECK(len > 3 && len <= MPI_MAX_PSET_NAME_LEN);
        name = malloc((size_t)len);
        CHECK(name != NULL);
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &len, name));
        CHECK((int)strlen(name) == len - 1);
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &three, cut));
        CHECK(three == len && !cut[2] && !strncmp(cut, name, 2));
        check_set(session, name);
        free(name);
    }
    CHECK(size_of(session, "mpi://SELF") == 1);
    CHECK(size_of(session, "MPI://self") == 1);
}

/* ---- errors ---- */

static void check_errors(MPI_Session session)
{
    MPI_Errhandler errhandler, before;
    MPI_Group group;
    MPI_Info info;
    char text[MPI_MAX_ERROR_STRING], where[32];
    int n = 0, rank = -1;
    OK(MPI_Session_create_errhandler(handler, &errhandler));
    OK(MPI_Session_set_errhandler(session, errhandler));
    OK(MPI_Session_get_errhandler(session, &before));
    CHECK(before == errhandler);
    OK(MPI_Errhandler_free(&before));
    OK(MPI_Errhandler_free(&errhandler));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Group_rank(group, &rank));
    OK(MPI_Group_free(&group));
    int code = MPI_Group_from_session_pset(session, "no://such", &group);
    FAILS(MPI_ERR_ARG, code);
    OK(MPI_Error_string(code, text, &n));
    snprintf(where, sizeof(where), "rank %d on ", rank);
    CHECK(strstr(text, "'no://such'") && strstr(text, where));
    CHECK(calls == 1 && last_session == session && check_class(last_code) == MPI_ERR_ARG);
    OK(MPI_Session_call_errhandler(session, MPI_ERR_TAG));
    CHECK(calls == 2 && last_code == MPI_ERR_TAG);
    FAILS(MPI_ERR_ARG, MPI_Session_get_pset_info(session, "vireo://app/", &info));
    FAILS(MPI_ERR_ARG, MPI_Session_get_pset_info(session, "vireo://app/99", &info));
    FAILS(MPI_ERR_ARG, MPI_Session_get_pset_info(session, "vireo://app/-1", &info));
    FAILS(MPI_ERR_ARG, MPI_Session_get_pset_info(session, NULL, &info));
    FAILS(MPI_ERR_ARG, MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 77, &n, NULL));
    FAILS(MPI_ERR_ARG, MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL));
    OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
    OK(MPI_Comm_create_errhandler((MPI_Comm_errhandler_function *)(void (*)(void))handler,
                                  &errhandler));
    FAILS(MPI_ERR_ERRHANDLER, MPI_Session_set_errhandler(session, errhandler));
    OK(MPI_Errhandler_free(&errhandler));
    /* The session that could not be made is none. */
    MPI_Session none = MPI_SESSION_NULL;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_TOO_MANY"));
    FAILS(MPI_ERR_INFO_VALUE, MPI_Session_init(info, MPI_ERRORS_RETURN, &none));
    OK(MPI_Info_free(&info));
    FAILS(MPI_ERR_INFO, MPI_Session_init((MPI_Info)MPI_COMM_WORLD, MPI_ERRORS_RETURN, &none));
    CHECK(none == MPI_SESSION_NULL);
}

/* ---- hints ---- */

static void check_hint(MPI_Info info, const char *key, const char *expected)
{
    char value[64] = "";
    int len = sizeof(value), flag = 0;
    OK(MPI_Info_get_string(info, key, &len, value, &flag));
    CHECK(flag && !strcmp(value, expected));
}

static void check_hints(void)
{
    static const char *const levels[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED",
                                         "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE", NULL};
    for (int i = 0; i < 5; i++) {
        MPI_Session session;
        MPI_Info info = MPI_INFO_NULL, used;
        if (levels[i]) {
            OK(MPI_Info_create(&info));
            OK(MPI_Info_set(info, "thread_level", levels[i]));
        }
        OK(MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session));
        OK(MPI_Session_get_info(session, &used));
        check_hint(used, "thread_level", levels[i] ? levels[i] : "MPI_THREAD_MULTIPLE");
        check_hint(used, "mpi_memory_alloc_kinds", "mpi,system");
        OK(MPI_Info_free(&used));
        if (levels[i])
            OK(MPI_Info_free(&info));
        OK(MPI_Session_finalize(&session));
    }
}

/* ---- buffers ---- */

/* A message to oneself through the session's buffer, in a communicator that comes from it. */
static void check_buffer(MPI_Session session)
{
    enum { ROOM = 4 * MPI_BSEND_OVERHEAD };
    static char memory[ROOM];
    MPI_Group group, picked;
    MPI_Comm comm;
    MPI_Request request;
    int word = 7, got = 0, zero = 0, size = 0;
    void *address = NULL;
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Group_rank(group, &zero));
    OK(MPI_Group_incl(group, 1, &zero, &picked)); /* a group of a group of the session's */
    OK(MPI_Comm_create_from_group(picked, "buffer", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    FAILS(MPI_ERR_BUFFER, MPI_Bsend(&word, 1, MPI_INT, 0, 1, comm));
    OK(MPI_Session_attach_buffer(session, memory, ROOM));
    FAILS(MPI_ERR_BUFFER, MPI_Session_attach_buffer(session, memory, ROOM));
    OK(MPI_Bsend(&word, 1, MPI_INT, 0, 1, comm));
    OK(MPI_Recv(&got, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
    CHECK(got == 7);
    OK(MPI_Session_flush_buffer(session));
    OK(MPI_Session_iflush_buffer(session, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Session_detach_buffer(session, &address, &size));
    CHECK(address == memory && size == ROOM);
    FAILS(MPI_ERR_BUFFER, MPI_Session_detach_buffer(session, &address, &size));
    MPI_Count count = -1;
    OK(MPI_Session_attach_buffer_c(session, MPI_BUFFER_AUTOMATIC, 0));
    OK(MPI_Bsend(&word, 1, MPI_INT, 0, 2, comm));
    OK(MPI_Recv(&got, 1, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE));
    OK(MPI_Session_detach_buffer_c(session, &address, &count));
    CHECK(count == 0);
    OK(MPI_Session_attach_buffer(session, memory, ROOM)); /* for MPI_Session_finalize to detach */
    MPI_Info info;
    OK(MPI_Comm_get_info(comm, &info));
    check_hint(info, "mpi_memory_alloc_kinds", "mpi,system");
    OK(MPI_Info_free(&info));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&picked));
    OK(MPI_Group_free(&group));
}

/* ---- the programs of a command line ---- */

/* "-n 2 this apps : -n 3 this apps"; named: the second with --pset rear */
static void check_apps(bool named)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    int rank, size, count, one = 1, sum = 0, len = 64;
    char name[64];
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    CHECK(size_of(session, "mpi://WORLD") == 5);
    CHECK(size_of(session, "vireo://app/0") == 2 && size_of(session, "vireo://app/1") == 3);
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Group_rank(group, &rank));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    CHECK(count == (named && rank > 1 ? 4 : 3));
    if (count == 4) {
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 3, &len, name));
        CHECK(!strcmp(name, "rear") && len == 5);
        len = 64;
    }
    if (named)
        CHECK(size_of(session, "rear") == 3);
    FAILS(MPI_ERR_ARG, MPI_Group_from_session_pset(session, named ? "rea" : "rear", &group));
    FAILS(MPI_ERR_ARG, MPI_Group_from_session_pset(session, "", &group));
    OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 2, &len, name));
    CHECK(!strcmp(name, rank < 2 ? "vireo://app/0" : "vireo://app/1"));
    OK(MPI_Group_from_session_pset(session, rank < 2 ? "vireo://app/1" : "vireo://app/0", &group));
    OK(MPI_Group_rank(group, &size));
    CHECK(size == MPI_UNDEFINED);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_from_session_pset(session, name, &group));
    OK(MPI_Comm_create_from_group(group, "apps", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == (rank < 2 ? 2 : 3));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_finalize(&session));
}

int main(int argc, char **argv)
{
    MPI_Session session, second;
    if (argc > 1 && !strcmp(argv[1], "apps")) {
        check_apps(argc > 2);
        return 0;
    }
    check_always();
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    check_always();
    CHECK(MPI_Session_fromint(MPI_Session_toint(session)) == session);
    check_sets(session);
    check_errors(session);
    check_hints();
    check_buffer(session);
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &second));
    CHECK(second != session);
    OK(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL);
    check_sets(second);
    OK(MPI_Session_finalize(&second));
    check_always();
    return 0;
}
