/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The inside of an array with a border is sent, and nothing of the border.
 *
 * Functions: MPI_Type_create_subarray
 * Ranks: 2
 * Prints:
 *     5 6 9 10
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int whole[2] = {4, 4}, inside[2] = {2, 2}, start[2] = {1, 1};
    if (rank == 0) {
        int array[16];
        MPI_Datatype type;
        for (int i = 0; i < 16; i++)
            array[i] = i;
        MPI_Type_create_subarray(2, whole, inside, start, MPI_ORDER_C, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Send(array, 1, type, 1, 0, MPI_COMM_WORLD);
        MPI_Type_free(&type);
    } else if (rank == 1) {
        int got[4];
        MPI_Recv(got, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%d %d %d %d\n", got[0], got[1], got[2], got[3]);
    }
    MPI_Finalize();
    return 0;
}
