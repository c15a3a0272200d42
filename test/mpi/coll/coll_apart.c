/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives of which one member's length goes by messages, and that of the others through shared memory: somebody is
 * told, and the job ends. usage: coll_apart KIND WHO, the rank that has the longer data. */
#include <stdlib.h>

#include "check.h"

enum { FIRST = 12, LONG = 5 << 20, SHORT = 4096, MOST = LONG * 4 };

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    MPI_Comm world = MPI_COMM_WORLD;
    int rank = check_rank(world), size = check_size(world);
    char *in = calloc(MOST, 1), *out = calloc(MOST, 1);
    CHECK(argc == 3 && in && out && size <= 4);
    int kind = atoi(argv[1]), count = rank == atoi(argv[2]) ? LONG : SHORT;
    for (int i = 0; i < FIRST; i++)
        OK(MPI_Barrier(world));
    switch (kind) {
    case 0: OK(MPI_Allreduce(in, out, count, MPI_CHAR, MPI_SUM, world)); break;
    case 1: OK(MPI_Reduce(in, out, count, MPI_CHAR, MPI_SUM, 0, world)); break;
    case 2: OK(MPI_Gather(in, count, MPI_CHAR, out, count, MPI_CHAR, 0, world)); break;
    case 3: OK(MPI_Allgather(in, count, MPI_CHAR, out, count, MPI_CHAR, world)); break;
    case 4: OK(MPI_Alltoall(in, count, MPI_CHAR, out, count, MPI_CHAR, world)); break;
    case 5: OK(MPI_Reduce_scatter_block(in, out, count, MPI_CHAR, MPI_SUM, world)); break;
    default: OK(MPI_Scan(in, out, count, MPI_CHAR, MPI_SUM, world));
    }
    OK(MPI_Barrier(world));
    free(in);
    free(out);
    OK(MPI_Finalize());
    return 0;
}
