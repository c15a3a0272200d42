/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Fault tolerance: ranks kill themselves, and the others call the functions that are for that.
 *
 * usage: ulfm SCENARIO
 *
 * SCENARIO is one of scenarios[] at the end. Prints "ok" from each survivor.
 */
#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 7, GIVE_UP_S = 30 };

static int rank, size;
static MPI_Comm world; /* a copy, with MPI_ERRORS_RETURN */

static void require(int truth, const char *what, int line)
{
    if (truth)
        return;
    fprintf(stderr, "ulfm: rank %d, line %d: not so: %s\n", rank, line, what);
    _exit(99);
}

#define CHECK(what)       require(!!(what), #what, __LINE__)
#define OK(call)          require((call) == MPI_SUCCESS, #call, __LINE__)
#define FAILS(class, call) require(class_of(call) == (class), #call, __LINE__)

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static void die(void)
{
    raise(SIGKILL);
}

/* The ranks in comm of the members of a group, which is freed. Returns how many. */
static int ranks_of(MPI_Comm comm, MPI_Group group, int ranks[], int room)
{
    MPI_Group all;
    int count, list[64];
    MPI_Comm_group(comm, &all);
    MPI_Group_size(group, &count);
    CHECK(count <= room && count <= 64);
    for (int i = 0; i < count; i++)
        list[i] = i;
    MPI_Group_translate_ranks(group, count, list, all, ranks);
    MPI_Group_free(&all);
    MPI_Group_free(&group);
    return count;
}

static int failed_of(MPI_Comm comm, int ranks[], int room)
{
    MPI_Group group;
    OK(MPIX_Comm_get_failed(comm, &group));
    return ranks_of(comm, group, ranks, room);
}

static int acked_of(MPI_Comm comm, int ranks[], int room)
{
    MPI_Group group;
    OK(MPIX_Comm_failure_get_acked(comm, &group));
    return ranks_of(comm, group, ranks, room);
}

/* Wait until so many members are known to have failed. */
static void await_failures(MPI_Comm comm, int count)
{
    int ranks[64], flag;
    while (failed_of(comm, ranks, 64) < count) {
        MPI_Iprobe(0, TAG + 100, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        usleep(500);
    }
}

/* Survivors are the ranks below last: each sends to the next. */
static void ring(MPI_Comm comm, int last, int tag)
{
    OK(MPI_Send(&rank, 1, MPI_INT, (rank + 1) % last, tag, comm));
}

/* Those ranks wait for each other. */
static void meet(MPI_Comm comm, int last)
{
    for (int i = 1; i < last && rank == 0; i++)
        OK(MPI_Recv(NULL, 0, MPI_INT, i, TAG + 50, comm, MPI_STATUS_IGNORE));
    for (int i = 1; i < last && rank == 0; i++)
        OK(MPI_Send(NULL, 0, MPI_INT, i, TAG + 51, comm));
    if (rank) {
        OK(MPI_Send(NULL, 0, MPI_INT, 0, TAG + 50, comm));
        OK(MPI_Recv(NULL, 0, MPI_INT, 0, TAG + 51, comm, MPI_STATUS_IGNORE));
    }
}

/* ---- failures that are known, and acknowledged ---- */

static void known(void)
{
    int last = size - 1, ranks[4], in = -1, again = -1, flag, n = -1;
    MPI_Request any, kept;
    MPI_Status status;
    if (rank == last)
        die();
    CHECK(failed_of(MPI_COMM_SELF, ranks, 4) == 0);
    OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, TAG, world, &any));
    OK(MPI_Recv_init(&again, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 1, world, &kept));
    OK(MPI_Start(&kept));
    FAILS(MPIX_ERR_PROC_FAILED, MPI_Recv(&n, 1, MPI_INT, last, TAG, world, MPI_STATUS_IGNORE));
    CHECK(failed_of(world, ranks, 4) == 1 && ranks[0] == last);
    CHECK(acked_of(world, ranks, 4) == 0);
    for (int i = 0; i < 3; i++) {
        FAILS(MPIX_ERR_PROC_FAILED_PENDING, MPI_Wait(&any, &status));
        CHECK(any != MPI_REQUEST_NULL);
        FAILS(MPIX_ERR_PROC_FAILED_PENDING, MPI_Test(&any, &flag, &status));
        CHECK(any != MPI_REQUEST_NULL && !flag);
        FAILS(MPIX_ERR_PROC_FAILED_PENDING, MPI_Wait(&kept, &status));
        FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(1, &kept, &status));
        FAILS(MPIX_ERR_PROC_FAILED_PENDING, status.MPI_ERROR);
        OK(MPI_Request_get_status(any, &flag, &status));
        CHECK(!flag);
    }
    FAILS(MPIX_ERR_PROC_FAILED, MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, TAG + 2, world, &status));
    FAILS(MPIX_ERR_PROC_FAILED, MPI_Sendrecv(&n, 0, MPI_INT, rank, TAG + 9, &n, 1, MPI_INT, MPI_ANY_SOURCE,
                                             TAG + 2, world, &status));
    OK(MPI_Recv(&n, 0, MPI_INT, rank, TAG + 9, world, &status));
    FAILS(MPIX_ERR_PROC_FAILED, MPI_Probe(MPI_ANY_SOURCE, TAG + 2, world, &status));
    FAILS(MPIX_ERR_PROC_FAILED, MPI_Iprobe(MPI_ANY_SOURCE, TAG + 2, world, &flag, &status));
    OK(MPIX_Comm_ack_failed(world, 0, &n));
    CHECK(n == 0);
    OK(MPIX_Comm_ack_failed(world, 5, &n));
    CHECK(n == 1 && acked_of(world, ranks, 4) == 1 && ranks[0] == last);
    OK(MPI_Request_get_status(any, &flag, &status));
    OK(MPI_Iprobe(MPI_ANY_SOURCE, TAG + 2, world, &flag, &status));
    CHECK(!flag);
    CHECK(acked_of(MPI_COMM_WORLD, ranks, 4) == 0); /* each communicator has its own */
    meet(world, last);
    ring(world, last, TAG);
    ring(world, last, TAG + 1);
    OK(MPI_Wait(&any, &status));
    CHECK(any == MPI_REQUEST_NULL && in == (rank + last - 1) % last && status.MPI_SOURCE == in);
    OK(MPI_Wait(&kept, &status));
    CHECK(again == in);
    OK(MPI_Request_free(&kept));
}

/* A receive from any rank that is doubted keeps its place before one that was posted later. */
static void order(void)
{
    int last = size - 1, in[2] = {-1, -1}, out[2] = {10 + rank, 20 + rank};
    MPI_Request requests[2];
    MPI_Status statuses[2];
    if (rank == last)
        die();
    int from = (rank + last - 1) % last, to = (rank + 1) % last;
    OK(MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, TAG, world, &requests[0]));
    OK(MPI_Irecv(&in[1], 1, MPI_INT, from, TAG, world, &requests[1]));
    await_failures(world, 1);
    FAILS(MPIX_ERR_PROC_FAILED_PENDING, MPI_Wait(&requests[0], statuses));
    meet(world, last);
    OK(MPI_Send(&out[0], 1, MPI_INT, to, TAG, world));
    OK(MPI_Send(&out[1], 1, MPI_INT, to, TAG, world));
    OK(MPI_Wait(&requests[1], statuses)); /* so both are here */
    OK(MPI_Wait(&requests[0], statuses)); /* though nothing is acknowledged */
    CHECK(in[0] == 10 + from && in[1] == 20 + from);
}

/* Two fail, one after the other; the order of those that are known stays. */
static void two(void)
{
    int ranks[4], more[4], n = -1, flag;
    MPI_Request any;
    MPI_Status status;
    if (rank == size - 1)
        die();
    if (rank == size - 2) {
        await_failures(world, 1);
        die();
    }
    OK(MPI_Irecv(&n, 1, MPI_INT, MPI_ANY_SOURCE, TAG, world, &any));
    await_failures(world, 1);
    CHECK(failed_of(world, ranks, 4) >= 1);
    await_failures(world, 2);
    CHECK(failed_of(world, more, 4) == 2 && more[0] == ranks[0]);
    OK(MPIX_Comm_ack_failed(world, 1, &n));
    CHECK(n == 1 && acked_of(world, ranks, 4) == 1 && ranks[0] == more[0]);
    FAILS(MPIX_ERR_PROC_FAILED_PENDING, MPI_Wait(&any, &status));
    OK(MPIX_Comm_failure_ack(world));
    CHECK(acked_of(world, ranks, 4) == 2 && ranks[1] == more[1]);
    if (size > 2) {
        OK(MPI_Test(&any, &flag, &status));
        CHECK(!flag);
    }
    OK(MPI_Cancel(&any));
    OK(MPI_Wait(&any, &status));
    MPI_Comm made;
    FAILS(MPIX_ERR_PROC_FAILED, MPI_Comm_dup(world, &made));
}

/* ---- main ---- */

static const struct scenario {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"known", known},
    {"order", order},
    {"two", two},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(argc == 2);
    alarm(GIVE_UP_S);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Barrier(MPI_COMM_WORLD);
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
        if (!strcmp(scenarios[i].name, argv[1]))
            scenarios[i].run();
    MPI_Finalize();
    printf("ok\n");
    return 0;
}
