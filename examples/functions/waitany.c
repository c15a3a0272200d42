/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rank 0 takes results as they come, in any order.
 *
 * Functions: MPI_Waitany MPI_Waitsome
 * Ranks: 4
 * Prints:
 *     the results add up to 12
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 4) {
        fprintf(stderr, "This is for 4 ranks: mpiexec -n 4\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) {
        int results[3], sum = 0, index;
        MPI_Request requests[3];
        for (int i = 0; i < 3; i++)
            MPI_Irecv(&results[i], 1, MPI_INT, i + 1, 0, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE);
        sum += results[index];
        for (int left = 2, done, indices[3]; left; left -= done) {
            MPI_Waitsome(3, requests, &done, indices, MPI_STATUSES_IGNORE);
            for (int i = 0; i < done; i++)
                sum += results[indices[i]];
        }
        printf("the results add up to %d\n", sum);
    } else {
        int result = rank * 2;
        MPI_Send(&result, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
