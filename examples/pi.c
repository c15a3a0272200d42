/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Pi as the area under 4 / (1 + x^2) from 0 to 1, by the midpoint rule.
 * Shows a broadcast of the input and a reduction of the result.
 *
 *   mpicc -O2 pi.c -o pi -lm
 *   mpiexec -n 4 ./pi [INTERVALS]
 */

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const double exact = 3.14159265358979323846;
    long intervals = 20000000;
    double mine = 0, pi = 0, start;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0 && argc > 1)
        intervals = atol(argv[1]);
    start = MPI_Wtime();

    /* Only rank 0 has read the command line. */
    MPI_Bcast(&intervals, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (intervals < 1) {
        if (rank == 0)
            fprintf(stderr, "usage: pi [INTERVALS], a positive number\n");
        MPI_Finalize();
        return 2;
    }
    double step = 1.0 / (double)intervals;

    for (long i = rank; i < intervals; i += size) {
        double x = ((double)i + 0.5) * step;

        mine += 4.0 / (1.0 + x * x);
    }
    mine *= step;
    MPI_Reduce(&mine, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pi is about %.15f, off by %.1e; %ld intervals, %d ranks, %.3f s\n", pi,
               fabs(pi - exact), intervals, size, MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}
