/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A column of a matrix is sent from where it lies.
 *
 * Functions: MPI_Type_vector MPI_Type_commit MPI_Type_free
 * Ranks: 2
 * Prints:
 *     the column is 1 4 7
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        int matrix[3][3] = {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}};
        MPI_Datatype column;
        MPI_Type_vector(3, 1, 3, MPI_INT, &column);
        MPI_Type_commit(&column);
        MPI_Send(&matrix[0][1], 1, column, 1, 0, MPI_COMM_WORLD);
        MPI_Type_free(&column);
    } else if (rank == 1) {
        int column[3];
        MPI_Recv(column, 3, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("the column is %d %d %d\n", column[0], column[1], column[2]);
    }
    MPI_Finalize();
    return 0;
}
