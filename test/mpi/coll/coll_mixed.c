/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Members that make different calls of collectives, where these go through shared memory: all are
 * told, nobody hangs, and what follows is right again.
 */
#include "check.h"
#include "regions.h"

enum { FIRST = 12, ROUNDS = 5 };

static MPI_Comm world;
static int rank;

static int sum_of(int count, long *sum)
{
    long in[2] = {1, 1}, out[2] = {0, 0};
    int code = MPI_Allreduce(in, out, count, MPI_LONG, MPI_SUM, world);
    *sum = out[0];
    return code;
}

int main(int argc, char **argv)
{
    long sum = 0;
    if (no_regions())
        return 77;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    rank = check_rank(world);
    for (int i = 0; i < FIRST; i++)
        OK(MPI_Barrier(world));
    for (int i = 0; i < ROUNDS; i++) {
        CHECK((rank == 1 ? MPI_Barrier(world) : sum_of(1, &sum)) != MPI_SUCCESS);
        CHECK(sum_of(rank == 0 ? 2 : 1, &sum) != MPI_SUCCESS);
        OK(sum_of(1, &sum));
        CHECK(sum == check_size(world));
    }
    OK(MPI_Comm_free(&world));
    OK(MPI_Finalize());
    return 0;
}
