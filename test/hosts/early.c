/* SPDX-License-Identifier: BSD-3-Clause */

/* All ranks but one call MPI_Finalize and exit at once; that one looks for messages meanwhile.
 * Prints how long its longest look took, in ms. usage: early SECONDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, flag;
    double seconds = argc > 1 ? atof(argv[1]) : 1, longest = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (double begin = MPI_Wtime(), now = begin; !rank && now < begin + seconds;) {
        MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        double then = now;
        now = MPI_Wtime();
        if (now - then > longest)
            longest = now - then;
    }
    if (!rank)
        printf("%.1f\n", 1e3 * longest);
    MPI_Finalize();
    return 0;
}
