/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ranks of scale.py: a large job does one thing after the other. After each, rank 0 prints "NAME SECONDS" and waits
 * for a line on stdin, while scale.py counts. It also prints "memory NAME LEAST MEDIAN MOST", in KiB that belong to a
 * rank alone.
 *
 * usage: scale [PAIRS], scale memory, scale deaths
 *
 * With "memory" all it does is to print how much that is before the first message. With "deaths" each rank prints "pid RANK PID". The line on stdin says how many ranks are to die; the others wait until
 * they know of that, and go on in a communicator of their own.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

enum { TIMES = 10, KINDS = 2 };

static int rank, size;
static double kib[KINDS]; /* before the first message, and at the end */

static void fail(const char *what)
{
    fprintf(stderr, "scale: rank %d: not so: %s\n", rank, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* KiB that belong to this process alone. */
static double private_memory(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long all = 0, n;
    while (file && fgets(line, sizeof(line), file))
        if (sscanf(line, "Private_Clean: %ld", &n) == 1 || sscanf(line, "Private_Dirty: %ld", &n) == 1)
            all += n;
    if (file)
        fclose(file);
    return (double)all;
}

static int compare(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

/* Say how long something took at the rank that took longest, and wait for a line. Returns its number. */
static int say(MPI_Comm comm, const char *name, double began)
{
    double took = now_s() - began, longest = 0;
    char line[32] = "";
    int number, at;
    MPI_Comm_rank(comm, &at);
    MPI_Reduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, comm);
    if (!at) {
        printf("%s %.6f\n", name, longest);
        fflush(stdout);
        if (!fgets(line, sizeof(line), stdin))
            fail("a line comes");
    }
    number = atoi(line);
    MPI_Bcast(&number, 1, MPI_INT, 0, comm);
    return number;
}

static void say_memory(int kinds)
{
    static const char *const names[KINDS] = {"at first", "at last"};
    double *all = calloc((size_t)size, sizeof(*all));
    for (int i = 0; i < kinds; i++) {
        MPI_Gather(&kib[i], 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (rank)
            continue;
        qsort(all, (size_t)size, sizeof(*all), compare);
        printf("memory %s %.0f %.0f %.0f\n", names[i], all[0], all[size / 2], all[size - 1]);
    }
    free(all);
}

static void collectives(void)
{
    double began = now_s();
    long sum;
    for (int i = 0; i < TIMES; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    (void)say(MPI_COMM_WORLD, "barriers", began);
    began = now_s();
    for (long i = 0; i < TIMES; i++) {
        long mine = rank + i;
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        if (sum != (long)size * (size - 1) / 2 + i * size)
            fail("the sum is right");
    }
    (void)say(MPI_COMM_WORLD, "allreduces", began);
}

/* The ranks in an order that is the same at all. */
static void shuffle(int *order, unsigned *seed)
{
    for (int i = 0; i < size; i++)
        order[i] = i;
    for (int i = size - 1; i > 0; i--) {
        int j = rand_r(seed) % (i + 1), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
}

/* In each round the ranks are paired anew, and both of a pair send first. */
static void meet(int rounds)
{
    int *order = calloc((size_t)size, sizeof(*order));
    unsigned seed = 1;
    double began = now_s();
    for (int round = 0; round < rounds; round++) {
        int place = 0, got = -1;
        shuffle(order, &seed);
        while (order[place] != rank)
            place++;
        int peer = (place ^ 1) < size ? order[place ^ 1] : rank;
        MPI_Sendrecv(&rank, 1, MPI_INT, peer, round, &got, 1, MPI_INT, peer, round, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (got != peer)
            fail("the peer has sent its rank");
    }
    free(order);
    (void)say(MPI_COMM_WORLD, "pairs", began);
}

static void exchange(void)
{
    int *out = calloc((size_t)size, sizeof(*out)), *in = calloc((size_t)size, sizeof(*in));
    double began = now_s();
    for (int i = 0; i < size; i++)
        out[i] = rank * size + i;
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        if (in[i] != i * size + rank)
            fail("each has sent its part");
    free(out);
    free(in);
    (void)say(MPI_COMM_WORLD, "alltoall", began);
}

#if __has_include(<mpi-ext.h>)
/* Wait until so many are known to be dead. */
static void await(int deaths)
{
    MPI_Group failed;
    int count = 0, flag;
    while (count < deaths) {
        MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed);
        MPI_Group_size(failed, &count);
        MPI_Group_free(&failed);
        usleep(20000);
    }
}

static void deaths(void)
{
    MPI_Comm left = MPI_COMM_NULL;
    int live, one = 1, sum = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    printf("pid %d %d\n", rank, (int)getpid());
    fflush(stdout);
    await(say(MPI_COMM_WORLD, "started", now_s()));
    double began = now_s();
    if (MPIX_Comm_shrink(MPI_COMM_WORLD, &left))
        fail("those that are left have a communicator");
    MPI_Comm_size(left, &live);
    if (MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, left) || sum != live)
        fail("they work together");
    (void)say(left, "shrunk", began);
    MPI_Comm_free(&left);
}
#else
static void deaths(void)
{
    fail("this MPI has mpi-ext.h");
}
#endif

int main(int argc, char **argv)
{
    double began = now_s();
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc > 1 && !strcmp(argv[1], "deaths")) {
        deaths();
        MPI_Finalize();
        return 0;
    }
    kib[0] = private_memory();
    if (argc > 1 && !strcmp(argv[1], "memory")) {
        say_memory(1);
        MPI_Finalize();
        return 0;
    }
    (void)say(MPI_COMM_WORLD, "started", began);
    collectives();
    meet(argc > 1 ? atoi(argv[1]) : 4);
    exchange();
    kib[1] = private_memory();
    say_memory(KINDS);
    (void)say(MPI_COMM_WORLD, "measured", now_s());
    MPI_Finalize();
    return 0;
}
