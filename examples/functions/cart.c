/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A grid of two by two processes: each passes its number to the right.
 *
 * Functions: MPI_Sendrecv MPI_Dims_create MPI_Cart_create MPI_Cart_coords MPI_Cart_shift
 * Ranks: 4
 * Prints:
 *     rank 0 is at row 0, column 0, and received 1
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int dims[2] = {0, 0}, periods[2] = {1, 1}, coords[2], left, right, got;
    MPI_Comm grid;
    MPI_Dims_create(size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
    MPI_Cart_coords(grid, rank, 2, coords);
    MPI_Cart_shift(grid, 1, 1, &left, &right);
    MPI_Sendrecv(&rank, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, grid, MPI_STATUS_IGNORE);
    if (rank == 0)
        printf("rank 0 is at row %d, column %d, and received %d\n", coords[0], coords[1], got);
    MPI_Comm_free(&grid);
    MPI_Finalize();
    return 0;
}
