/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Operations at a target that computes, and makes no call of MPI meanwhile: rank 0 locks rank 1, operates and
 * unlocks. --sizes: milliseconds that rank 1 computes; --ops names some kinds of windows; --slices: how often
 * each is measured. Run with two ranks.
 */
#include "bench.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 64, SLICES_MAX = 100 };
static const double EARLY_NS = 20e6; /* rank 0 waits so long: then rank 1 computes */

static int rank;
static MPI_Win win;
static MPI_Aint base; /* of displacements at rank 1 */
static MPI_Datatype stride;
static long from[COUNT], to[COUNT];

static void nothing(void)
{
}

static void put(void)
{
    MPI_Put(from, 1, MPI_LONG, 1, base, 1, MPI_LONG, win);
}

static void get(void)
{
    MPI_Get(to, 1, MPI_LONG, 1, base, 1, MPI_LONG, win);
}

static void fetch(void)
{
    MPI_Fetch_and_op(from, to, MPI_LONG, 1, base, MPI_SUM, win);
}

static void sum_strided(void)
{
    MPI_Accumulate(from, COUNT / 4, MPI_LONG, 1, base, 1, stride, MPI_SUM, win);
}

static void compute(double ns)
{
    double end = bench_now() + ns;
    volatile double x = 1;

    while (bench_now() < end)
        for (int i = 0; i < 1000; i++)
            x = x * 0.999999 + 1e-9;
}

/* Returns the microseconds of one epoch, at rank 0. */
static double epoch(void (*operate)(void), double ms)
{
    double begin = 0;

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1)
        compute(ms * 1e6);
    if (rank == 0) {
        compute(EARLY_NS);
        begin = bench_now();
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        operate();
        MPI_Win_unlock(1, win);
        begin = bench_now() - begin;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return begin / 1e3;
}

static void measure(const struct bench_options *o, const char *kind, const char *metric, void (*operate)(void))
{
    double us[SLICES_MAX], best;
    char label[64];
    int slices = o->slices < SLICES_MAX ? o->slices : SLICES_MAX;

    for (int s = 0; s < o->size_count; s++) {
        for (int i = 0; i < slices; i++) {
            us[i] = epoch(operate, (double)o->sizes[s]);
            best = i && best < us[i] ? best : us[i];
        }
        snprintf(label, sizeof label, "%zu ms %s", o->sizes[s], kind);
        if (rank == 0)
            bench_print(label, metric, "us", BENCH_TIME, bench_median(us, slices), best);
    }
}

static void measure_all(const struct bench_options *o, const char *kind)
{
    (void)epoch(put, 0); /* the first use of a window may connect */
    measure(o, kind, "lock unlock", nothing);
    measure(o, kind, "lock put unlock", put);
    measure(o, kind, "lock get unlock", get);
    measure(o, kind, "lock fetch_and_op unlock", fetch);
    measure(o, kind, "lock strided accumulate unlock", sum_strided);
}

static bool wanted(const struct bench_options *o, const char *kind)
{
    base = 0;
    return !o->ops || strstr(o->ops, kind);
}

static void run_create(const struct bench_options *o, const char *kind, long *memory)
{
    memset(memory, 0, sizeof(long) * COUNT);
    MPI_Win_create(memory, sizeof(long) * COUNT, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    measure_all(o, kind);
    MPI_Win_free(&win);
}

static void run_dynamic(const struct bench_options *o, const char *kind, long *memory)
{
    memset(memory, 0, sizeof(long) * COUNT);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, memory, sizeof(long) * COUNT);
    MPI_Get_address(memory, &base);
    MPI_Bcast(&base, 1, MPI_AINT, 1, MPI_COMM_WORLD);
    measure_all(o, kind);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(win, memory);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    struct bench_options o = {.slices = 3, .sizes = {300}, .size_count = 1};
    long *memory = bench_alloc(sizeof(long) * COUNT, false), *other;

    MPI_Init(&argc, &argv);
    bench_options(&o, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(COUNT / 4, 1, 4, MPI_LONG, &stride);
    MPI_Type_commit(&stride);
    if (wanted(&o, "allocate")) {
        MPI_Win_allocate(sizeof(long) * COUNT, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other, &win);
        memset(other, 0, sizeof(long) * COUNT);
        measure_all(&o, "allocate");
        MPI_Win_free(&win);
    }
    if (wanted(&o, "malloc"))
        run_create(&o, "malloc", memory);
    if (wanted(&o, "alloc_mem")) {
        MPI_Alloc_mem(sizeof(long) * COUNT, MPI_INFO_NULL, &other);
        run_create(&o, "alloc_mem", other);
        MPI_Free_mem(other);
    }
    if (wanted(&o, "dynamic"))
        run_dynamic(&o, "dynamic", memory);
    MPI_Type_free(&stride);
    bench_free(memory, sizeof(long) * COUNT);
    MPI_Finalize();
    return 0;
}
