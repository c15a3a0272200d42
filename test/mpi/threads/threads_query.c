/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads that only ask for what the library knows never wait for those that drive progress, nor
 * for each other: they do not sleep once, however often they ask. */
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

#include "threads.h"

enum {
    ASKING = 8,
    BUSY = 3, /* threads that drive progress */
    ALL = ASKING + BUSY,
    TIMES = 100000,
    SLEEPS_MOST = 50 /* of the kernel's own: page faults and the like */
};

static _Atomic int asking = ASKING;
static int keyval, none; /* none: of which no communicator has an attribute */

static void ignore(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

/* What each thread has of its own, beside its communicator. */
struct own {
    MPI_Info info;
    MPI_Errhandler errhandler;
    MPI_Session session;
    int code;
};

static void make(struct own *own, MPI_Comm comm)
{
    OK(MPI_Info_create(&own->info));
    OK(MPI_Info_set(own->info, "key", "value"));
    OK(MPI_Comm_create_errhandler(ignore, &own->errhandler));
    OK(MPI_Comm_set_errhandler(comm, own->errhandler));
    OK(MPI_Comm_set_name(comm, "own"));
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own->session));
    OK(MPI_Add_error_class(&own->code));
    OK(MPI_Add_error_string(own->code, "mine"));
}

static void drop(struct own *own)
{
    OK(MPI_Info_free(&own->info));
    OK(MPI_Errhandler_free(&own->errhandler));
    OK(MPI_Session_finalize(&own->session));
    OK(MPI_Remove_error_class(own->code));
}

static void ask_own(const struct own *own, MPI_Comm comm)
{
    char text[MPI_MAX_ERROR_STRING];
    int len = sizeof(text), flag = 0, of = -1;
    void *value;
    MPI_Errhandler handler[2];
    OK(MPI_Info_get_string(own->info, "key", &len, text, &flag));
    CHECK(flag && len == 6 && !strcmp(text, "value"));
    OK(MPI_Info_get_nkeys(own->info, &len));
    OK(MPI_Comm_get_errhandler(comm, &handler[0]));
    OK(MPI_Session_get_errhandler(own->session, &handler[1]));
    CHECK(handler[0] == own->errhandler && handler[1] == MPI_ERRORS_RETURN);
    OK(MPI_Errhandler_free(&handler[0]));
    OK(MPI_Error_class(own->code, &of));
    OK(MPI_Error_string(own->code, text, &len));
    CHECK(of == own->code && !strcmp(text, "mine"));
    OK(MPI_Comm_get_name(comm, text, &len));
    CHECK(len == 3 && !strcmp(text, "own"));
    OK(MPI_Comm_get_attr(comm, none, &value, &flag));
    CHECK(!flag && MPI_Comm_fromint(MPI_Comm_toint(comm)) == comm);
}

/* All threads ask for the same: none of it needs a lock. */
static void ask_shared(void)
{
    char text[MPI_MAX_OBJECT_NAME], words[MPI_MAX_ERROR_STRING];
    int len = sizeof(text), flag = 0;
    MPI_Errhandler handler;
    MPI_Datatype type;
    OK(MPI_Info_get_string(MPI_INFO_ENV, "thread_level", &len, text, &flag));
    CHECK(flag && !strcmp(text, "MPI_THREAD_MULTIPLE"));
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler));
    CHECK(handler == MPI_ERRORS_ARE_FATAL);
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &handler));
    CHECK(handler == MPI_ERRORS_RETURN);
    OK(MPI_Error_string(MPI_ERR_TAG, words, &len));
    CHECK(!strncmp(words, "MPI_ERR_TAG", 11));
    OK(MPI_Type_create_f90_integer(9, &type));
}

static void ask(MPI_Comm comm, const MPI_Status *status)
{
    int rank = -1, size = -1, bytes = -1, count = -1, flag = 0;
    void *value = NULL;
    OK(MPI_Comm_get_attr(comm, keyval, &value, &flag));
    CHECK(flag && value == status);
    OK(MPI_Comm_rank(comm, &rank));
    OK(MPI_Comm_size(comm, &size));
    OK(MPI_Type_size(MPI_DOUBLE, &bytes));
    OK(MPI_Get_count(status, MPI_INT, &count));
    OK(MPI_Initialized(&flag));
    CHECK(rank >= 0 && rank < size && bytes == 8 && count == 1 && flag && MPI_Wtime() > 0);
}

static void *work(void *arg)
{
    struct thread *thread = arg;
    struct own own;
    MPI_Status status;
    int flag = 0, out = 1, in = 0, me = check_rank(MPI_COMM_WORLD);
    if (thread->number >= ASKING) {
        while (atomic_load(&asking))
            OK(MPI_Iprobe(MPI_ANY_SOURCE, 77, thread->comm, &flag, MPI_STATUS_IGNORE));
        return NULL;
    }
    OK(MPI_Sendrecv(&out, 1, MPI_INT, me, 1, &in, 1, MPI_INT, me, 1, thread->comm, &status));
    OK(MPI_Comm_set_attr(thread->comm, keyval, &status));
    make(&own, thread->comm);
    struct rusage before, after;
    CHECK(!getrusage(RUSAGE_THREAD, &before));
    for (int i = 0; i < TIMES; i++) {
        ask(thread->comm, &status);
        ask_own(&own, thread->comm);
        ask_shared();
    }
    CHECK(!getrusage(RUSAGE_THREAD, &after));
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) /* whose own locks sleep */
    CHECK(after.ru_nvcsw - before.ru_nvcsw <= SLEEPS_MOST);
#endif
    drop(&own);
    atomic_fetch_sub(&asking, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    struct thread threads[ALL];
    threads_init(&argc, &argv);
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &none, NULL));
    threads_run_apart(threads, ALL, work);
    OK(MPI_Comm_free_keyval(&keyval));
    OK(MPI_Comm_free_keyval(&none));
    OK(MPI_Finalize());
    return 0;
}
