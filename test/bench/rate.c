/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Message rate from rank 0 to rank 1: windows of 64 nonblocking messages,
 * then an answer. The limit is the same through a ring of 64-byte slots, or
 * with --tcp one send() and one recv() a message. Run with two ranks.
 */

#include "bench.h"
#include "raw.h"

#include <mpi.h>
#include <stdio.h>

enum { WINDOW = 64, BYTES_MAX = 1 << 16 };

struct work {
    struct raw *raw;
    char *out, *in;
    size_t bytes;
    int rank;
};

static void run_ring(void *arg, int count)
{
    raw_ring_window(((struct work *)arg)->raw, WINDOW, count);
}

static void run_socket(void *arg, int count)
{
    struct work *w = arg;

    raw_socket_window(w->raw, w->out, w->in, w->bytes ? w->bytes : 1, WINDOW, count);
}

static void run_mpi(void *arg, int count)
{
    struct work *w = arg;

    bench_stream(w->rank, w->out, w->in, w->bytes, WINDOW, count);
}

int main(int argc, char **argv)
{
    struct bench_options o = {.sizes = {8}, .size_count = 1};
    const double mega = WINDOW * 1e3; /* messages a round, in millions a second */
    struct work w;
    char label[32];

    MPI_Init(&argc, &argv);
    bench_options(&o, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    w.raw = raw_open(o.tcp);
    w.out = bench_alloc(BYTES_MAX, false);
    w.in = bench_alloc((size_t)WINDOW * BYTES_MAX, false);
    for (int i = 0; i < o.size_count && o.sizes[i] <= BYTES_MAX; i++) {
        struct bench_way ways[] = {
            {o.tcp ? "socket rate" : "slot ring rate", "M/s", BENCH_RATE, mega,
             o.tcp ? run_socket : run_ring, &w, BENCH_RAW},
            {"message rate", "M/s", BENCH_RATE, mega, run_mpi, &w, 0},
        };

        w.bytes = o.sizes[i];
        snprintf(label, sizeof label, "%zu", w.bytes);
        bench_interleave(&o, label, ways, 2);
    }
    bench_free(w.out, BYTES_MAX);
    bench_free(w.in, (size_t)WINDOW * BYTES_MAX);
    raw_close(w.raw);
    MPI_Finalize();
    return 0;
}
