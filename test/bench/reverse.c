/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What one of many costs: D receives that are posted, or D messages that are here, matched from
 * the last to the first, by their number D; with a source told and with any.
 *
 * Rank 0 receives from the last rank, which may be itself. The median of all tries is printed, in
 * ns a match; where D matches take longer than a program may, as where queues are searched from
 * the front, the larger numbers are left out.
 */

#include "bench.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    MATCHES = 4000,      /* at least so many for one try, in rounds */
    TRIES_MAX = 1000,
    BUDGET_NS = 1000000000, /* of one try */
};

struct work {
    int rank, sender, source, depth;
    MPI_Request *requests;
    int *in, *out;
};

static double posted(struct work *w)
{
    for (int i = 0; w->rank == 0 && i < w->depth; i++)
        MPI_Irecv(&w->in[i], 1, MPI_INT, w->source, i, MPI_COMM_WORLD, &w->requests[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    double began = bench_now();
    for (int i = w->depth - 1; w->rank == w->sender && i >= 0; i--)
        MPI_Send(&w->out[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    if (w->rank == 0)
        MPI_Wait(&w->requests[0], MPI_STATUS_IGNORE);
    double ns = bench_now() - began;
    if (w->rank == 0)
        MPI_Waitall(w->depth, w->requests, MPI_STATUSES_IGNORE);
    return ns;
}

static double unexpected(struct work *w)
{
    MPI_Request *sends = w->requests + w->depth;

    for (int i = 0; w->rank == w->sender && i < w->depth; i++)
        MPI_Isend(&w->out[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &sends[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (w->rank == 0) /* once the last one is here, all are */
        MPI_Probe(w->source, w->depth - 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double began = bench_now();
    for (int i = w->depth - 1; w->rank == 0 && i >= 0; i--)
        MPI_Recv(&w->in[i], 1, MPI_INT, w->source, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double ns = bench_now() - began;
    if (w->rank == w->sender)
        MPI_Waitall(w->depth, sends, MPI_STATUSES_IGNORE);
    return ns;
}

/* Returns ns a match. */
static double one_try(struct work *w, double (*match)(struct work *w))
{
    int rounds = (MATCHES + w->depth - 1) / w->depth;
    double ns = 0;

    for (int i = 0; i < rounds; i++)
        ns += match(w);
    return ns / rounds / w->depth;
}

/* Returns whether larger numbers may be tried. */
static int measure(const struct bench_options *o, struct work *w, const char *metric,
                   double (*match)(struct work *w))
{
    double ns[TRIES_MAX];
    char label[32];
    int tries = o->slices < TRIES_MAX ? o->slices : TRIES_MAX, made = 0, enough = 0, quick = 1;
    double began = bench_now();

    while (!enough) {
        ns[made++] = one_try(w, match);
        if (ns[made - 1] * w->depth > BUDGET_NS)
            quick = 0;
        enough = made == tries || !quick || bench_now() - began > o->seconds * 1e9;
        MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    snprintf(label, sizeof label, "%d", w->depth);
    double median = bench_median(ns, made);
    if (w->rank == 0)
        bench_print(label, metric, "ns", BENCH_TIME, median, ns[0]);
    /* Ten times as many may take a hundred times as long. */
    quick = quick && median * w->depth * 100 < 10.0 * BUDGET_NS;
    MPI_Bcast(&quick, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return quick;
}

int main(int argc, char **argv)
{
    static const char *const metrics[2][2] = {{"posted", "posted any-source"},
                                              {"unexpected", "unexpected any-source"}};
    struct bench_options o = {.sizes = {10, 1000, 10000, 100000}, .size_count = 4, .slices = 20};
    struct work w = {0};
    int size, most = 0;

    MPI_Init(&argc, &argv);
    bench_options(&o, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < o.size_count; i++)
        most = (int)o.sizes[i] > most ? (int)o.sizes[i] : most;
    w.sender = size - 1;
    w.requests = malloc(2 * sizeof w.requests[0] * (size_t)most);
    w.in = calloc((size_t)most, sizeof w.in[0]);
    w.out = calloc((size_t)most, sizeof w.out[0]);
    if (!w.requests || !w.in || !w.out)
        bench_fail("malloc");
    for (int kind = 0; kind < 2; kind++) {
        for (int any = 0; any < 2; any++) {
            w.source = any ? MPI_ANY_SOURCE : w.sender;
            for (int i = 0, go = 1; go && i < o.size_count; i++) {
                w.depth = (int)o.sizes[i];
                go = measure(&o, &w, metrics[kind][any], kind ? unexpected : posted);
            }
        }
    }
    free(w.requests);
    free(w.in);
    free(w.out);
    MPI_Finalize();
    return 0;
}
