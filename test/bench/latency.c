/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One-way latency between ranks 0 and 1: half a ping-pong, by size in bytes.
 * The limit is a bare cache-line ping-pong, or with --tcp a socket ping-pong
 * of the same size. Run with two ranks.
 */

#include "bench.h"
#include "raw.h"

#include <mpi.h>
#include <stdio.h>

enum { TAG = 1, RING_PAYLOAD = 56 };

struct work {
    struct raw *raw;
    char *out, *in;
    size_t bytes;
    int rank;
};

static void run_line(void *arg, int count)
{
    raw_line(((struct work *)arg)->raw, count);
}

static void run_ring(void *arg, int count)
{
    raw_ring(((struct work *)arg)->raw, count);
}

static void run_copy(void *arg, int count)
{
    struct work *w = arg;

    raw_copy(w->raw, w->out, w->in, w->bytes, count);
}

static void run_socket(void *arg, int count)
{
    struct work *w = arg;

    raw_socket(w->raw, w->out, w->in, w->bytes ? w->bytes : 1, count);
}

static void run_mpi(void *arg, int count)
{
    struct work *w = arg;
    int bytes = (int)w->bytes;

    for (int i = 0; i < count; i++) {
        if (w->rank == 0) {
            MPI_Send(w->out, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
            MPI_Recv(w->in, bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(w->in, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(w->out, bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
        }
    }
}

static void measure(const struct bench_options *o, struct work *w)
{
    struct bench_way ways[4] = {
        {"line ping-pong", "ns", BENCH_TIME, 0.5, run_line, w, BENCH_RAW},
        {"latency", "ns", BENCH_TIME, 0.5, run_mpi, w, 0},
    };
    int count = 2;
    char label[32];

    if (o->tcp) {
        ways[0].metric = "socket ping-pong";
        ways[0].run = run_socket;
    } else if (w->bytes <= RING_PAYLOAD) {
        ways[count++] = (struct bench_way){"slot ring",  "ns", BENCH_TIME, 0.5, run_ring, w,
                                           BENCH_RAW};
    } else {
        ways[count++] = (struct bench_way){"copy through pool", "ns", BENCH_TIME, 0.5, run_copy,
                                           w, BENCH_RAW};
    }
    snprintf(label, sizeof label, "%zu", w->bytes);
    bench_interleave(o, label, ways, count);
}

int main(int argc, char **argv)
{
    struct bench_options o = {
        .sizes = {0, 8, 64, 256, 1024, 4096, 8192, 16384, 32768, 65536}, .size_count = 10};
    struct work w;
    size_t most = 1;

    MPI_Init(&argc, &argv);
    bench_options(&o, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &w.rank);
    w.raw = raw_open(o.tcp);
    for (int i = 0; i < o.size_count; i++)
        most = o.sizes[i] > most ? o.sizes[i] : most;
    w.out = bench_alloc(most, false);
    w.in = bench_alloc(most, false);
    for (int i = 0; i < o.size_count; i++) {
        w.bytes = o.sizes[i];
        measure(&o, &w);
    }
    bench_free(w.out, most);
    bench_free(w.in, most);
    raw_close(w.raw);
    MPI_Finalize();
    return 0;
}
