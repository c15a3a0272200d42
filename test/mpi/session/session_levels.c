/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sessions beside a world of a lower thread level, which the argument gives. Where several threads
 * may call MPI, the first session begins in another one, in the midst of the calls that the first
 * thread makes. Where that one alone may, the first session may begin in it alone, which brings
 * locks; then others may.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "threads.h"

enum {
    SESSIONS = 3,
    ROUNDS = 20
};

static _Atomic int ready, left;

static void check_own(MPI_Comm comm, int tag)
{
    MPI_Request request;
    int got = -1;
    OK(MPI_Isend(&tag, 1, MPI_INT, 0, tag, comm, &request));
    OK(MPI_Recv(&got, 1, MPI_INT, 0, tag, comm, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(got == tag);
}

static void one_session(const char *text)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm, copy;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://SELF", &group));
    OK(MPI_Comm_create_from_group(group, text, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    for (int i = 0; i < ROUNDS; i++) {
        OK(MPI_Comm_dup(comm, &copy));
        check_own(copy, i);
        OK(MPI_Comm_free(&copy));
    }
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
    OK(MPI_Session_finalize(&session));
}

static void *sessions(void *arg)
{
    const struct thread *thread = arg;
    char text[32];
    snprintf(text, sizeof(text), "thread %d", thread->number);
    while (!ready)
        usleep(100);
    for (int i = 0; i < 10; i++)
        one_session(text);
    left--;
    return NULL;
}

/* What the world model's thread does meanwhile. */
static void use_world(void)
{
    int me = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    int more = 1, any = 1;
    for (int i = 0; any; i++) {
        MPI_Comm copy;
        MPI_Datatype type;
        int from = -1, left_rank = (me + size - 1) % size;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
        OK(MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % size, i, &from, 1, MPI_INT, left_rank, i, copy,
                        MPI_STATUS_IGNORE));
        CHECK(from == left_rank);
        OK(MPI_Type_contiguous(3, MPI_INT, &type));
        OK(MPI_Type_free(&type));
        check_own(MPI_COMM_SELF, i);
        ready |= i > 20;
        more = left > 0;
        OK(MPI_Allreduce(&more, &any, 1, MPI_INT, MPI_MAX, copy));
        OK(MPI_Comm_free(&copy));
    }
}

static void *refused(void *arg)
{
    MPI_Session session = MPI_SESSION_NULL;
    char text[MPI_MAX_ERROR_STRING];
    int len, rc = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    FAILS(MPI_ERR_OTHER, rc);
    CHECK(session == MPI_SESSION_NULL);
    OK(MPI_Error_string(rc, text, &len));
    CHECK(strstr(text, "MPI_Session_init") && strstr(text, "MPI_THREAD_SERIALIZED"));
    return arg;
}

int main(int argc, char **argv)
{
    int level = argc > 1 ? atoi(argv[1]) : MPI_THREAD_FUNNELED, provided = -1;
    bool bare = level < MPI_THREAD_SERIALIZED; /* of locks */
    struct thread threads[SESSIONS];
    OK(MPI_Init_thread(&argc, &argv, level, &provided));
    CHECK(provided == level);
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided)); /* tells whether there are locks */
    CHECK(provided == (bare ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE));
    OK(MPI_T_finalize());
    if (bare) {
        threads_run(threads, 1, refused);
        one_session("first");
    }
    left = SESSIONS;
    for (int i = 0; i < SESSIONS; i++) {
        threads[i].number = i;
        CHECK(!pthread_create(&threads[i].id, NULL, sessions, &threads[i]));
    }
    use_world();
    for (int i = 0; i < SESSIONS; i++)
        CHECK(!pthread_join(threads[i].id, NULL));
    OK(MPI_Finalize());
    return 0;
}
