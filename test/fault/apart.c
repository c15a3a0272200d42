/* SPDX-License-Identifier: BSD-3-Clause */

/* Ranks that no channel connects: the one call that the argument names fails in every rank that
 * takes part in it, and messages to oneself arrive. apart.sh looks on. Behind it stands an empty folder
 * to meet in, or "fatal": the error ends the job. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/mpi/check.h"

static int rank, size, a[1 << 16], b[1 << 16];
static MPI_Comm world = MPI_COMM_WORLD;
static MPI_Status status;

static int both(int count)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Irecv(a, count, MPI_INT, left, 0, world, &requests[0]));
    int rc = MPI_Isend(b, count, MPI_INT, right, 0, world, &requests[1]);
    if (rc) { /* at once */
        OK(MPI_Cancel(&requests[0]));
        OK(MPI_Request_free(&requests[0]));
        return rc;
    }
    rc = MPI_Waitall(2, requests, statuses);
    return check_class(rc) == MPI_ERR_IN_STATUS ? statuses[0].MPI_ERROR : rc;
}

/* Ask again and again. */
static int test_receive(void)
{
    MPI_Request request;
    int flag = 0, rc = MPI_SUCCESS;
    OK(MPI_Irecv(a, 1, MPI_INT, (rank + 1) % size, 0, world, &request));
    while (!flag && !rc)
        rc = MPI_Test(&request, &flag, &status);
    return rc;
}

static int iprobe(int source)
{
    int flag = 0, rc = MPI_SUCCESS;
    while (!flag && !rc)
        rc = MPI_Iprobe(source, 0, world, &flag, &status);
    return rc;
}

static int call(const char *name)
{
    int other = (rank + 1) % size;
    MPI_Request request;
    MPI_Comm made;
    if (!strcmp(name, "recv"))
        return MPI_Recv(a, 1, MPI_INT, other, 0, world, &status);
    if (!strcmp(name, "recv-any"))
        return MPI_Recv(a, 1, MPI_INT, MPI_ANY_SOURCE, 0, world, &status);
    if (!strcmp(name, "probe"))
        return MPI_Probe(other, 0, world, &status);
    if (!strcmp(name, "probe-any"))
        return MPI_Probe(MPI_ANY_SOURCE, 0, world, &status);
    if (!strcmp(name, "iprobe"))
        return iprobe(other);
    if (!strcmp(name, "iprobe-any"))
        return iprobe(MPI_ANY_SOURCE);
    if (!strcmp(name, "test"))
        return test_receive();
    if (!strcmp(name, "send"))
        return MPI_Send(a, 1, MPI_INT, other, 0, world);
    if (!strcmp(name, "ssend"))
        return MPI_Ssend(a, 1 << 16, MPI_INT, other, 0, world);
    if (!strcmp(name, "one-way"))
        return rank % 2 ? MPI_Recv(a, 1, MPI_INT, rank - 1, 0, world, &status)
                        : MPI_Send(a, 1, MPI_INT, other, 0, world);
    if (!strcmp(name, "both"))
        return both(1);
    if (!strcmp(name, "both-long"))
        return both(1 << 16);
    if (!strcmp(name, "sendrecv"))
        return MPI_Sendrecv(a, 1, MPI_INT, other, 0, b, 1, MPI_INT, other, 0, world, &status);
    if (!strcmp(name, "barrier"))
        return MPI_Barrier(world);
    if (!strcmp(name, "bcast"))
        return MPI_Bcast(a, 4, MPI_INT, 0, world);
    if (!strcmp(name, "reduce"))
        return MPI_Reduce(a, b, 4, MPI_INT, MPI_SUM, 0, world);
    if (!strcmp(name, "allreduce"))
        return MPI_Allreduce(a, b, 1 << 12, MPI_INT, MPI_SUM, world);
    if (!strcmp(name, "alltoall"))
        return MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, world);
    if (!strcmp(name, "gather"))
        return MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, 0, world);
    if (!strcmp(name, "dup"))
        return MPI_Comm_dup(world, &made);
    OK(strcmp(name, "ibarrier"));
    OK(MPI_Ibarrier(world, &request));
    return MPI_Wait(&request, &status);
}

/* Wait for the others, by files in this folder: else some would hear of others' ends. */
static void meet(const char *folder)
{
    char path[4096];
    for (int i = rank, n = 0; n < size; i = (i + 1) % size, n++) {
        snprintf(path, sizeof(path), "%s/%d", folder, i);
        if (n == 0)
            fclose(fopen(path, "w"));
        while (access(path, F_OK))
            usleep(500);
    }
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(world);
    size = check_size(world);
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, rank, 0, a, 1, MPI_INT, rank, 0, world, &status));
    CHECK(a[0] == rank);
    if (strcmp(argv[2], "fatal"))
        OK(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_OTHER, call(argv[1]));
    meet(argv[2]);
    OK(MPI_Finalize());
    return 0;
}
