/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Ten letters are shared out as evenly as may be, and come back as capitals.
 *
 * Functions: MPI_Scatterv MPI_Gatherv
 * Ranks: 3
 * Prints:
 *     ABCDEFGHIJ
 */
#include <mpi.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    char letters[] = "abcdefghij", mine[10];
    int *counts = malloc(2 * (size_t)size * sizeof(int)), *starts = counts + size;
    for (int i = 0, at = 0; i < size; at += counts[i++]) {
        counts[i] = 10 / size + (i < 10 % size);
        starts[i] = at;
    }
    MPI_Scatterv(letters, counts, starts, MPI_CHAR, mine, counts[rank], MPI_CHAR, 0,
                 MPI_COMM_WORLD);
    for (int i = 0; i < counts[rank]; i++)
        mine[i] = (char)toupper(mine[i]);
    MPI_Gatherv(mine, counts[rank], MPI_CHAR, letters, counts, starts, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", letters);
    free(counts);
    MPI_Finalize();
    return 0;
}
