/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Each process has some numbers, not equally many, and all get all of them.
 *
 * Functions: MPI_Allgather MPI_Allgatherv
 * Ranks: 3
 * Prints:
 *     0 1 1 2 2 2
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int counts[3], starts[3] = {0}, mine[3], all[6], count = rank + 1;
    for (int i = 0; i < count; i++)
        mine[i] = rank;
    MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 1; i < 3; i++)
        starts[i] = starts[i - 1] + counts[i - 1];
    MPI_Allgatherv(mine, count, MPI_INT, all, counts, starts, MPI_INT, MPI_COMM_WORLD);
    if (rank == 2)
        printf("%d %d %d %d %d %d\n", all[0], all[1], all[2], all[3], all[4], all[5]);
    MPI_Finalize();
    return 0;
}
