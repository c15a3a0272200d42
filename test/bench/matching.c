/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What depth costs: the latency of a message while rank 1 holds many posted
 * receives, or many unexpected messages, by their number. Every class of
 * wildcard is measured:
 *
 *   posted, exact / any source / any tag   D receives that the measured
 *       messages do not match wait in front of the one that they do
 *   posted, both       D receives that match everything; each message takes
 *       the oldest, which is posted again
 *   unexpected, exact / any source / any tag   D messages that the measured
 *       receive does not match came before the one that it does
 *   unexpected, both   each receive takes the oldest of D messages
 *
 * The limit is a bare cache-line ping-pong. Run with two ranks.
 */

#include "bench.h"
#include "raw.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { TAG = 30000, REPLY = 30001, DEPTH_MAX = 20000 };

struct work {
    struct raw *raw;
    int rank, depth;
    int source, tag;        /* of rank 1's measured receive */
    int oldest;             /* of the posted receives that match everything */
    MPI_Request *waiting;   /* depth posted receives or sends */
    long *space;            /* their buffers */
};

/* One class: how the depth is made, and how the measured receive looks. */
struct shape {
    const char *metric;
    bool posted;
    bool rolling;           /* the depth itself is what messages match */
    int wait_source;        /* of the depth's receives, or its messages' sender */
    bool wait_any_tag;
    int source, tag;        /* of the measured receive */
};

static void run_line(void *arg, int count)
{
    raw_line(((struct work *)arg)->raw, count);
}

/* Rank 0's side of a ping-pong. */
static void ping(int count)
{
    long word = 1;

    for (int i = 0; i < count; i++) {
        MPI_Send(&word, 8, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        MPI_Recv(&word, 8, MPI_BYTE, 1, REPLY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void run_receive(void *arg, int count)
{
    struct work *w = arg;
    long word;

    if (w->rank == 0) {
        ping(count);
        return;
    }
    for (int i = 0; i < count; i++) {
        MPI_Recv(&word, 8, MPI_BYTE, w->source, w->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&word, 8, MPI_BYTE, 0, REPLY, MPI_COMM_WORLD);
    }
}

/* The oldest of the posted receives is matched, then posted again. */
static void run_rolling(void *arg, int count)
{
    struct work *w = arg;

    if (w->rank == 0) {
        ping(count);
        return;
    }
    for (int i = 0; i < count; i++) {
        int at = w->oldest;

        MPI_Wait(&w->waiting[at], MPI_STATUS_IGNORE);
        MPI_Irecv(&w->space[at], 8, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &w->waiting[at]);
        w->oldest = (at + 1) % w->depth;
        MPI_Send(&w->space[at], 8, MPI_BYTE, 0, REPLY, MPI_COMM_WORLD);
    }
}

static void post_depth(struct work *w, const struct shape *shape)
{
    for (int i = 0; w->rank == 1 && i < w->depth; i++)
        MPI_Irecv(&w->space[i], 8, MPI_BYTE, shape->wait_source,
                  shape->wait_any_tag ? MPI_ANY_TAG : i, MPI_COMM_WORLD, &w->waiting[i]);
}

static void send_depth(struct work *w, int from)
{
    for (int i = 0; w->rank == from && i < w->depth; i++)
        MPI_Isend(&w->space[i], 8, MPI_BYTE, 1, i, MPI_COMM_WORLD, &w->waiting[i]);
}

static void receive_depth(struct work *w, int from)
{
    long word;

    for (int i = 0; w->rank == 1 && i < w->depth; i++)
        MPI_Recv(&word, 8, MPI_BYTE, from, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void interleave(const struct bench_options *o, struct work *w, const struct shape *shape)
{
    struct bench_way ways[] = {
        {"line ping-pong", "ns", BENCH_TIME, 0.5, run_line, w, BENCH_RAW},
        {shape->metric, "ns", BENCH_TIME, 0.5,
         shape->posted && shape->rolling ? run_rolling : run_receive, w, 0},
    };
    char label[32];

    snprintf(label, sizeof label, "%d", w->depth);
    bench_interleave(o, label, ways, 2);
}

static void measure(const struct bench_options *o, struct work *w, const struct shape *shape)
{
    /* Messages for the depth come from where its receives look. */
    int from = shape->wait_source == 1 ? 1 : 0;

    w->source = shape->source;
    w->tag = shape->tag;
    w->oldest = 0;
    if (shape->posted)
        post_depth(w, shape);
    else
        send_depth(w, from);
    MPI_Barrier(MPI_COMM_WORLD);
    interleave(o, w, shape);
    if (shape->posted) {
        MPI_Request *receives = w->waiting;
        MPI_Request *sends = malloc(sizeof sends[0] * (size_t)w->depth);

        if (!sends)
            bench_fail("malloc");
        w->waiting = sends;
        send_depth(w, from);
        if (w->rank == from)
            MPI_Waitall(w->depth, sends, MPI_STATUSES_IGNORE);
        w->waiting = receives;
        free(sends);
        if (w->rank == 1)
            MPI_Waitall(w->depth, receives, MPI_STATUSES_IGNORE);
    } else {
        receive_depth(w, from);
        if (w->rank == from)
            MPI_Waitall(w->depth, w->waiting, MPI_STATUSES_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    static const struct shape shapes[] = {
        {"posted exact", true, false, 0, false, 0, TAG},
        {"posted any-source", true, false, MPI_ANY_SOURCE, false, 0, TAG},
        {"posted any-tag", true, false, 1, true, 0, TAG},
        {"posted both", true, true, MPI_ANY_SOURCE, true, 0, TAG},
        {"unexpected exact", false, false, 0, false, 0, TAG},
        {"unexpected any-source", false, false, 0, false, MPI_ANY_SOURCE, TAG},
        {"unexpected any-tag", false, false, 1, false, 0, MPI_ANY_TAG},
        {"unexpected both", false, true, 0, false, MPI_ANY_SOURCE, MPI_ANY_TAG},
    };
    struct bench_options o = {.sizes = {1, 512, 4096, 16384}, .size_count = 4};
    struct work w = {0};

    MPI_Init(&argc, &argv);
    bench_options(&o, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    w.raw = raw_open(false);
    w.waiting = malloc(sizeof w.waiting[0] * DEPTH_MAX);
    w.space = calloc(DEPTH_MAX, sizeof w.space[0]);
    if (!w.waiting || !w.space)
        bench_fail("malloc");
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        for (int i = 0; i < o.size_count; i++) {
            w.depth = o.sizes[i] < DEPTH_MAX ? (int)o.sizes[i] : DEPTH_MAX;
            if (w.depth > 0)
                measure(&o, &w, &shapes[s]);
        }
    }
    free(w.waiting);
    free(w.space);
    raw_close(w.raw);
    MPI_Finalize();
    return 0;
}
