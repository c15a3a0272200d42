/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Numbers go to the process that their last digit names; each says first how many it has.
 *
 * Functions: MPI_Alltoallv MPI_Abort
 * Ranks: 2
 * Prints:
 *     rank 1 has 31 41 11
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        fprintf(stderr, "This is for 2 ranks: mpiexec -n 2\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    int mine[2][3] = {{20, 31, 41}, {10, 50, 11}}; /* in order of where they go */
    int out[2][2] = {{1, 2}, {2, 1}}, in[2], out_at[2] = {0, out[rank][0]}, in_at[2], got[6];
    MPI_Alltoall(out[rank], 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    in_at[0] = 0;
    in_at[1] = in[0];
    MPI_Alltoallv(mine[rank], out[rank], out_at, MPI_INT, got, in, in_at, MPI_INT, MPI_COMM_WORLD);
    if (rank == 1)
        printf("rank 1 has %d %d %d\n", got[0], got[1], got[2]);
    MPI_Finalize();
    return 0;
}
