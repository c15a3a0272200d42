/* SPDX-License-Identifier: BSD-3-Clause */

/* Epochs of locks with one operation, which are one question where the target gets messages, and those that turn out to
 * have more: rank 0 is the target of all. */
#include <unistd.h>

#include "windows.h"

enum { ROUNDS = 100, WHILE_US = 50000 };

static struct window w;
static int rank, size;

#define AT(i) 0, window_at(&w, 0, i)

static void add(int i, long value)
{
    OK(MPI_Accumulate(&value, 1, MPI_LONG, AT(i), 1, MPI_LONG, MPI_SUM, w.win));
}

static long get(int i)
{
    long value = -1;
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
    OK(MPI_Get(&value, 1, MPI_LONG, AT(i), 1, MPI_LONG, w.win));
    OK(MPI_Win_unlock(0, w.win));
    return value;
}

/* Messages that this process has sent without asking. */
static unsigned long count_sent(void)
{
    static MPI_T_pvar_session session;
    static MPI_T_pvar_handle counter;
    unsigned long value = 0;
    int index, count;
    if (!counter) {
        OK(MPI_T_pvar_session_create(&session));
        OK(MPI_T_pvar_get_index("eager_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index));
        OK(MPI_T_pvar_handle_alloc(session, index, NULL, &counter, &count));
        OK(MPI_T_pvar_start(session, counter));
    }
    OK(MPI_T_pvar_read(session, counter, &value));
    return value;
}

/* An operation that sends nothing leaves nothing behind: no access, and no lock. */
static void nothing(void)
{
    const long one = 1;
    OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    OK(MPI_Win_lock_all(0, w.win));
    OK(MPI_Put(&one, 0, MPI_LONG, AT(6), 0, MPI_LONG, w.win));
    OK(MPI_Win_unlock_all(w.win));
    FAILS(MPI_ERR_RMA_SYNC, MPI_Put(&one, 1, MPI_LONG, AT(6), 1, MPI_LONG, w.win));
    OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Win_fence(0, w.win));
    add(6, 1);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
    OK(MPI_Win_unlock(0, w.win));
    CHECK(get(6) == size);
}

/* One operation, or none. */
static void single(void)
{
    unsigned long before = count_sent();
    for (int i = 0; i < ROUNDS; i++) {
        OK(MPI_Win_lock(i % 3 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, w.win));
        if (i % 4)
            add(0, i);
        OK(MPI_Win_unlock(0, w.win));
    }
    CHECK(!rank || count_sent() - before < 2 * ROUNDS); /* of this host two for each, if memory is not mapped */
    OK(MPI_Barrier(MPI_COMM_WORLD));
    long sum = 0;
    for (int i = 0; i < ROUNDS; i++)
        sum += i % 4 ? i : 0;
    CHECK(get(0) == sum * size);
}

/* More than one: each sees those before it. */
static void more(void)
{
    long value = 0;
    MPI_Request request;
    for (int i = 0; i < ROUNDS; i++) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        if (i % 2)
            OK(MPI_Get(&value, 1, MPI_LONG, AT(1), 1, MPI_LONG, w.win));
        else
            OK(MPI_Rget(&value, 1, MPI_LONG, AT(1), 1, MPI_LONG, w.win, &request));
        if (i % 2)
            OK(MPI_Win_flush(0, w.win));
        else
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        value++;
        OK(MPI_Put(&value, 1, MPI_LONG, AT(1), 1, MPI_LONG, w.win));
        OK(MPI_Win_unlock(0, w.win));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(get(1) == ROUNDS * size);
    for (int i = 0; i < ROUNDS; i++) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        value = rank * 1000 + i;
        OK(MPI_Put(&value, 1, MPI_LONG, AT(2), 1, MPI_LONG, w.win));
        if (i % 3 == 0) {
            OK(MPI_Win_flush_local(0, w.win));
            value = -1; /* it was taken */
        }
        if (i % 3 == 1)
            OK(MPI_Win_flush_all(w.win));
        long got = -1;
        OK(MPI_Get(&got, 1, MPI_LONG, AT(2), 1, MPI_LONG, w.win));
        OK(MPI_Win_unlock(0, w.win));
        CHECK(got == rank * 1000 + i);
    }
}

/* A first operation of several questions. */
static void large(void)
{
    static long v[20000];
    MPI_Datatype gaps;
    for (int i = 0; i < 20000; i++)
        v[i] = 1;
    OK(MPI_Type_vector(9000, 1, 2, MPI_LONG, &gaps));
    OK(MPI_Type_commit(&gaps));
    for (int i = 0; i < 4; i++) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        if (i % 2)
            OK(MPI_Accumulate(v, 9000, MPI_LONG, AT(10), 1, gaps, MPI_SUM, w.win));
        else
            OK(MPI_Accumulate(v, 20000, MPI_LONG, AT(10), 20000, MPI_LONG, MPI_SUM, w.win));
        OK(MPI_Win_unlock(0, w.win));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(get(10) == 4L * size && get(11) == 2L * size && get(20008) == 2L * size);
    OK(MPI_Type_free(&gaps));
}

/* Nothing of an epoch happens while another process has the lock. */
static void excluded(void)
{
    long before = -1, after = -1;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        OK(MPI_Get(&before, 1, MPI_LONG, AT(3), 1, MPI_LONG, w.win));
        OK(MPI_Win_flush(0, w.win));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1) {
        usleep(WHILE_US);
        OK(MPI_Get(&after, 1, MPI_LONG, AT(3), 1, MPI_LONG, w.win));
    } else {
        OK(MPI_Win_lock(rank % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        add(3, 1);
    }
    OK(MPI_Win_unlock(0, w.win));
    CHECK(before == after);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(get(3) == size - 1);
}

/* The end tells that an operation was wrong, and that epoch alone. */
static void refused(void)
{
    int got = 0;
    OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    for (int i = 0; i < 2; i++) {
        long value = 7;
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        int rc = MPI_Accumulate(&value, 1, MPI_LONG, AT(i ? 4 : w.count), 1, MPI_LONG, MPI_SUM, w.win);
        int ended = MPI_Win_unlock(0, w.win);
        OK(MPI_Error_class(rc ? rc : ended, &got));
        CHECK(got == (i ? MPI_SUCCESS : MPI_ERR_RMA_RANGE));
    }
    OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(get(4) == 7L * size);
}

/* All at once. */
static void everyone(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        OK(MPI_Win_lock_all(0, w.win));
        for (int to = 0; to < size; to++) {
            long value = 1;
            OK(MPI_Accumulate(&value, 1, MPI_LONG, to, window_at(&w, to, 5), 1, MPI_LONG, MPI_SUM, w.win));
        }
        OK(MPI_Win_unlock_all(w.win));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(get(5) == (long)ROUNDS * size);
}

int main(int argc, char **argv)
{
    int provided;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        w = window_open(MPI_COMM_WORLD, (enum window_kind)kind, 20100);
        nothing(); /* first, as long as nothing was sent */
        single();
        more();
        large();
        excluded();
        refused();
        everyone();
        OK(MPI_Barrier(MPI_COMM_WORLD)); /* all have read */
        window_close(&w);
    }
    OK(MPI_Finalize());
    return 0;
}
