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

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char letters[] = "abcdefghij", mine[10];
    int counts[3], starts[3];
    for (int i = 0, at = 0; i < 3; at += counts[i++]) {
        counts[i] = 10 / 3 + (i < 10 % 3);
        starts[i] = at;
    }
    MPI_Scatterv(letters, counts, starts, MPI_CHAR, mine, counts[rank], MPI_CHAR, 0,
                 MPI_COMM_WORLD);
    for (int i = 0; i < counts[rank]; i++)
        mine[i] = (char)toupper(mine[i]);
    MPI_Gatherv(mine, counts[rank], MPI_CHAR, letters, counts, starts, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s\n", letters);
    MPI_Finalize();
    return 0;
}
