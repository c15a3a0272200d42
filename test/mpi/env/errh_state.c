/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Functions of the user that get a state: operations, error handlers, requests. The destructor is
 * called once, when nothing uses the object any more.
 */
#include <mpi.h>
#include <string.h>

#include "check.h"

static int destroyed, events[4], code_seen;
static MPI_Comm comm_seen;

static void destroy(void *state)
{
    destroyed += *(int *)state;
}

static void add(void *in, void *inout, MPI_Count len, MPI_Datatype type, void *state)
{
    int *from = in, *to = inout;
    CHECK(type == MPI_INT && *(int *)state == 10);
    for (MPI_Count i = 0; i < len; i++)
        to[i] += from[i];
}

static void on_error(MPI_Comm comm, int code, void *state)
{
    comm_seen = comm;
    code_seen = code;
    CHECK(*(int *)state == 100);
}

static void on_event(int event, void *state)
{
    CHECK(event >= MPIX_REQUEST_STARTS && event <= MPIX_REQUEST_FREED);
    events[event]++;
    (void)state;
}

static void operations(int size)
{
    int ten = 10, mine = 1, sum = 0;
    MPI_Op op;
    MPIX_Op_create_x(add, destroy, 1, &ten, &op);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    CHECK(sum == size);
    MPI_Op_free(&op);
    CHECK(destroyed == 10);
}

static void handlers(void)
{
    int hundred = 100;
    MPI_Errhandler handler;
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPIX_Comm_create_errhandler_x(on_error, destroy, &hundred, &handler);
    MPI_Comm_set_errhandler(comm, handler);
    MPI_Errhandler_free(&handler);
    CHECK(destroyed == 10); /* comm has it */
    int rc = MPI_Send(&hundred, 1, MPI_INT, 7, 0, comm);
    CHECK(rc == code_seen && check_class(rc) == MPI_ERR_RANK && comm_seen == comm);
    MPI_Comm_free(&comm);
    CHECK(destroyed == 110);
    FAILS(MPI_ERR_ARG, MPIX_Comm_create_errhandler_x(NULL, NULL, NULL, &handler));
}

static void is_told(int starts, int complete, int freed)
{
    CHECK(events[1] == starts && events[2] == complete && events[3] == freed);
    memset(events, 0, sizeof(events));
}

static void requests(int rank, int size)
{
    int next = (rank + 1) % size, prev = (rank + size - 1) % size, got = -1, flag = 0;
    MPI_Request request, send;
    MPI_Irecv(&got, 1, MPI_INT, prev, 0, MPI_COMM_WORLD, &request);
    MPIX_Request_attach(&request, on_event, NULL);
    MPI_Isend(&rank, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &send);
    while (!flag)
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
    CHECK(got == prev && events[2] == 1 && events[3] == 0);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    is_told(0, 1, 1);
    MPI_Wait(&send, MPI_STATUS_IGNORE);

    MPI_Recv_init(&got, 1, MPI_INT, prev, 1, MPI_COMM_WORLD, &request);
    MPIX_Request_attach(&request, on_event, NULL);
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        CHECK(events[1] == i + 1);
        MPI_Send(&rank, 1, MPI_INT, next, 1, MPI_COMM_WORLD);
        MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
        CHECK(events[2] == i + 1);
    }
    MPI_Request_free(&request);
    is_told(3, 3, 1);

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPIX_Request_attach(&request, on_event, NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    is_told(0, 1, 1);

    MPI_Irecv(&got, 1, MPI_INT, prev, 2, MPI_COMM_WORLD, &request);
    MPIX_Request_attach(&request, on_event, NULL);
    MPI_Request_free(&request);
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 2, &flag, 0, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irecv(&flag, 1, MPI_INT, prev, 3, MPI_COMM_WORLD, &request);
    while (!events[3])
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    is_told(0, 1, 1);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    operations(size);
    handlers();
    requests(rank, size);
    MPI_Finalize();
    return 0;
}
