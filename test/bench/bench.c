/* SPDX-License-Identifier: BSD-3-Clause */

/* The measuring that benchmarks share; bench.h says how and why. */

#include "bench.h"

#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    SLICES_DEFAULT = 100,
    SLICES_MIN = 3,     /* taken even when time is up */
    COUNT_MAX = 1 << 20 /* rounds in a slice */
};

static const double slice_ns = 0.7e6; /* a slice lasts this or twice this */
static const size_t huge_page = 2u << 20;

double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

_Noreturn void bench_fail(const char *what)
{
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void read_sizes(struct bench_options *o, char *list)
{
    o->size_count = 0;
    for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
        if (o->size_count == BENCH_SIZES_MAX)
            bench_fail("too many sizes");
        o->sizes[o->size_count++] = strtoull(word, NULL, 10);
    }
}

void bench_options(struct bench_options *o, int argc, char **argv)
{
    static const struct option known[] = {
        {"slices", required_argument, NULL, 'n'},
        {"seconds", required_argument, NULL, 's'},
        {"sizes", required_argument, NULL, 'z'},
        {"ops", required_argument, NULL, 'o'},
        {"tcp", no_argument, NULL, 't'},
        {"huge", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int c;

    if (o->slices == 0)
        o->slices = SLICES_DEFAULT;
    if (o->seconds <= 0)
        o->seconds = 60;
    while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (c) {
        case 'n': o->slices = atoi(optarg); break;
        case 's': o->seconds = atof(optarg); break;
        case 'z': read_sizes(o, optarg); break;
        case 'o': o->ops = optarg; break;
        case 't': o->tcp = true; break;
        case 'h': o->huge = true; break;
        default:
            fprintf(stderr, "usage: %s [--slices N] [--seconds S] [--sizes A,B,...] "
                            "[--ops A,B,...] [--tcp] [--huge]\n", argv[0]);
            exit(2);
        }
    }
    if (o->slices < SLICES_MIN)
        o->slices = SLICES_MIN;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof values[0], compare_doubles);
    return count % 2 ? values[count / 2]
                     : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Nanoseconds of count rounds, after everybody has arrived. */
static double time_slice(const struct bench_options *o, const struct bench_way *way, int count)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = bench_now();

    way->run(way->arg, count);
    double mine[2] = {-start, bench_now()}, last[2] = {mine[0], mine[1]};

    if (o->whole)
        MPI_Allreduce(mine, last, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return last[0] + last[1];
}

/* Find how many rounds fill a slice; warms everything up as well. */
static int calibrate(const struct bench_options *o, const struct bench_way *way)
{
    int count = 1, enough = 0;

    time_slice(o, way, 1);
    while (!enough && count < COUNT_MAX) {
        enough = time_slice(o, way, count) >= slice_ns;
        MPI_Bcast(&enough, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (!enough)
            count *= 2;
    }
    return count;
}

static double sample_value(const struct bench_way *way, double ns)
{
    return way->kind == BENCH_TIME ? way->scale * ns : way->scale / ns;
}

static double best_of(const struct bench_way *way, const double *sorted, int count)
{
    return way->kind == BENCH_TIME ? sorted[0] : sorted[count - 1];
}

static void print_head(const char *role, const char *label, const char *metric,
                       const char *unit, enum bench_kind kind)
{
    printf("bench,%s,%s,%s,%s,%s,", role, label, metric, unit,
           kind == BENCH_TIME ? "time" : "rate");
}

/* values: a row of o->slices samples for each way. */
static void report(const char *label, const struct bench_way *ways, int way_count,
                   const double *values, int stride, int taken)
{
    double *own = malloc(sizeof own[0] * (size_t)taken);
    double *limit = malloc(sizeof limit[0] * (size_t)taken);
    double *ratio = malloc(sizeof ratio[0] * (size_t)taken);

    if (!own || !limit || !ratio)
        bench_fail("malloc");
    for (int w = 0; w < way_count; w++) {
        const struct bench_way *way = &ways[w];

        memcpy(own, values + (size_t)w * (size_t)stride, sizeof own[0] * (size_t)taken);
        if (way->limit >= 0) {
            memcpy(limit, values + (size_t)way->limit * (size_t)stride,
                   sizeof limit[0] * (size_t)taken);
            for (int i = 0; i < taken; i++)
                ratio[i] = own[i] / limit[i];
        }
        double median = bench_median(own, taken);

        print_head(way->limit == BENCH_RAW ? "raw" : "mpi", label, way->metric, way->unit,
                   way->kind);
        printf("%.6g,%.6g,", median, best_of(way, own, taken));
        if (way->limit >= 0)
            printf("%.6g,%.6g\n", bench_median(limit, taken), bench_median(ratio, taken));
        else
            printf(",\n");
    }
    fflush(stdout);
    free(own);
    free(limit);
    free(ratio);
}

void bench_interleave(const struct bench_options *o, const char *label,
                      const struct bench_way *ways, int count)
{
    double *values = malloc(sizeof values[0] * (size_t)count * (size_t)o->slices);
    int *rounds = malloc(sizeof rounds[0] * (size_t)count);
    double start = bench_now();
    int rank, taken = 0, go_on = 1;

    if (!values || !rounds)
        bench_fail("malloc");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int w = 0; w < count; w++)
        rounds[w] = calibrate(o, &ways[w]);
    while (go_on) {
        for (int w = 0; w < count; w++) {
            double ns = time_slice(o, &ways[w], rounds[w]) / rounds[w];

            values[w * o->slices + taken] = sample_value(&ways[w], ns);
        }
        taken++;
        go_on = taken < o->slices &&
                (taken < SLICES_MIN || bench_now() - start < o->seconds * 1e9);
        MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        report(label, ways, count, values, o->slices, taken);
    free(values);
    free(rounds);
}

void bench_print(const char *label, const char *metric, const char *unit,
                 enum bench_kind kind, double median, double best)
{
    print_head("mpi", label, metric, unit, kind);
    printf("%.6g,%.6g,,\n", median, best);
    fflush(stdout);
}

void *bench_alloc(size_t bytes, bool huge)
{
    size_t length = (bytes + huge_page - 1) / huge_page * huge_page + huge_page;
    char *whole = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (whole == MAP_FAILED)
        bench_fail("mmap");
    /* Begin at a huge page's border, and keep exactly the bytes from there. */
    char *start = (char *)(((size_t)whole + huge_page - 1) / huge_page * huge_page);
    size_t kept = length - huge_page;

    if (start > whole)
        munmap(whole, (size_t)(start - whole));
    if (start + kept < whole + length)
        munmap(start + kept, (size_t)(whole + length - (start + kept)));
    /* A kernel without huge pages refuses: then the pages stay ordinary. */
    madvise(start, kept, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(start, 1, kept);
    return start;
}

void bench_free(void *memory, size_t bytes)
{
    munmap(memory, (bytes + huge_page - 1) / huge_page * huge_page);
}

enum { TAG = 1 };

void bench_ping_pong(int rank, const char *out, char *in, size_t bytes, int count)
{
    for (int i = 0; i < count; i++) {
        if (rank == 0)
            MPI_Send(out, (int)bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        MPI_Recv(in, (int)bytes, MPI_BYTE, !rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(out, (int)bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
}

void bench_stream(int rank, const char *out, char *in, size_t bytes, int window, int count)
{
    MPI_Request request[BENCH_WINDOW_MAX];

    for (int i = 0; i < count; i++) {
        for (int m = 0; m < window; m++) {
            if (rank == 0)
                MPI_Isend(out, (int)bytes, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request[m]);
            else
                MPI_Irecv(in + (size_t)m * bytes, (int)bytes, MPI_BYTE, 0, TAG, MPI_COMM_WORLD,
                          &request[m]);
        }
        MPI_Waitall(window, request, MPI_STATUSES_IGNORE);
        if (rank == 0)
            MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Send(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
}
