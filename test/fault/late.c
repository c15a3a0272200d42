/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An MPI program that tells how late rank 0 gets what it waits for, and what its waiting costs; see
 * deaf.sh. Fails where either is too much.
 *
 *   late peers    rank 1 sends
 *   late threads  another thread of rank 0 does
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    ROUNDS = 15,
    PAUSE_US = 123000, /* beside the 100 ms after which a sleeper looks up by itself */
    LATE_US = 20000,   /* in the middle: of those that nothing wakes, it is some 50 ms */
    COST_PERCENT = 12
};

static long long now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000ll + now.tv_nsec / 1000;
}

static long long cost_us(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000ll + used.ru_utime.tv_usec +
           used.ru_stime.tv_usec;
}

static void *send_all(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        usleep((useconds_t)(PAUSE_US + 7000 * (i % 3)));
        long long sent_us = now_us();
        MPI_Send(&sent_us, 1, MPI_LONG_LONG, 0, 1, MPI_COMM_WORLD);
    }
    return arg;
}

static int by_size(const void *a, const void *b)
{
    long long x = *(const long long *)a, y = *(const long long *)b;
    return (x > y) - (x < y);
}

/* Returns whether all is well. */
static int receive_all(void)
{
    long long late_us[ROUNDS], cost = cost_us(), from_us = now_us();
    for (int i = 0; i < ROUNDS; i++) {
        long long sent_us;
        MPI_Recv(&sent_us, 1, MPI_LONG_LONG, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        late_us[i] = now_us() - sent_us;
    }
    cost = (cost_us() - cost) * 100 / (now_us() - from_us);
    qsort(late_us, ROUNDS, sizeof(late_us[0]), by_size);
    printf("%lld us late, at most %lld; %lld %% of a processor\n", late_us[ROUNDS / 2],
           late_us[ROUNDS - 1], cost);
    return late_us[ROUNDS / 2] < LATE_US && cost < COST_PERCENT;
}

int main(int argc, char **argv)
{
    int level, rank, good = 1, threads = argc > 1 && !strcmp(argv[1], "threads");
    pthread_t sender;
    MPI_Init_thread(NULL, NULL, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && threads && pthread_create(&sender, NULL, send_all, NULL))
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 1 && !threads)
        send_all(NULL);
    if (rank == 0)
        good = receive_all();
    if (rank == 0 && threads)
        pthread_join(sender, NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return good ? 0 : 3;
}
