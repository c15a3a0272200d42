/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Bandwidth between ranks 0 and 1 by size in bytes, in two manners: one
 * message at a time, there and back ("one-way"), and eight in flight in one
 * direction ("stream"). The limits in shared memory are a pipelined copy
 * through a small pool, process_vm_readv() and memcpy(); with --tcp a bare
 * socket in both manners. --huge puts the buffers on huge pages. Run with
 * two ranks.
 */

#include "bench.h"
#include "raw.h"

#include <mpi.h>
#include <stdio.h>

enum { WINDOW = 8 };

struct work {
    struct raw *raw;
    char *out, *in;
    size_t bytes;
    int rank;
};

static void run_copy(void *arg, int count)
{
    struct work *w = arg;

    raw_copy(w->raw, w->out, w->in, w->bytes, count);
}

static void run_pull(void *arg, int count)
{
    struct work *w = arg;

    raw_pull(w->raw, w->bytes, count);
}

static void run_memcpy(void *arg, int count)
{
    struct work *w = arg;

    raw_memcpy(w->raw, w->out, w->in, w->bytes, count);
}

static void run_socket(void *arg, int count)
{
    struct work *w = arg;

    raw_socket(w->raw, w->out, w->in, w->bytes, count);
}

static void run_socket_stream(void *arg, int count)
{
    struct work *w = arg;

    raw_socket_window(w->raw, w->out, w->in, w->bytes, WINDOW, count);
}

static void run_one_way(void *arg, int count)
{
    struct work *w = arg;

    bench_ping_pong(w->rank, w->out, w->in, w->bytes, count);
}

static void run_stream(void *arg, int count)
{
    struct work *w = arg;

    bench_stream(w->rank, w->out, w->in, w->bytes, WINDOW, count);
}

static void measure(const struct bench_options *o, struct work *w)
{
    double both = 2.0 * (double)w->bytes, window = (double)WINDOW * (double)w->bytes;
    struct bench_way shm[5] = {
        {"copy through pool", "GB/s", BENCH_RATE, both, run_copy, w, BENCH_RAW},
        {"memcpy", "GB/s", BENCH_RATE, both, run_memcpy, w, BENCH_RAW},
        {"one-way", "GB/s", BENCH_RATE, both, run_one_way, w, 0},
        {"stream", "GB/s", BENCH_RATE, window, run_stream, w, 0},
        {"process_vm_readv", "GB/s", BENCH_RATE, both, run_pull, w, BENCH_RAW},
    };
    struct bench_way tcp[4] = {
        {"socket one-way", "GB/s", BENCH_RATE, both, run_socket, w, BENCH_RAW},
        {"socket stream", "GB/s", BENCH_RATE, window, run_socket_stream, w, BENCH_RAW},
        {"one-way", "GB/s", BENCH_RATE, both, run_one_way, w, 0},
        {"stream", "GB/s", BENCH_RATE, window, run_stream, w, 1},
    };
    char label[32];

    snprintf(label, sizeof label, "%zu", w->bytes);
    if (o->tcp)
        bench_interleave(o, label, tcp, 4);
    else
        bench_interleave(o, label, shm, raw_pull_setup(w->raw, w->out, w->in, w->bytes) ? 5 : 4);
}

int main(int argc, char **argv)
{
    struct bench_options o = {.sizes = {16384, 65536, 262144, 1048576, 4194304}, .size_count = 5};
    struct work w;
    size_t most = 1;

    MPI_Init(&argc, &argv);
    bench_options(&o, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    w.raw = raw_open(o.tcp);
    for (int i = 0; i < o.size_count; i++)
        most = o.sizes[i] > most ? o.sizes[i] : most;
    w.out = bench_alloc(most, o.huge);
    w.in = bench_alloc(WINDOW * most, o.huge);
    for (int i = 0; i < o.size_count; i++) {
        w.bytes = o.sizes[i];
        measure(&o, &w);
    }
    bench_free(w.out, most);
    bench_free(w.in, WINDOW * most);
    raw_close(w.raw);
    MPI_Finalize();
    return 0;
}
