/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An operation of the program's own: the vector that is longest.
 *
 * Functions: MPI_Op_create MPI_Op_free
 * Ranks: 3
 * Prints:
 *     the longest is 2 2
 */
#include <mpi.h>
#include <stdio.h>

static void longer(void *in, void *inout, int *count, MPI_Datatype *type)
{
    double *a = in, *b = inout;
    (void)type;
    for (int i = 0; i < *count; i++, a += 2, b += 2) {
        if (a[0] * a[0] + a[1] * a[1] > b[0] * b[0] + b[1] * b[1]) {
            b[0] = a[0];
            b[1] = a[1];
        }
    }
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double mine[2] = {rank, rank}, longest[2];
    MPI_Datatype point;
    MPI_Op op;
    MPI_Type_contiguous(2, MPI_DOUBLE, &point);
    MPI_Type_commit(&point);
    MPI_Op_create(longer, 1, &op);
    MPI_Allreduce(mine, longest, 1, point, op, MPI_COMM_WORLD);
    if (rank == 0)
        printf("the longest is %g %g\n", longest[0], longest[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&point);
    MPI_Finalize();
    return 0;
}
