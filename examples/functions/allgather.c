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
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int count = rank + 1, total = 0;
    int *counts = malloc(2 * (size_t)size * sizeof(int)), *starts = counts + size;
    int *mine = malloc((size_t)count * sizeof(int));
    for (int i = 0; i < count; i++)
        mine[i] = rank;
    MPI_Allgather(&count, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; total += counts[i++])
        starts[i] = total;
    int *all = malloc((size_t)total * sizeof(int));
    MPI_Allgatherv(mine, count, MPI_INT, all, counts, starts, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < total && rank == size - 1; i++)
        printf("%d%s", all[i], i + 1 < total ? " " : "\n");
    free(all);
    free(mine);
    free(counts);
    MPI_Finalize();
    return 0;
}
