/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The least an MPI program does: MPI_Init and MPI_Finalize. Prints how long
 * MPI_Init took at rank 0; with "memory" it passes a barrier and prints instead
 * the private memory of a rank (the median over ranks, and the least). The
 * runner measures the wall time of the launcher around it.
 */

#include "bench.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* KiB that belong to this process alone. */
static double private_memory(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kib = 0, n;

    if (!file)
        bench_fail("/proc/self/smaps_rollup");
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "Private_Clean: %ld", &n) == 1 ||
            sscanf(line, "Private_Dirty: %ld", &n) == 1)
            kib += n;
    fclose(file);
    return (double)kib;
}

static void measure_memory(int rank, int ranks)
{
    double mine, *all = NULL;

    MPI_Barrier(MPI_COMM_WORLD);
    mine = private_memory();
    if (rank == 0) {
        all = malloc(sizeof all[0] * (size_t)ranks);
        if (!all)
            bench_fail("malloc");
    }
    MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        double median = bench_median(all, ranks);
        char label[32];

        snprintf(label, sizeof label, "%d", ranks);
        bench_print(label, "private memory a rank", "KiB", BENCH_TIME, median, all[0]);
        free(all);
    }
}

int main(int argc, char **argv)
{
    double start = bench_now(), us;
    int rank, ranks;
    char label[32];

    MPI_Init(&argc, &argv);
    us = (bench_now() - start) / 1e3;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(label, sizeof label, "%d", ranks);
    if (argc > 1 && strcmp(argv[1], "memory") == 0)
        measure_memory(rank, ranks);
    else if (rank == 0)
        bench_print(label, "MPI_Init", "us", BENCH_TIME, us, us);
    MPI_Finalize();
    return 0;
}
