/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The integral of 4 / (1 + x * x) from 0 to 1 is pi. Rank 0 says in how many steps; each process
 * adds up its part of them.
 *
 * Functions: MPI_Bcast MPI_Reduce
 * Ranks: 3
 * Prints:
 *     pi is 3.1416
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int steps = rank == 0 ? 1000 : 0;
    double mine = 0, pi = 0;
    MPI_Bcast(&steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = rank; i < steps; i += size) {
        double x = (i + 0.5) / steps;
        mine += 4 / (1 + x * x) / steps;
    }
    MPI_Reduce(&mine, &pi, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("pi is %.4f\n", pi);
    MPI_Finalize();
    return 0;
}
