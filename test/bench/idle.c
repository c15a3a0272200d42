/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What waiting costs: every rank but 0 blocks in MPI_Recv while rank 0
 * sleeps outside MPI. Prints the processor time of the waiting ranks, in
 * percent of one core: their median, and their sum. --seconds says how long.
 */

#include "bench.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { TAG = 1 };

static double cpu_ns(void)
{
    struct rusage use;

    getrusage(RUSAGE_SELF, &use);
    return ((double)use.ru_utime.tv_sec + (double)use.ru_stime.tv_sec) * 1e9 +
           ((double)use.ru_utime.tv_usec + (double)use.ru_stime.tv_usec) * 1e3;
}

static void keep_waiting(double seconds, int ranks)
{
    struct timespec t = {.tv_sec = (time_t)seconds};

    t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
    nanosleep(&t, NULL);
    for (int r = 1; r < ranks; r++)
        MPI_Send(NULL, 0, MPI_BYTE, r, TAG, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct bench_options o = {.seconds = 3};
    int rank, ranks;
    double percent = 0, sum = 0, *all;
    char label[32];

    MPI_Init(&argc, &argv);
    bench_options(&o, argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    all = malloc(sizeof all[0] * (size_t)ranks);
    if (!all || ranks < 2)
        bench_fail("two ranks at least, and memory");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        keep_waiting(o.seconds, ranks);
    } else {
        double cpu = cpu_ns(), wall = bench_now();

        MPI_Recv(NULL, 0, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        percent = (cpu_ns() - cpu) / (bench_now() - wall) * 100;
    }
    MPI_Gather(&percent, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        for (int r = 1; r < ranks; r++)
            sum += all[r];
        snprintf(label, sizeof label, "%d", ranks);
        bench_print(label, "a waiting rank", "% of a core", BENCH_TIME,
                    bench_median(all + 1, ranks - 1), all[1]);
        bench_print(label, "all waiting ranks", "% of a core", BENCH_TIME, sum, sum);
    }
    free(all);
    MPI_Finalize();
    return 0;
}
