/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Programs of three ranks, or more that stand by, that use a window wrongly, and others that use it well, after the categories of
 * RMARaceBench: conflicts, synchronization, atomics, and buffers of the program. Rank 2 is the target.
 *
 * usage: win_races list    the wrong ones, each with the two calls that --check is to name
 *        win_races NAME    one of them; a second call named MPI_ is none
 *        win_races fine    all others, on windows of each kind
 */
#include "windows.h"

enum { TARGET = 2, COUNT = 64, TAG = 3 };

static struct window w;
static int me;
static long from[COUNT], to[COUNT];

#define AT(rank) if (me == (rank))
#define WHERE(i) TARGET, window_at(&w, TARGET, i)
#define PUT(i, n) OK(MPI_Put(from, n, MPI_LONG, WHERE(i), n, MPI_LONG, w.win))
#define GET(i, n) OK(MPI_Get(to, n, MPI_LONG, WHERE(i), n, MPI_LONG, w.win))
#define ACC(i, type, op) OK(MPI_Accumulate(from, 1, type, WHERE(i), 1, type, op, w.win))
#define FETCH(i, op) OK(MPI_Fetch_and_op(from, to, MPI_LONG, WHERE(i), op, w.win))
#define SWAP(i) OK(MPI_Compare_and_swap(from, from + 1, to, MPI_LONG, WHERE(i), w.win))
#define FENCE() OK(MPI_Win_fence(0, w.win))
#define END() OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win))
#define LOCK_ALL() OK(MPI_Win_lock_all(0, w.win))
#define UNLOCK_ALL() OK(MPI_Win_unlock_all(w.win))
#define LOCK(kind) OK(MPI_Win_lock(kind, TARGET, 0, w.win))
#define UNLOCK() OK(MPI_Win_unlock(TARGET, w.win))
#define FLUSH() OK(MPI_Win_flush(TARGET, w.win))
#define FLUSH_LOCAL() OK(MPI_Win_flush_local(TARGET, w.win))
#define BARRIER() OK(MPI_Barrier(MPI_COMM_WORLD))
#define SEND(buf, n, rank) OK(MPI_Send(buf, n, MPI_LONG, rank, TAG, MPI_COMM_WORLD))
#define RECV(buf, n, rank)                                                                         \
    OK(MPI_Recv(buf, n, MPI_LONG, rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE))
#define WAIT(request) OK(MPI_Wait(&(request), MPI_STATUS_IGNORE))

static MPI_Group group_of(int first, int count)
{
    MPI_Group all, some;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Group_incl(all, count, (int[]){first, first + 1}, &some));
    OK(MPI_Group_free(&all));
    return some;
}

/* The origins' epoch with the target, and the target's. */
static void begin_epoch(void)
{
    if (me > TARGET)
        return;
    MPI_Group group = me == TARGET ? group_of(0, 2) : group_of(TARGET, 1);
    OK(me == TARGET ? MPI_Win_post(group, 0, w.win) : MPI_Win_start(group, 0, w.win));
    OK(MPI_Group_free(&group));
}

static void end_epoch(void)
{
    if (me <= TARGET)
        OK(me == TARGET ? MPI_Win_wait(w.win) : MPI_Win_complete(w.win));
}

/* Every second number, eight times. */
static void put_every_second(int first)
{
    MPI_Datatype type;
    OK(MPI_Type_vector(8, 1, 2, MPI_LONG, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Put(from, 8, MPI_LONG, WHERE(first), 1, type, w.win));
    OK(MPI_Type_free(&type));
}

/* Until another rank has set a number to 1. */
static void await(int i)
{
    do {
        FETCH(i, MPI_NO_OP);
        FLUSH();
    } while (*to != 1);
}

static void set(int i)
{
    *from = 1;
    ACC(i, MPI_LONG, MPI_REPLACE);
    FLUSH();
}

/* ---- conflicts ---- */

/* clang-format off */
static void put_put(void) { FENCE(); AT(0) PUT(0, 1); AT(1) PUT(0, 1); END(); }
static void put_get(void) { FENCE(); AT(0) PUT(3, 1); AT(1) GET(3, 1); END(); }
static void put_parts(void) { FENCE(); AT(0) PUT(0, 8); AT(1) PUT(7, 8); END(); }
static void put_get_within(void) { FENCE(); AT(0) PUT(0, 20); AT(1) GET(9, 1); END(); }
static void put_strides(void) { FENCE(); AT(0) put_every_second(0); AT(1) put_every_second(14); END(); }
static void put_stride_whole(void) { FENCE(); AT(0) put_every_second(1); AT(1) PUT(4, 2); END(); }
static void own_put_put(void) { FENCE(); AT(0) { PUT(0, 1); PUT(0, 1); } END(); }
static void own_put_get(void) { FENCE(); AT(0) { PUT(0, 1); GET(0, 1); } END(); }
static void self_put(void) { FENCE(); AT(TARGET) PUT(0, 1); AT(1) PUT(0, 1); END(); }
static void epoch_put_put(void) { begin_epoch(); if (me < TARGET) PUT(0, 1); end_epoch(); }
static void epoch_put_get(void)
{
    begin_epoch(); AT(0) PUT(0, 2); AT(1) GET(1, 1); end_epoch();
}
static void lock_put_put(void) { if (me < TARGET) { LOCK(MPI_LOCK_SHARED); PUT(0, 1); UNLOCK(); } }
static void lock_put_get(void)
{
    LOCK_ALL(); AT(0) PUT(5, 1); AT(1) GET(5, 1); UNLOCK_ALL();
}
static void rput_rget(void)
{
    MPI_Request request;
    LOCK_ALL();
    AT(0) { OK(MPI_Rput(from, 1, MPI_LONG, WHERE(0), 1, MPI_LONG, w.win, &request)); WAIT(request); }
    AT(1) { OK(MPI_Rget(to, 1, MPI_LONG, WHERE(0), 1, MPI_LONG, w.win, &request)); WAIT(request); }
    UNLOCK_ALL();
}

/* ---- synchronization ---- */

static void no_flush(void)
{
    LOCK_ALL(); AT(0) PUT(0, 1); BARRIER(); AT(1) GET(0, 1); UNLOCK_ALL();
}
static void flush_local(void)
{
    LOCK_ALL(); AT(0) { PUT(0, 1); FLUSH_LOCAL(); } BARRIER(); AT(1) GET(0, 1); UNLOCK_ALL();
}
static void flush_other(void)
{
    LOCK_ALL();
    AT(0) { PUT(0, 1); OK(MPI_Win_flush(1, w.win)); }
    BARRIER();
    AT(1) GET(0, 1);
    UNLOCK_ALL();
}
static void no_barrier(void)
{
    LOCK_ALL(); AT(0) { PUT(0, 1); FLUSH(); } AT(1) { GET(0, 1); FLUSH(); } UNLOCK_ALL();
}
static void early_message(void)
{
    LOCK_ALL();
    AT(0) { PUT(0, 1); SEND(NULL, 0, 1); FLUSH(); }
    AT(1) { RECV(NULL, 0, 0); GET(0, 1); }
    UNLOCK_ALL();
}
static void wrong_way(void)
{
    LOCK_ALL();
    AT(0) { PUT(0, 1); FLUSH(); RECV(NULL, 0, 1); }
    AT(1) { SEND(NULL, 0, 0); GET(0, 1); }
    UNLOCK_ALL();
}
static void wrong_root(void)
{
    long word = 0;
    LOCK_ALL();
    AT(0) { PUT(0, 1); FLUSH(); }
    OK(MPI_Bcast(&word, 1, MPI_LONG, 1, MPI_COMM_WORLD));
    AT(1) GET(0, 1);
    UNLOCK_ALL();
}
static void wrong_reduce(void)
{
    long word = 0, sum;
    LOCK_ALL();
    AT(0) { PUT(0, 1); FLUSH(); }
    OK(MPI_Reduce(&word, &sum, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
    AT(1) GET(0, 1);
    UNLOCK_ALL();
}
static void flag_no_flush(void)
{
    LOCK_ALL();
    AT(0) { PUT(0, 1); set(8); }
    AT(1) { await(8); GET(0, 1); }
    UNLOCK_ALL();
}
static void wait_is_local(void)
{
    MPI_Request request;
    LOCK_ALL();
    AT(0) { OK(MPI_Rput(from, 1, MPI_LONG, WHERE(0), 1, MPI_LONG, w.win, &request)); WAIT(request); }
    BARRIER();
    AT(1) GET(0, 1);
    UNLOCK_ALL();
}
static void complete_is_local(void)
{
    begin_epoch();
    AT(0) { PUT(0, 1); OK(MPI_Win_complete(w.win)); SEND(NULL, 0, 1); }
    AT(1) { RECV(NULL, 0, 0); PUT(0, 1); OK(MPI_Win_complete(w.win)); }
    AT(TARGET) OK(MPI_Win_wait(w.win));
}

/* ---- atomics ---- */

static void acc_put(void) { FENCE(); AT(0) ACC(0, MPI_LONG, MPI_SUM); AT(1) PUT(0, 1); END(); }
static void acc_get(void) { FENCE(); AT(0) ACC(0, MPI_LONG, MPI_SUM); AT(1) GET(0, 1); END(); }
static void acc_ops(void)
{
    FENCE(); AT(0) ACC(0, MPI_LONG, MPI_SUM); AT(1) ACC(0, MPI_LONG, MPI_MAX); END();
}
static void acc_types(void)
{
    FENCE(); AT(0) ACC(0, MPI_LONG, MPI_SUM); AT(1) ACC(0, MPI_INT, MPI_SUM); END();
}
static void fetch_put(void)
{
    LOCK_ALL(); AT(0) FETCH(0, MPI_SUM); AT(1) PUT(0, 1); UNLOCK_ALL();
}
static void fetch_get(void)
{
    LOCK_ALL(); AT(0) { FETCH(0, MPI_SUM); FLUSH(); } AT(1) { GET(0, 1); FLUSH(); } UNLOCK_ALL();
}
static void swap_put(void) { LOCK_ALL(); AT(0) SWAP(0); AT(1) PUT(0, 1); UNLOCK_ALL(); }

/* ---- buffers, and memory of a window that other calls use ---- */

static void put_recv(void)
{
    FENCE();
    AT(0) { PUT(0, 4); RECV(from + 3, 1, 1); }
    AT(1) SEND(to, 1, 0);
    END();
}
static void get_send(void)
{
    FENCE();
    AT(0) { GET(0, 4); SEND(to, 1, 1); }
    AT(1) RECV(from, 1, 0);
    END();
}
static void get_get(void) { FENCE(); AT(0) { GET(0, 4); GET(8, 1); } END(); }
static void put_buffer_get(void)
{
    LOCK_ALL();
    AT(0) {
        PUT(0, 4);
        OK(MPI_Get(from, 1, MPI_LONG, WHERE(9), 1, MPI_LONG, w.win));
    }
    UNLOCK_ALL();
}
static void fetch_reduce(void)
{
    long sum[4];
    LOCK_ALL();
    AT(0) FETCH(0, MPI_SUM);
    OK(MPI_Allreduce(to, sum, 4, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    UNLOCK_ALL();
}
static void rget_no_wait(void)
{
    MPI_Request request;
    LOCK_ALL();
    AT(0) { OK(MPI_Rget(to, 1, MPI_LONG, WHERE(0), 1, MPI_LONG, w.win, &request)); SEND(to, 1, 1); WAIT(request); }
    AT(1) RECV(from, 1, 0);
    UNLOCK_ALL();
}
static void window_recv(void)
{
    FENCE();
    AT(0) PUT(0, 4);
    AT(1) SEND(from, 1, TARGET);
    AT(TARGET) RECV(w.mine + 2, 1, 1);
    END();
}
static void window_send(void)
{
    FENCE();
    AT(0) PUT(0, 4);
    AT(TARGET) SEND(w.mine, 1, 1);
    AT(1) RECV(from, 1, TARGET);
    END();
}
static void window_bcast(void)
{
    LOCK_ALL();
    AT(1) PUT(0, 1);
    OK(MPI_Bcast(me == TARGET ? w.mine : to, 1, MPI_LONG, 0, MPI_COMM_WORLD));
    UNLOCK_ALL();
}
static void window_get_to(void)
{
    FENCE();
    AT(0) PUT(4, 1);
    AT(TARGET) OK(MPI_Get(w.mine + 4, 1, MPI_LONG, WHERE(9), 1, MPI_LONG, w.win));
    END();
}

/* ---- epochs and arguments ---- */

static void lock_kept(void) { LOCK(MPI_LOCK_SHARED); OK(MPI_Win_free(&w.win)); }
static void lock_all_kept(void) { LOCK_ALL(); OK(MPI_Win_free(&w.win)); }
static void post_kept(void) { begin_epoch(); OK(MPI_Win_free(&w.win)); }
static void fence_unended(void) { FENCE(); AT(0) PUT(0, 1); OK(MPI_Win_free(&w.win)); }
static void fence_free(void) { FENCE(); AT(0) FENCE(); AT(1) OK(MPI_Win_free(&w.win)); AT(TARGET) FENCE(); }
static void fence_barrier(void)
{
    FENCE(); OK(MPI_Win_fence(me == 1 ? MPI_MODE_NOSUCCEED : 0, w.win)); END();
}
static void no_precede(void) { FENCE(); AT(0) PUT(0, 1); OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win)); END(); }
static void wrong_type(void)
{
    FENCE(); AT(0) OK(MPI_Put(from, 1, MPI_LONG, WHERE(0), 1, MPI_DOUBLE, w.win)); END();
}
static void result_is_origin(void)
{
    LOCK_ALL();
    AT(0) OK(MPI_Fetch_and_op(from, from, MPI_LONG, WHERE(0), MPI_SUM, w.win));
    UNLOCK_ALL();
}

static void hint_untrue(const char *key, MPI_Aint bytes, int unit)
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, key, strcmp(key, "no_locks") || me ? "true" : "false"));
    OK(MPI_Win_free(&w.win));
    OK(MPI_Win_allocate(bytes, unit, info, MPI_COMM_WORLD, &w.mine, &w.win));
    OK(MPI_Info_free(&info));
}
static void hint_size(void) { hint_untrue("same_size", me == 1 ? 8 : 16, 1); }
static void hint_unit(void) { hint_untrue("same_disp_unit", 16, me == 1 ? 8 : 4); }
static void hint_locks(void) { hint_untrue("no_locks", 16, 1); }

/* ---- well: conflicts ---- */

static void apart(void) { FENCE(); AT(0) PUT(0, 8); AT(1) PUT(8, 8); END(); }
static void two_fences(void) { FENCE(); AT(0) PUT(0, 8); FENCE(); AT(1) PUT(0, 8); FENCE(); AT(0) GET(3, 2); END(); }
static void get_get_same(void) { FENCE(); if (me < TARGET) GET(0, 8); END(); }
static void strides_apart(void) { FENCE(); AT(0) put_every_second(0); AT(1) put_every_second(1); END(); }
static void two_epochs(void)
{
    for (int i = 0; i < 2; i++) { begin_epoch(); AT(i) PUT(0, 4); end_epoch(); }
}
static void epoch_apart(void) { begin_epoch(); if (me < TARGET) PUT(4 * me, 4); end_epoch(); }
static void exclusive(void)
{
    for (int i = 0; i < 20 && me < TARGET; i++) { LOCK(MPI_LOCK_EXCLUSIVE); GET(0, 4); FLUSH(); PUT(0, 4); UNLOCK(); }
}
static void readers(void)
{
    AT(0) { LOCK(MPI_LOCK_EXCLUSIVE); PUT(0, 4); UNLOCK(); }
    AT(1) { LOCK(MPI_LOCK_SHARED); GET(0, 4); UNLOCK(); }
}
static void put_flush_put(void) { LOCK_ALL(); AT(0) { PUT(0, 1); FLUSH(); PUT(0, 1); FLUSH(); GET(0, 1); } UNLOCK_ALL(); }

/* ---- well: synchronization ---- */

static void flush_barrier(void)
{
    LOCK_ALL(); AT(0) { PUT(0, 1); FLUSH(); } BARRIER(); AT(1) GET(0, 1); UNLOCK_ALL();
}
static void flush_all_ibarrier(void)
{
    MPI_Request request;
    LOCK_ALL();
    AT(0) { PUT(0, 1); OK(MPI_Win_flush_all(w.win)); }
    OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    WAIT(request);
    AT(1) GET(0, 1);
    UNLOCK_ALL();
}
static void flush_message(void)
{
    LOCK_ALL();
    AT(0) { PUT(0, 1); FLUSH(); SEND(NULL, 0, TARGET); }
    AT(TARGET) { RECV(NULL, 0, 0); SEND(NULL, 0, 1); }
    AT(1) { RECV(NULL, 0, TARGET); GET(0, 1); }
    UNLOCK_ALL();
}
static void flush_ssend(void)
{
    LOCK_ALL();
    AT(0) { PUT(0, 1); FLUSH(); RECV(NULL, 0, 1); }
    AT(1) { OK(MPI_Ssend(NULL, 0, MPI_LONG, 0, TAG, MPI_COMM_WORLD)); GET(0, 1); }
    UNLOCK_ALL();
}
static void flush_probe(void)
{
    LOCK_ALL();
    AT(0) { PUT(0, 1); FLUSH(); SEND(NULL, 0, 1); }
    AT(1) { OK(MPI_Probe(0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); GET(0, 1); RECV(NULL, 0, 0); }
    UNLOCK_ALL();
}
static void flush_irecv(void)
{
    MPI_Request request;
    LOCK_ALL();
    AT(0) { PUT(0, 1); FLUSH(); SEND(from, 1, 1); }
    AT(1) {
        int done = 0;
        OK(MPI_Irecv(to, 1, MPI_LONG, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &request));
        while (!done)
            OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        GET(0, 1);
    }
    UNLOCK_ALL();
}
static void right_root(void)
{
    long word = 0;
    LOCK_ALL();
    AT(0) { PUT(0, 1); FLUSH(); }
    OK(MPI_Bcast(&word, 1, MPI_LONG, 0, MPI_COMM_WORLD));
    AT(1) GET(0, 1);
    UNLOCK_ALL();
}
static void right_reduce(void)
{
    long word = 0, sum;
    LOCK_ALL();
    AT(0) { PUT(0, 1); FLUSH(); }
    OK(MPI_Reduce(&word, &sum, 1, MPI_LONG, MPI_SUM, 1, MPI_COMM_WORLD));
    AT(1) GET(0, 1);
    UNLOCK_ALL();
}
static void split(void)
{
    MPI_Comm comm;
    LOCK_ALL();
    AT(0) { PUT(0, 1); FLUSH(); }
    OK(MPI_Comm_split(MPI_COMM_WORLD, me == TARGET, 0, &comm));
    AT(1) GET(0, 1);
    OK(MPI_Comm_free(&comm));
    UNLOCK_ALL();
}
static void flag_flush(void)
{
    LOCK_ALL();
    AT(0) { PUT(0, 1); FLUSH(); set(8); }
    AT(1) { await(8); GET(0, 1); }
    UNLOCK_ALL();
}
/* The target sees the flag by itself, and passes on what came before. */
static void flag_load(void)
{
    LOCK_ALL();
    AT(0) { PUT(0, 1); FLUSH(); set(8); }
    AT(TARGET) {
        while (*(volatile long *)&w.mine[8] != 1)
            OK(MPI_Win_sync(w.win));
        OK(MPI_Win_sync(w.win));
        SEND(w.mine, 1, 1);
    }
    AT(1) { RECV(from, 1, TARGET); GET(0, 1); }
    UNLOCK_ALL();
}
static void get_flush_local(void)
{
    LOCK_ALL(); AT(0) { GET(0, 1); FLUSH_LOCAL(); } BARRIER(); AT(1) PUT(0, 1); UNLOCK_ALL();
}
static void rget_wait(void)
{
    MPI_Request request;
    LOCK_ALL();
    AT(0) { OK(MPI_Rget(to, 1, MPI_LONG, WHERE(0), 1, MPI_LONG, w.win, &request)); WAIT(request); }
    BARRIER();
    AT(1) PUT(0, 1);
    UNLOCK_ALL();
}
/* A lock of rank 0 guards what is at the target. */
static void lock_elsewhere(void)
{
    for (int i = 0; i < 10 && me < TARGET; i++) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        LOCK(MPI_LOCK_SHARED);
        GET(0, 1); FLUSH(); PUT(0, 1);
        UNLOCK();
        OK(MPI_Win_unlock(0, w.win));
    }
}

/* A result shows that the target was changed. */
static void result_is_there(void)
{
    MPI_Request request;
    LOCK_ALL();
    AT(0) {
        OK(MPI_Rget_accumulate(from, 1, MPI_LONG, to, 1, MPI_LONG, WHERE(0), 1, MPI_LONG, MPI_SUM, w.win, &request));
        WAIT(request);
    }
    BARRIER();
    AT(1) GET(0, 1);
    UNLOCK_ALL();
}

/* ---- well: atomics ---- */

static void acc_acc(void) { FENCE(); ACC(0, MPI_LONG, MPI_SUM); END(); }
static void acc_no_op(void) { LOCK_ALL(); AT(0) FETCH(0, MPI_SUM); AT(1) FETCH(0, MPI_NO_OP); UNLOCK_ALL(); }
static void acc_in_order(void)
{
    LOCK_ALL(); AT(0) { ACC(0, MPI_LONG, MPI_REPLACE); ACC(0, MPI_LONG, MPI_SUM); } UNLOCK_ALL();
}
static void swap_swap(void) { LOCK_ALL(); if (me < TARGET) SWAP(0); UNLOCK_ALL(); }
static void get_no_op(void) { LOCK_ALL(); AT(0) GET(0, 1); AT(1) FETCH(0, MPI_NO_OP); UNLOCK_ALL(); }
/* A lock of the program's own: taken by a swap of 0 for 1, given back by a replacing 0. */
static void own_lock(void)
{
    LOCK_ALL();
    for (int i = 0; i < 5 && me < TARGET; i++) {
        long one = 1, none = 0, was;
        do {
            OK(MPI_Compare_and_swap(&one, &none, &was, MPI_LONG, WHERE(9), w.win));
            FLUSH();
        } while (was);
        GET(0, 1); FLUSH(); PUT(0, 1); FLUSH();
        OK(MPI_Fetch_and_op(&none, &was, MPI_LONG, WHERE(9), MPI_REPLACE, w.win));
        FLUSH();
    }
    UNLOCK_ALL();
}
/* Tickets: a number that is added to, and one that says whose turn it is. */
static void tickets(void)
{
    LOCK_ALL();
    for (int i = 0; i < 5 && me < TARGET; i++) {
        long one = 1, none = 0, mine, now;
        OK(MPI_Fetch_and_op(&one, &mine, MPI_LONG, WHERE(10), MPI_SUM, w.win));
        FLUSH();
        do {
            OK(MPI_Fetch_and_op(&none, &now, MPI_LONG, WHERE(11), MPI_NO_OP, w.win));
            FLUSH();
        } while (now != mine);
        PUT(0, 1); FLUSH();
        OK(MPI_Accumulate(&one, 1, MPI_LONG, WHERE(11), 1, MPI_LONG, MPI_SUM, w.win));
        FLUSH();
    }
    UNLOCK_ALL();
}

/* ---- well: buffers ---- */

static void put_twice(void) { FENCE(); AT(0) { PUT(0, 4); PUT(8, 4); } END(); }
static void put_flush_local_recv(void)
{
    LOCK_ALL();
    AT(0) { PUT(0, 4); FLUSH_LOCAL(); RECV(from, 4, 1); }
    AT(1) SEND(from, 4, 0);
    UNLOCK_ALL();
}
static void rput_wait_get(void)
{
    MPI_Request request;
    LOCK_ALL();
    AT(0) {
        OK(MPI_Rput(from, 4, MPI_LONG, WHERE(0), 4, MPI_LONG, w.win, &request)); WAIT(request);
        OK(MPI_Get(from, 4, MPI_LONG, WHERE(8), 4, MPI_LONG, w.win));
    }
    UNLOCK_ALL();
}
static void get_fence_send(void)
{
    FENCE(); AT(0) GET(0, 4); FENCE();
    AT(0) SEND(to, 4, 1);
    AT(1) RECV(to, 4, 0);
    END();
}
static void put_send(void) { FENCE(); AT(0) { PUT(0, 4); SEND(from, 4, 1); } AT(1) RECV(to, 4, 0); END(); }
static void window_recv_fence(void)
{
    FENCE();
    AT(1) SEND(from, 4, TARGET);
    AT(TARGET) RECV(w.mine, 4, 1);
    FENCE();
    AT(0) PUT(0, 4);
    FENCE();
    AT(TARGET) SEND(w.mine, 4, 1);
    AT(1) RECV(to, 4, TARGET);
    END();
}
static void window_send_get(void)
{
    FENCE(); AT(0) GET(0, 4); AT(TARGET) SEND(w.mine, 4, 1); AT(1) RECV(to, 4, TARGET); END();
}
static void window_allreduce(void)
{
    long sum = 0;
    LOCK_ALL();
    AT(0) { PUT(0, 1); FLUSH(); }
    BARRIER();
    OK(MPI_Allreduce(me == TARGET ? w.mine : from, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    AT(1) PUT(0, 1);
    UNLOCK_ALL();
}
/* clang-format on */

static const struct {
    const char *name, *first, *second; /* first NULL: nothing is wrong */
    void (*run)(void);
} scenarios[] = {
#define RACE(name, first, second) {#name, "MPI_" first, "MPI_" second, name},
#define FINE(name) {#name, NULL, NULL, name},
    RACE(put_put, "Put", "Put")
    RACE(put_get, "Put", "Get")
    RACE(put_parts, "Put", "Put")
    RACE(put_get_within, "Put", "Get")
    RACE(put_strides, "Put", "Put")
    RACE(put_stride_whole, "Put", "Put")
    RACE(own_put_put, "Put", "Put")
    RACE(own_put_get, "Put", "Get")
    RACE(self_put, "Put", "Put")
    RACE(epoch_put_put, "Put", "Put")
    RACE(epoch_put_get, "Put", "Get")
    RACE(lock_put_put, "Put", "Put")
    RACE(lock_put_get, "Put", "Get")
    RACE(rput_rget, "Rput", "Rget")
    RACE(no_flush, "Put", "Get")
    RACE(flush_local, "Put", "Get")
    RACE(flush_other, "Put", "Get")
    RACE(no_barrier, "Put", "Get")
    RACE(early_message, "Put", "Get")
    RACE(wrong_way, "Put", "Get")
    RACE(wrong_root, "Put", "Get")
    RACE(wrong_reduce, "Put", "Get")
    RACE(flag_no_flush, "Put", "Get")
    RACE(wait_is_local, "Rput", "Get")
    RACE(complete_is_local, "Put", "Put")
    RACE(acc_put, "Accumulate", "Put")
    RACE(acc_get, "Accumulate", "Get")
    RACE(acc_ops, "Accumulate", "Accumulate")
    RACE(acc_types, "Accumulate", "Accumulate")
    RACE(fetch_put, "Fetch_and_op", "Put")
    RACE(fetch_get, "Fetch_and_op", "Get")
    RACE(swap_put, "Compare_and_swap", "Put")
    RACE(put_recv, "Put", "Recv")
    RACE(get_send, "Get", "Send")
    RACE(get_get, "Get", "Get")
    RACE(put_buffer_get, "Put", "Get")
    RACE(fetch_reduce, "Fetch_and_op", "Allreduce")
    RACE(rget_no_wait, "Rget", "Send")
    RACE(window_recv, "Put", "Recv")
    RACE(window_send, "Put", "Send")
    RACE(window_bcast, "Put", "Bcast")
    RACE(window_get_to, "Put", "Get")
    RACE(lock_kept, "Win_lock", "Win_free")
    RACE(lock_all_kept, "Win_lock_all", "Win_free")
    RACE(post_kept, "Win_[ps][ot][sa]r*t", "Win_free")
    RACE(fence_unended, "Put", "Win_free")
    RACE(fence_free, "Win_fence", "Win_free")
    RACE(fence_barrier, "Win_fence", "Win_fence")
    RACE(no_precede, "Put", "Win_fence")
    RACE(wrong_type, "Put", "")
    RACE(result_is_origin, "Fetch_and_op", "")
    RACE(hint_size, "Win_allocate", "")
    RACE(hint_unit, "Win_allocate", "")
    RACE(hint_locks, "Win_allocate", "")
    FINE(apart) FINE(two_fences) FINE(get_get_same) FINE(strides_apart) FINE(two_epochs) FINE(epoch_apart)
    FINE(exclusive) FINE(readers) FINE(put_flush_put) FINE(flush_barrier) FINE(flush_all_ibarrier)
    FINE(flush_message) FINE(flush_ssend) FINE(flush_probe) FINE(flush_irecv) FINE(right_root)
    FINE(right_reduce) FINE(split) FINE(flag_flush) FINE(flag_load) FINE(get_flush_local) FINE(rget_wait)
    FINE(result_is_there) FINE(lock_elsewhere) FINE(acc_acc) FINE(acc_no_op) FINE(acc_in_order) FINE(swap_swap) FINE(get_no_op)
    FINE(own_lock) FINE(tickets) FINE(put_twice) FINE(put_flush_local_recv) FINE(rput_wait_get)
    FINE(get_fence_send) FINE(put_send) FINE(window_recv_fence) FINE(window_send_get)
    FINE(window_allreduce)
};
enum { SCENARIOS = sizeof(scenarios) / sizeof(scenarios[0]) };

static void run(int i, enum window_kind kind)
{
    memset(from, 0, sizeof(from));
    memset(to, 0, sizeof(to));
    w = window_open(MPI_COMM_WORLD, kind, COUNT);
    BARRIER();
    scenarios[i].run();
    BARRIER();
    window_close(&w);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    int found = 0;
    for (int i = 0; i < SCENARIOS && !strcmp(name, "list"); i++)
        if (scenarios[i].first)
            printf("%s %s %s\n", scenarios[i].name, scenarios[i].first, scenarios[i].second);
    if (!strcmp(name, "list"))
        return 0;
    OK(MPI_Init(&argc, &argv));
    me = check_rank(MPI_COMM_WORLD);
    CHECK(check_size(MPI_COMM_WORLD) > TARGET);
    for (int i = 0; i < SCENARIOS; i++)
        if (scenarios[i].first ? !strcmp(scenarios[i].name, name) : !strcmp(name, "fine")) {
            for (int kind = 0; kind < (scenarios[i].first ? 1 : WINDOW_KINDS); kind++)
                run(i, (enum window_kind)kind);
            found++;
        }
    CHECK(found);
    if (me == 0 && !strcmp(name, "fine"))
        printf("%d fine\n", found);
    OK(MPI_Finalize());
    return 0;
}
