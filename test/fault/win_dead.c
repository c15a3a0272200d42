/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rank 0 dies inside an epoch of a window. Each of the others must go on: with an error where it
 * needs rank 0, and without one where rank 0 only stood in its way.
 *
 * usage: win_dead CALL KIND
 *
 * CALL: holder: rank 0 holds an exclusive lock of rank 1, which the others want; reader: the same
 * of a shared lock; waiter: rank 0 waits for a lock that rank 1 holds, others behind it; target:
 * the others flush operations on its memory; unlock: the same, by MPI_Win_unlock; fence, start,
 * wait, post: they come to these. KIND: of the window, a number of enum
 * window_kind. Each survivor prints "ok".
 */
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "../mpi/win/windows.h"

enum {
    LIMIT_MS = 2000,
    GIVE_UP_S = 20
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct window w;
static MPI_Group first;
static const char *call;
static int rank;

static int is(const char *name)
{
    return !strcmp(call, name);
}

/* What rank 0 does before it dies. */
static void prepare(void)
{
    if (is("holder") || is("reader"))
        OK(MPI_Win_lock(is("holder") ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 1, 0, w.win));
    if (is("start"))
        return;
    if (is("wait"))
        OK(MPI_Win_start(first, 0, w.win));
}

/* Returns the code of what fails. */
static int use(void)
{
    long v = rank, was;
    int rc = MPI_SUCCESS;
    if (is("fence"))
        return MPI_Win_fence(0, w.win);
    if (is("start"))
        return MPI_Win_start(first, 0, w.win);
    if (is("wait"))
        return MPI_Win_wait(w.win);
    if (is("post")) { /* after an exposure that failed there is none */
        if (!(rc = MPI_Win_post(first, 0, w.win))) {
            (void)MPI_Win_wait(w.win); /* the death is known from here on */
            return MPI_SUCCESS;
        }
        CHECK(check_class(MPI_Win_wait(w.win)) == MPI_ERR_RMA_SYNC);
        return rc;
    }
    if (is("unlock")) {
        if ((rc = MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win)))
            return rc;
        (void)MPI_Put(&v, 1, MPI_LONG, 0, window_at(&w, 0, 0), 1, MPI_LONG, w.win);
        return MPI_Win_unlock(0, w.win);
    }
    OK(MPI_Win_lock_all(0, w.win));
    rc = MPI_Fetch_and_op(&v, &was, MPI_LONG, 0, window_at(&w, 0, 0), MPI_SUM, w.win);
    if (!rc)
        rc = MPI_Win_flush(0, w.win);
    (void)MPI_Win_unlock_all(w.win);
    return rc;
}

static void survive(void)
{
    double begin = now_ms();
    int rc = MPI_SUCCESS;
    if (is("waiter") && rank == 1) { /* all wait by now, and rank 0 is dead */
        usleep(800 * 1000);
        OK(MPI_Win_unlock(1, w.win));
        return; /* and does not queue up itself, where it would see the dead */
    }
    if (is("waiter") && rank > 1)
        usleep(100 * 1000);
    if (is("holder") || is("reader") || is("waiter")) {
        for (int i = 0; i < 3; i++) {
            long v = rank;
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win));
            OK(MPI_Put(&v, 1, MPI_LONG, 1, window_at(&w, 1, 0), 1, MPI_LONG, w.win));
            OK(MPI_Win_unlock(1, w.win));
        }
    } else {
        while (!rc && now_ms() - begin < 2 * LIMIT_MS)
            rc = use();
        CHECK(check_class(rc) == MPI_ERR_PROC_ABORTED);
    }
    CHECK(now_ms() - begin < LIMIT_MS + 1000 * GIVE_UP_S / 4);
}

int main(int argc, char **argv)
{
    CHECK(argc == 3);
    call = argv[1];
    alarm(GIVE_UP_S);
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    w = window_open(MPI_COMM_WORLD, (enum window_kind)atoi(argv[2]), 16);
    MPI_Group all;
    MPI_Comm others;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank > 0, 0, &others));
    int zero = 0, one = 1;
    OK(MPI_Win_get_group(w.win, &all));
    OK(MPI_Group_incl(all, 1, rank ? &zero : &one, &first));
    OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    if (is("waiter") && rank == 1)
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win));
    if (is("wait") && rank == 1)
        OK(MPI_Win_post(first, 0, w.win));
    if (rank == 0)
        prepare();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 1; rank == 0 && i < check_size(MPI_COMM_WORLD);
         i++) /* all have left the barrier */
        OK(MPI_Recv(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank == 0 && is("waiter")) {
        ualarm(300 * 1000, 0);
        (void)MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win);
    }
    if (rank == 0)
        raise(SIGKILL);
    OK(MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD));
    if (!is("wait") || rank == 1)
        survive();
    printf("ok\n");
    fflush(stdout);
    OK(MPI_Barrier(others)); /* a member serves the others until they are done, too */
    OK(MPI_Finalize());
    return 0;
}
