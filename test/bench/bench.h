/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What every benchmark shares: a clock, options, and the one way to measure.
 *
 * Machines drift: clocks change, a virtual processor is moved, a neighbour
 * takes a core. A number alone therefore says little; two numbers taken
 * within two milliseconds of each other say much. So a benchmark describes
 * its "ways" (the MPI call, and the raw limits: what the hardware or the
 * kernel gives without MPI), and bench_interleave() runs short slices of
 * each in turn, again and again. Reported are each way's median and best
 * slice, and the median over slices of its quotient to its limit.
 *
 * Invariants
 *   - Every rank of MPI_COMM_WORLD makes the same calls in the same order.
 *   - Only rank 0's clock counts, unless the options say whole; and only rank 0 prints.
 *   - Only portable MPI calls are used: the same source measures any MPI.
 */

#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>

enum {
    BENCH_SIZES_MAX = 32,
    BENCH_NO_LIMIT = -1, /* a way that is compared with nothing */
    BENCH_RAW = -2,      /* a way that is itself a limit, without MPI */
};

/* What a sample says, from the nanoseconds of one round. */
enum bench_kind {
    BENCH_TIME, /* scale * ns */
    BENCH_RATE, /* scale / ns */
};

/* One way to do the work. run() does it count times; every rank calls it. */
struct bench_way {
    const char *metric; /* name printed; no commas */
    const char *unit;
    enum bench_kind kind;
    double scale;
    void (*run)(void *arg, int count);
    void *arg;
    int limit; /* index of the way that bounds this one, or one of the above */
};

/* The command line, the same for every program. */
struct bench_options {
    int slices;      /* of each way */
    double seconds;  /* at most, for one call of bench_interleave() */
    bool tcp;        /* limits are sockets, not shared lines */
    bool huge;       /* large buffers on huge pages */
    bool whole;      /* time from the first rank's begin to the last one's end: with more ranks than
                        cores others work before rank 0 is run. All on one host, with one clock */
    const char *ops; /* comma-separated list, or NULL for all */
    int size_count;
    size_t sizes[BENCH_SIZES_MAX]; /* bytes, or what the program says */
};

/* Read the command line; sizes keep their value in *o when it names none.
 * Exits with a line of usage on a bad one. */
void bench_options(struct bench_options *o, int argc, char **argv);

/* Nanoseconds of the monotonic clock. */
double bench_now(void);

/* Measure count ways and print one line each on rank 0:
 *   bench,ROLE,SIZE,METRIC,UNIT,KIND,MEDIAN,BEST,LIMIT,RATIO
 * ROLE is raw or mpi, KIND time or rate; LIMIT is the median of the way's
 * limit, RATIO the median quotient, both empty without a limit. label becomes
 * SIZE. */
void bench_interleave(const struct bench_options *o, const char *label,
                      const struct bench_way *ways, int count);

/* Print one such line for a value measured otherwise. */
void bench_print(const char *label, const char *metric, const char *unit,
                 enum bench_kind kind, double median, double best);

/* Sort values and return their median. count > 0. */
double bench_median(double *values, int count);

/* Allocate bytes of memory written once, on huge or on ordinary pages.
 * Aborts when there is none. Free with bench_free(). */
void *bench_alloc(size_t bytes, bool huge);
void bench_free(void *memory, size_t bytes);

/* Between ranks 0 and 1, each of count times: rank 0 sends bytes from out, and rank 1 sends as many
 * back. */
void bench_ping_pong(int rank, const char *out, char *in, size_t bytes, int count);
/* Each of count times: rank 0 sends window messages (BENCH_WINDOW_MAX at most) from out, and waits for
 * word that all have come. Each lands at a place of its own in rank 1's in, as receives in flight may
 * not share one. */
enum { BENCH_WINDOW_MAX = 64 };
void bench_stream(int rank, const char *out, char *in, size_t bytes, int window, int count);

/* Say what failed and end the job. */
_Noreturn void bench_fail(const char *what);

#endif
