/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * With how many others a rank of many hosts has a connection after collectives of few bytes. They must be few: two for
 * each time that a host can be doubled until all are there, and those of its own host.
 *
 * usage: coll_peers HOSTS [print]; with "print" rank 0 says after each collective how many the most are so far, and
 * that is all.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tool.h"

static int rank, size, hosts, is_printed;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle open_now;

/* After so much all have done what is named. */
static void look(const char *what)
{
    int mine = (int)tool_read(session, open_now), most, limit = 2 + 2 * (size / hosts);
    OK(MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    for (int n = 1; n < hosts; n *= 2)
        limit += 2;
    if (is_printed && rank == 0)
        printf("%s %d\n", what, most);
    if (!is_printed)
        CHECK(most <= limit);
}

int main(int argc, char **argv)
{
    int provided, value = 1, sum;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_pvar_session_create(&session));
    open_now = tool_handle(session, "connections_open", NULL, 1);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    hosts = argc > 1 ? atoi(argv[1]) : 1;
    is_printed = argc > 2;
    int *from = calloc((size_t)size, sizeof(*from)), *to = calloc((size_t)size, sizeof(*to));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    look("barrier");
    OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    look("allreduce");
    OK(MPI_Bcast(&value, 1, MPI_INT, size - 1, MPI_COMM_WORLD));
    look("bcast");
    for (int i = 0; i < size; i++)
        from[i] = rank * size + i;
    OK(MPI_Alltoall(from, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        CHECK(to[i] == i * size + rank);
    look("alltoall");
    OK(MPI_Allgather(&value, 1, MPI_INT, to, 1, MPI_INT, MPI_COMM_WORLD));
    look("allgather");
    free(from);
    free(to);
    OK(MPI_T_pvar_handle_free(session, &open_now));
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
    OK(MPI_Finalize());
    return 0;
}
