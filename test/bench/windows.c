/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One-sided operations from each even rank to the next one, which takes no part but in fences, and where it posts.
 * --ops names some of the ways. The limits are memcpy() between private buffers, and an atomic add.
 * Run with two ranks, or more, an even number: then all pairs do the same. The time is rank 0's, but that of all pairs
 * for fences and posts of more than one.
 */
#include "bench.h"

#include <mpi.h>
#include <stdatomic.h>
#include <string.h>

enum { BYTES = 2 << 20, MEDIUM = 64 << 10, LARGE = 1 << 20, STRIDES = 8192 };

struct work {
    int rank, partner, pairs;
    size_t len;
    MPI_Win win;
    MPI_Group other;
    MPI_Datatype stride;
    char *from, *to;
    _Atomic long word;
};

/* Operations of rank 0, each in turn, between a lock of all and its end. */
#define PASSIVE(name, operation)                                                                   \
    static void name(void *arg, int count)                                                         \
    {                                                                                              \
        struct work *w = arg;                                                                      \
        for (int i = 0; w->rank % 2 == 0 && i < count; i++) {                                          \
            operation;                                                                             \
            MPI_Win_flush(w->partner, w->win);                                                              \
        }                                                                                          \
    }
static long one = 1, was, zero;
PASSIVE(put, MPI_Put(w->from, (int)w->len, MPI_BYTE, w->partner, 0, (int)w->len, MPI_BYTE, w->win))
PASSIVE(get, MPI_Get(w->to, (int)w->len, MPI_BYTE, w->partner, 0, (int)w->len, MPI_BYTE, w->win))
PASSIVE(put_word, MPI_Put(&one, 1, MPI_LONG, w->partner, 0, 1, MPI_LONG, w->win))
PASSIVE(get_word, MPI_Get(&was, 1, MPI_LONG, w->partner, 0, 1, MPI_LONG, w->win))
PASSIVE(fetch, MPI_Fetch_and_op(&one, &was, MPI_LONG, w->partner, 8, MPI_SUM, w->win))
PASSIVE(compare, MPI_Compare_and_swap(&one, &zero, &was, MPI_LONG, w->partner, 16, w->win))
PASSIVE(strided, MPI_Put(w->from, STRIDES, MPI_LONG, w->partner, 0, 1, w->stride, w->win))
PASSIVE(sum, MPI_Accumulate(w->from, (int)(w->len / 8), MPI_DOUBLE, w->partner, 0, (int)(w->len / 8), MPI_DOUBLE,
                            MPI_SUM, w->win))

static void locked(void *arg, int count)
{
    struct work *w = arg;
    for (int i = 0; w->rank % 2 == 0 && i < count; i++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->partner, 0, w->win);
        MPI_Put(&one, 1, MPI_LONG, w->partner, 0, 1, MPI_LONG, w->win);
        MPI_Win_unlock(w->partner, w->win);
    }
}

static void fences(void *arg, int count)
{
    struct work *w = arg;
    MPI_Win_fence(0, w->win);
    for (int i = 0; i < count; i++) {
        MPI_Put(&one, 1, MPI_LONG, w->partner, 0, 1, MPI_LONG, w->win);
        MPI_Win_fence(0, w->win);
    }
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
}

static void posts(void *arg, int count)
{
    struct work *w = arg;
    for (int i = 0; i < count; i++) {
        MPI_Win_post(w->other, 0, w->win);
        MPI_Win_start(w->other, 0, w->win);
        MPI_Put(&one, 1, MPI_LONG, w->partner, 0, 1, MPI_LONG, w->win);
        MPI_Win_complete(w->win);
        MPI_Win_wait(w->win);
    }
}

static void copy_raw(void *arg, int count)
{
    struct work *w = arg;
    for (int i = 0; w->rank % 2 == 0 && i < count; i++) {
        memcpy(w->to, w->from, w->len);
        atomic_signal_fence(memory_order_seq_cst);
    }
}

static void add_raw(void *arg, int count)
{
    struct work *w = arg;
    for (int i = 0; w->rank % 2 == 0 && i < count; i++)
        atomic_fetch_add(&w->word, 1);
}

/* Locks of all, where the way is passive. */
static void measure(const struct bench_options *o, struct work *w, const char *label, void (*limit)(void *, int),
                    void (*run)(void *, int), int epoch)
{
    struct bench_options own = *o;
    if (o->ops && !strstr(o->ops, label))
        return;
    own.whole = w->pairs > 1 && (run == fences || run == posts);
    const struct bench_way ways[] = {
        {"raw", "us", BENCH_TIME, 1e-3, limit, w, BENCH_RAW},
        {"one-sided", "us", BENCH_TIME, 1e-3, run, w, 0},
    };
    if (epoch && w->rank % 2 == 0)
        MPI_Win_lock_all(0, w->win);
    bench_interleave(&own, label, ways, 2);
    if (epoch && w->rank % 2 == 0)
        MPI_Win_unlock_all(w->win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void measure_all(const struct bench_options *o, struct work *w)
{
    measure(o, w, "put 8 B", add_raw, put_word, 1);
    measure(o, w, "get 8 B", add_raw, get_word, 1);
    measure(o, w, "fetch_and_op", add_raw, fetch, 1);
    measure(o, w, "compare_and_swap", add_raw, compare, 1);
    measure(o, w, "lock put unlock", add_raw, locked, 0);
    measure(o, w, "fence", add_raw, fences, 0);
    measure(o, w, "post start complete wait", add_raw, posts, 0);
    w->len = MEDIUM;
    measure(o, w, "put 64 KiB", copy_raw, put, 1);
    measure(o, w, "get 64 KiB", copy_raw, get, 1);
    measure(o, w, "sum 64 KiB", copy_raw, sum, 1);
    measure(o, w, "strided put 64 KiB", copy_raw, strided, 1);
    w->len = LARGE;
    measure(o, w, "put 1 MiB", copy_raw, put, 1);
    measure(o, w, "get 1 MiB", copy_raw, get, 1);
    measure(o, w, "sum 1 MiB", copy_raw, sum, 1);
}

int main(int argc, char **argv)
{
    struct bench_options o = {.slices = 20, .seconds = 1};
    struct work w = {0};
    MPI_Group all;
    void *base;
    int size;

    MPI_Init(&argc, &argv);
    bench_options(&o, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size % 2)
        bench_fail("windows: an even number of ranks is needed");
    w.partner = w.rank ^ 1;
    w.pairs = size / 2;
    w.from = bench_alloc(BYTES, o.huge);
    w.to = bench_alloc(BYTES, o.huge);
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &w.win);
    memset(base, 0, BYTES);
    MPI_Win_get_group(w.win, &all);
    MPI_Group_incl(all, 1, &w.partner, &w.other);
    MPI_Type_vector(STRIDES, 1, 2, MPI_LONG, &w.stride);
    MPI_Type_commit(&w.stride);
    MPI_Barrier(MPI_COMM_WORLD);
    measure_all(&o, &w);
    MPI_Type_free(&w.stride);
    MPI_Group_free(&w.other);
    MPI_Group_free(&all);
    MPI_Win_free(&w.win);
    bench_free(w.from, BYTES);
    bench_free(w.to, BYTES);
    MPI_Finalize();
    return 0;
}
