/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fault tolerance in figures: barrier, agree and shrink without a failure, and the time from a kill until the last survivor has its
 * error, in a barrier.
 *
 *   mpicc -O2 ft.c -o ft && mpiexec -n 8 ./ft
 *
 * Prints one line: ranks, and microseconds: the best means of ROUNDS of each of the three, and that of the kill.
 */
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 5, CALLS = 20 };

static double now_us(void)
{
    struct timespec t; /* the same for all processes of a host */
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void agree(void)
{
    int flag = 1;
    MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
}

static void shrink(void)
{
    MPI_Comm next;
    MPIX_Comm_shrink(MPI_COMM_WORLD, &next);
    MPI_Comm_free(&next);
}

/* The best of some means. */
static double measure(void (*call)(void))
{
    double best = 1e12;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = now_us();
        for (int i = 0; i < CALLS; i++)
            call();
        double mean = (now_us() - start) / CALLS;
        best = mean < best ? mean : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    int rank, size;
    double killed = 0, got, first, last;
    MPI_Comm left;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    double b = measure(barrier), a = measure(agree), s = measure(shrink);
    killed = now_us() + 100000;
    MPI_Bcast(&killed, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank == size - 1) {
        while (now_us() < killed)
            continue;
        raise(SIGKILL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    got = now_us();
    MPIX_Comm_shrink(MPI_COMM_WORLD, &left);
    MPI_Reduce(&got, &last, 1, MPI_DOUBLE, MPI_MAX, 0, left);
    MPI_Reduce(&got, &first, 1, MPI_DOUBLE, MPI_MIN, 0, left);
    if (!rank)
        printf("%d %.2f %.2f %.1f %.0f %.0f\n", size, b, a, s, first - killed, last - killed);
    MPI_Finalize();
    return 0;
}
