/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives, and pairs in ping-pong, by bytes a rank, on any number of
 * ranks: the time of one call while calls follow each other. The clock runs
 * until all ranks are done: a root may be done with all calls long before others
 * have begun them. With more ranks than processors it runs from when the first has
 * begun, for the same reason. --ops names
 * some of: barrier bcast reduce allreduce allgather alltoall gather scatter
 * scan reduce_scatter pingpong. Barrier and pingpong are measured once: the
 * first has no size, the second carries 8 bytes between ranks 2i and 2i+1, all
 * pairs at once. The limit of what is long is memcpy() at all ranks at once of the bytes that the
 * operation has to bring to each; else, with two ranks, a trip of a bare cache line.
 */

#include "bench.h"
#include "raw.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 1, ROOT = 0, LONG = 4096 /* bytes from which on copying counts */ };

static const double settle_ns = 0.5e9;

struct work {
    struct raw *raw; /* NULL: not two ranks */
    char *out, *in;
    int rank, ranks;
    int bytes;   /* a rank; for alltoall and scatter, to each rank */
    int doubles;
    size_t copied; /* bytes: a round of the limit */
};

static void run_barrier(void *arg, int count)
{
    for (int i = 0; i < count; i++)
        MPI_Barrier(MPI_COMM_WORLD);
}

static void run_bcast(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; i < count; i++)
        MPI_Bcast(w->out, w->bytes, MPI_BYTE, ROOT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_reduce(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; i < count; i++)
        MPI_Reduce(w->out, w->in, w->doubles, MPI_DOUBLE, MPI_SUM, ROOT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_allreduce(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; i < count; i++)
        MPI_Allreduce(w->out, w->in, w->doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_allgather(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; i < count; i++)
        MPI_Allgather(w->out, w->bytes, MPI_BYTE, w->in, w->bytes, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_alltoall(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; i < count; i++)
        MPI_Alltoall(w->out, w->bytes, MPI_BYTE, w->in, w->bytes, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_gather(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; i < count; i++)
        MPI_Gather(w->out, w->bytes, MPI_BYTE, w->in, w->bytes, MPI_BYTE, ROOT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_scatter(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; i < count; i++)
        MPI_Scatter(w->out, w->bytes, MPI_BYTE, w->in, w->bytes, MPI_BYTE, ROOT, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_scan(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; i < count; i++)
        MPI_Scan(w->out, w->in, w->doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_reduce_scatter(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; i < count; i++)
        MPI_Reduce_scatter_block(w->out, w->in, w->doubles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_line(void *arg, int count)
{
    raw_line(((struct work *)arg)->raw, count);
}

static void run_copy(void *arg, int count)
{
    struct work *w = arg;

    for (int i = 0; i < count; i++) {
        memcpy(w->in, w->out, w->copied);
        __asm__ volatile("" ::: "memory");
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_pingpong(void *arg, int count)
{
    struct work *w = arg;
    int peer = w->rank ^ 1;

    if (peer >= w->ranks)
        return;
    for (int i = 0; i < count; i++) {
        if (w->rank < peer) {
            MPI_Send(w->out, 8, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
            MPI_Recv(w->in, 8, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(w->in, 8, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(w->out, 8, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
        }
    }
}

/* Blocks that a rank has to read or to write at least, where the work is shared evenly. */
enum moves { NOTHING, ONE, ALL /* one of each rank */ };

static const struct operation {
    const char *name;
    void (*run)(void *arg, int count);
    double scale; /* of a round's nanoseconds, to microseconds */
    int only;     /* the one size it is measured at, or -1 for all */
    enum moves moves;
} operations[] = {
    {"barrier", run_barrier, 1e-3, 0, NOTHING},
    {"bcast", run_bcast, 1e-3, -1, ONE},
    {"reduce", run_reduce, 1e-3, -1, ONE},
    {"allreduce", run_allreduce, 1e-3, -1, ONE},
    {"allgather", run_allgather, 1e-3, -1, ALL},
    {"alltoall", run_alltoall, 1e-3, -1, ALL},
    {"gather", run_gather, 1e-3, -1, ONE},
    {"scatter", run_scatter, 1e-3, -1, ONE},
    {"scan", run_scan, 1e-3, -1, ONE},
    {"reduce_scatter", run_reduce_scatter, 1e-3, -1, ALL},
    {"pingpong", run_pingpong, 0.5e-3, 8, NOTHING},
};

/* Whether name is a word of the comma-separated list. */
static bool asked(const char *list, const char *name)
{
    size_t length = strlen(name);

    if (!list)
        return true;
    for (const char *at = list; *at; at++) {
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
        at = strchr(at, ',');
        if (!at)
            return false;
    }
    return false;
}

static void measure(const struct bench_options *o, struct work *w, const struct operation *op)
{
    const struct bench_way line = {"line trip", "us", BENCH_TIME, 0.5e-3, run_line, w, BENCH_RAW};
    const struct bench_way copy = {"memcpy", "us", BENCH_TIME, 1e-3, run_copy, w, BENCH_RAW};
    char label[32];

    for (int i = 0; i < o->size_count; i++) {
        if (op->only >= 0 && i > 0)
            break;
        w->bytes = op->only >= 0 ? op->only : (int)o->sizes[i];
        w->doubles = w->bytes / (int)sizeof(double);
        w->copied = (size_t)w->bytes * (op->moves == ALL ? (size_t)w->ranks : 1);

        bool copies = op->moves && w->bytes >= LONG, limited = copies || w->raw;
        struct bench_way ways[] = {
            {op->name, "us", BENCH_TIME, op->scale, op->run, w, limited ? 1 : BENCH_NO_LIMIT},
            copies ? copy : line,
        };

        snprintf(label, sizeof label, "%d", w->bytes);
        bench_interleave(o, label, ways, limited ? 2 : 1);
    }
}

/* The system takes its time to spread ranks evenly over processors that are all busy. */
static void settle(void)
{
    double end = bench_now() + settle_ns;
    int enough = 0;

    while (!enough) {
        for (int i = 0; i < 10; i++)
            MPI_Barrier(MPI_COMM_WORLD);
        enough = bench_now() > end;
        MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    struct bench_options o = {.sizes = {8, 32768}, .size_count = 2};
    struct work w = {0};
    size_t most = 8;

    MPI_Init(&argc, &argv);
    bench_options(&o, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &w.ranks);
    for (int i = 0; i < o.size_count; i++)
        most = o.sizes[i] > most ? o.sizes[i] : most;
    o.whole = w.ranks > sysconf(_SC_NPROCESSORS_ONLN);
    if (o.whole)
        settle();
    w.out = bench_alloc((size_t)w.ranks * most, o.huge);
    w.in = bench_alloc((size_t)w.ranks * most, o.huge);
    if (w.ranks == 2)
        w.raw = raw_open(false);
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (asked(o.ops, operations[i].name))
            measure(&o, &w, &operations[i]);
    if (w.raw)
        raw_close(w.raw);
    bench_free(w.out, (size_t)w.ranks * most);
    bench_free(w.in, (size_t)w.ranks * most);
    MPI_Finalize();
    return 0;
}
