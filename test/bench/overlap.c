/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives that do not block: an MPI_Ibarrier with its wait, and an MPI_Iallreduce of doubles with computation
 * between its start and its wait. The limit of the second is the same computation alone: what is
 * over it is what the collective still costs. Once the computation makes no MPI call, and once
 * it is in parts with an MPI_Test after each.
 */

#include "bench.h"
#include "raw.h"

#include <mpi.h>
#include <stdio.h>

enum { PARTS = 16, BYTES_A_STEP = 4 /* steps of the computation: so long as the collective, or longer */ };

struct work {
    struct raw *raw; /* NULL: not two ranks */
    double *out, *in;
    int doubles;
    long steps;
};

static void run_line(void *arg, int count)
{
    raw_line(((struct work *)arg)->raw, count);
}

static void run_barrier(void *arg, int count)
{
    MPI_Request request;

    for (int i = 0; i < count; i++) {
        MPI_Ibarrier(MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

/* Each step waits for the one before, and touches no memory. */
static void compute(long steps)
{
    double x = 1;

    for (long i = 0; i < steps; i++) {
        x = x * 0.999999 + 1e-9;
        __asm__ volatile("" : "+x"(x));
    }
}

static void start(struct work *w, MPI_Request *request)
{
    MPI_Iallreduce(w->out, w->in, w->doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, request);
}

static void run_alone(void *arg, int count)
{
    MPI_Request request;

    for (int i = 0; i < count; i++) {
        start(arg, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void run_untested(void *arg, int count)
{
    struct work *w = arg;
    MPI_Request request;

    for (int i = 0; i < count; i++) {
        start(w, &request);
        compute(w->steps);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void run_tested(void *arg, int count)
{
    struct work *w = arg;
    MPI_Request request;
    int done;

    for (int i = 0; i < count; i++) {
        start(w, &request);
        for (int part = 0; part < PARTS; part++) {
            compute(w->steps / PARTS);
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

static void run_work(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; i < count; i++)
        compute(w->steps);
}

static void measure_barrier(const struct bench_options *o, struct work *w)
{
    const struct bench_way ways[] = {
        {"ibarrier", "us", BENCH_TIME, 1e-3, run_barrier, w, w->raw ? 1 : BENCH_NO_LIMIT},
        {"line trip", "us", BENCH_TIME, 0.5e-3, run_line, w, BENCH_RAW},
    };

    bench_interleave(o, "0", ways, w->raw ? 2 : 1);
}

static void measure_allreduce(const struct bench_options *o, struct work *w, size_t bytes)
{
    const struct bench_way ways[] = {
        {"iallreduce", "us", BENCH_TIME, 1e-3, run_alone, w, BENCH_NO_LIMIT},
        {"iallreduce beside work", "us", BENCH_TIME, 1e-3, run_untested, w, 3},
        {"iallreduce beside tests", "us", BENCH_TIME, 1e-3, run_tested, w, 3},
        {"work", "us", BENCH_TIME, 1e-3, run_work, w, BENCH_RAW},
    };
    char label[32];

    w->doubles = (int)(bytes / sizeof(double));
    w->steps = (long)bytes / BYTES_A_STEP;
    snprintf(label, sizeof label, "%zu", bytes);
    bench_interleave(o, label, ways, 4);
}

int main(int argc, char **argv)
{
    struct bench_options o = {.sizes = {1 << 20}, .size_count = 1};
    struct work w = {0};
    size_t most = 0;
    int ranks;

    MPI_Init(&argc, &argv);
    bench_options(&o, argc, argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < o.size_count; i++)
        most = o.sizes[i] > most ? o.sizes[i] : most;
    w.out = bench_alloc(most, o.huge);
    w.in = bench_alloc(most, o.huge);
    if (ranks == 2)
        w.raw = raw_open(false);
    measure_barrier(&o, &w);
    for (int i = 0; i < o.size_count; i++)
        measure_allreduce(&o, &w, o.sizes[i]);
    if (w.raw)
        raw_close(w.raw);
    bench_free(w.out, most);
    bench_free(w.in, most);
    MPI_Finalize();
    return 0;
}
