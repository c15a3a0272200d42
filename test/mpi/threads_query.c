/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads that only ask for what the library knows never wait for those that drive progress, nor
 * for each other: they do not sleep once, however often they ask. */
#include <stdatomic.h>
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
static int keyval;

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
    MPI_Status status;
    int flag = 0, out = 1, in = 0, me = check_rank(MPI_COMM_WORLD);
    if (thread->number >= ASKING) {
        while (atomic_load(&asking))
            OK(MPI_Iprobe(MPI_ANY_SOURCE, 77, thread->comm, &flag, MPI_STATUS_IGNORE));
        return NULL;
    }
    OK(MPI_Sendrecv(&out, 1, MPI_INT, me, 1, &in, 1, MPI_INT, me, 1, thread->comm, &status));
    OK(MPI_Comm_set_attr(thread->comm, keyval, &status));
    struct rusage before, after;
    CHECK(!getrusage(RUSAGE_THREAD, &before));
    for (int i = 0; i < TIMES; i++)
        ask(thread->comm, &status);
    CHECK(!getrusage(RUSAGE_THREAD, &after));
#ifndef __SANITIZE_THREAD__
    CHECK(after.ru_nvcsw - before.ru_nvcsw <= SLEEPS_MOST);
#endif
    atomic_fetch_sub(&asking, 1);
    return NULL;
}

int main(int argc, char **argv)
{
    struct thread threads[ALL];
    threads_init(&argc, &argv);
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    threads_run_apart(threads, ALL, work);
    OK(MPI_Comm_free_keyval(&keyval));
    OK(MPI_Finalize());
    return 0;
}
