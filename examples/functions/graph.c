/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Each process names its neighbours in a ring, and swaps numbers with them.
 *
 * Functions: MPI_Dist_graph_create_adjacent MPI_Neighbor_alltoall
 * Ranks: 3
 * Prints:
 *     rank 0 has 20 from the left and 10 from the right
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int both[2] = {(rank + size - 1) % size, (rank + 1) % size};
    int out[2] = {rank * 10, rank * 10}, in[2];
    MPI_Comm ring;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, both, MPI_UNWEIGHTED, 2, both, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &ring);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
    if (rank == 0)
        printf("rank 0 has %d from the left and %d from the right\n", in[0], in[1]);
    MPI_Comm_free(&ring);
    MPI_Finalize();
    return 0;
}
