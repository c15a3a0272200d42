/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One rank is killed while the others are in some call that needs it. Each of these must get an
 * error within LIMIT_MS, be able to go on with those that are left, and end as it should.
 *
 * usage: survivors CALL COUNT VICTIM DELAY_US
 *
 * CALL is one of calls[] at the end; COUNT: of the elements that it moves. Prints "ok" from each
 * survivor.
 */
#include <malloc.h>
#include <mpi.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    LIMIT_MS = 8000, /* channel ofi waits up to 3 s for last packets where the first ones were slow */
    GIVE_UP_S = 20,
    TAG = 7,
    LATE_US = 200000,
    KEPT_MAX = 256 << 10, /* bytes: of 100,000 elements, less than the blocks of two ranks */
    RANKS_MAX = 16
};

static int rank, size, victim, count;
static int *out, *in;      /* [size * count] */
static int counts[RANKS_MAX], displs[RANKS_MAX], places[RANKS_MAX];
static MPI_Datatype types[RANKS_MAX];
static MPI_Comm world, half, pair; /* half: the even or the odd ranks; pair: both */

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void require(int truth, const char *what)
{
    if (truth)
        return;
    fprintf(stderr, "survivors: rank %d: %s\n", rank, what);
    _exit(99);
}

/* ---- messages ---- */

static int call_recv(void)
{
    return MPI_Recv(in, count, MPI_INT, victim, TAG, world, MPI_STATUS_IGNORE);
}

static int call_wait(void)
{
    MPI_Request request;
    MPI_Irecv(in, count, MPI_INT, victim, TAG, world, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int call_test(void)
{
    MPI_Request request;
    int done = 0, rc = MPI_SUCCESS;
    MPI_Irecv(in, count, MPI_INT, victim, TAG, world, &request);
    while (!done && !rc)
        rc = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    return rc;
}

/* Beside a receive from one that lives, and sends nothing. */
static int call_waitany(void)
{
    MPI_Request requests[2];
    int index = -1;
    MPI_Irecv(in, count, MPI_INT, rank, TAG, world, &requests[0]);
    MPI_Irecv(in + count, count, MPI_INT, victim, TAG, world, &requests[1]);
    int rc = MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    require(index == 1, "MPI_Waitany took the receive from a rank that lives");
    MPI_Cancel(&requests[0]);
    require(!MPI_Wait(&requests[0], MPI_STATUS_IGNORE), "a receive from itself was lost");
    return rc;
}

static int call_persistent(void)
{
    MPI_Request request;
    MPI_Recv_init(in, count, MPI_INT, victim, TAG, world, &request);
    MPI_Start(&request);
    int rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return rc;
}

static int call_partitioned(void)
{
    MPI_Request request;
    MPI_Precv_init(in, 2, count / 2 + 1, MPI_INT, victim, TAG, world, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    int rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    return rc;
}

static int call_probe(void)
{
    return MPI_Probe(victim, TAG, world, MPI_STATUS_IGNORE);
}

static int call_mprobe(void)
{
    MPI_Message message;
    return MPI_Mprobe(victim, MPI_ANY_TAG, world, &message, MPI_STATUS_IGNORE);
}

static int call_iprobe(void)
{
    int flag = 0, rc = MPI_SUCCESS;
    while (!flag && !rc)
        rc = MPI_Iprobe(victim, TAG, world, &flag, MPI_STATUS_IGNORE);
    return rc;
}

static int call_improbe(void)
{
    MPI_Message message;
    int flag = 0, rc = MPI_SUCCESS;
    while (!flag && !rc)
        rc = MPI_Improbe(victim, TAG, world, &flag, &message, MPI_STATUS_IGNORE);
    return rc;
}

static int call_ssend(void)
{
    return MPI_Ssend(out, count, MPI_INT, victim, TAG, world);
}

static int call_sendrecv(void)
{
    return MPI_Sendrecv(out, count, MPI_INT, victim, TAG, in, count, MPI_INT, victim, TAG + 1,
                        world, MPI_STATUS_IGNORE);
}

/* ---- from any rank, where no other is left ---- */

static int call_any(void)
{
    return MPI_Recv(in, count, MPI_INT, MPI_ANY_SOURCE, TAG, world, MPI_STATUS_IGNORE);
}

static int call_any_wait(void)
{
    MPI_Request request;
    MPI_Irecv(in, count, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &request);
    int rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (request == MPI_REQUEST_NULL)
        return rc;
    MPI_Error_class(rc, &rc);
    require(rc == MPIX_ERR_PROC_FAILED_PENDING, "a receive from any goes on after an error");
    MPIX_Comm_failure_ack(world); /* it waits no longer than that nobody is left is known */
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int call_any_probe(void)
{
    return MPI_Probe(MPI_ANY_SOURCE, TAG, world, MPI_STATUS_IGNORE);
}

/* ---- from any rank, where others are ---- */

/* Rank by rank, one is told by the last: a survivor's receive waits on beyond the loss. */
static int call_any_left(void)
{
    int next = (rank + 1) % size, rc = MPI_SUCCESS;
    MPI_Request request;
    if (next == victim)
        next = (next + 1) % size;
    MPI_Irecv(in, count, MPI_INT, MPI_ANY_SOURCE, TAG, world, &request);
    require(call_recv() != MPI_SUCCESS, "the loss was not told");
    MPIX_Comm_failure_ack(world);
    usleep(200000);
    int done;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    require(!MPI_Send(out, count, MPI_INT, next, TAG, world), "a send to a rank that lives failed");
    rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    require(!rc, "a receive from any was lost, though others live");
    return MPI_ERR_PROC_ABORTED;
}

/* ---- collectives ---- */

static int call_barrier(void)
{
    return MPI_Barrier(world);
}

static int call_bcast(void)
{
    return MPI_Bcast(in, count, MPI_INT, (victim + 1) % size, world);
}

static int call_bcast_victim(void)
{
    return MPI_Bcast(in, count, MPI_INT, victim, world);
}

static int call_gather(void)
{
    return MPI_Gather(out, count, MPI_INT, in, count, MPI_INT, (victim + 1) % size, world);
}

static int call_gatherv(void)
{
    return MPI_Gatherv(out, count, MPI_INT, in, counts, displs, MPI_INT, victim, world);
}

static int call_scatter(void)
{
    return MPI_Scatter(out, count, MPI_INT, in, count, MPI_INT, (victim + 1) % size, world);
}

static int call_scatterv(void)
{
    return MPI_Scatterv(out, counts, displs, MPI_INT, in, count, MPI_INT, victim, world);
}

/* Of blocks with gaps, which are packed: that memory is given back when the call fails. */
static int call_scatterv_gaps(void)
{
    MPI_Datatype gaps;
    int half_count = count / 2 + 1, each[RANKS_MAX], at[RANKS_MAX] = {0};
    for (int i = 0; i < size; i++)
        each[i] = 1;
    MPI_Type_vector(half_count, 1, 2, MPI_INT, &gaps);
    MPI_Type_commit(&gaps);
    size_t before = mallinfo2().hblkhd;
    int rc = MPI_Scatterv(out, each, at, gaps, in, half_count, MPI_INT, (victim + 1) % size, world);
    require(mallinfo2().hblkhd < before + KEPT_MAX, "packed blocks are not given back");
    MPI_Type_free(&gaps);
    return rc;
}

/* The root uses its blocks for something else once the call has failed; a rank that comes later to its
 * first call must not take that for its block. */
static int call_scatterv_late(void)
{
    static bool has_been_late;
    bool is_root = rank == (victim + 1) % size;
    for (int i = 0; is_root && i < size * count; i++)
        out[i] = i;
    if (rank == (victim + 2) % size && !has_been_late)
        usleep(LATE_US);
    has_been_late = true;
    int rc = MPI_Scatterv(out, counts, displs, MPI_INT, in, count, MPI_INT, (victim + 1) % size, world);
    for (int i = 0; !rc && i < count; i++)
        require(in[i] == displs[rank] + i, "a block is not what the root has sent");
    if (is_root)
        memset(out, -1, (size_t)size * (size_t)count * sizeof(*out));
    return rc;
}

static int call_allgather(void)
{
    return MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, world);
}

static int call_allgatherv(void)
{
    return MPI_Allgatherv(out, count, MPI_INT, in, counts, displs, MPI_INT, world);
}

static int call_alltoall(void)
{
    return MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, world);
}

static int call_alltoallv(void)
{
    return MPI_Alltoallv(out, counts, displs, MPI_INT, in, counts, displs, MPI_INT, world);
}

static int call_alltoallw(void)
{
    return MPI_Alltoallw(out, counts, places, types, in, counts, places, types, world);
}

static int call_reduce(void)
{
    return MPI_Reduce(out, in, count, MPI_INT, MPI_SUM, (victim + 1) % size, world);
}

static int call_allreduce(void)
{
    return MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, world);
}

static int call_reduce_scatter(void)
{
    return MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, world);
}

static int call_reduce_scatter_block(void)
{
    return MPI_Reduce_scatter_block(out, in, count, MPI_INT, MPI_SUM, world);
}

static int call_scan(void)
{
    return MPI_Scan(out, in, count, MPI_INT, MPI_SUM, world);
}

static int call_exscan(void)
{
    return MPI_Exscan(out, in, count, MPI_INT, MPI_SUM, world);
}

static int call_inter_barrier(void)
{
    return MPI_Barrier(pair);
}

static int call_inter_allreduce(void)
{
    return MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, pair);
}

/* ---- communicators ---- */

static int freed(int rc, MPI_Comm *made)
{
    if (!rc && *made != MPI_COMM_NULL)
        MPI_Comm_free(made);
    return rc;
}

static int call_dup(void)
{
    MPI_Comm made;
    return freed(MPI_Comm_dup(world, &made), &made);
}

static int call_inter_dup(void)
{
    MPI_Comm made;
    return freed(MPI_Comm_dup(pair, &made), &made);
}

static int call_idup(void)
{
    MPI_Comm made;
    MPI_Request request;
    int rc = MPI_Comm_idup(world, &made, &request);
    return rc ? rc : freed(MPI_Wait(&request, MPI_STATUS_IGNORE), &made);
}

static int call_create(void)
{
    MPI_Comm made;
    MPI_Group group;
    MPI_Comm_group(world, &group);
    int rc = MPI_Comm_create(world, group, &made);
    MPI_Group_free(&group);
    return freed(rc, &made);
}

static int call_from_group(void)
{
    MPI_Comm made;
    MPI_Group group;
    MPI_Comm_group(world, &group);
    int rc = MPI_Comm_create_from_group(group, "survivors", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    MPI_Group_free(&group);
    return freed(rc, &made);
}

/* Part of the members of world, in the reverse order. */
static int create_of(const int *ranks, int n, MPI_Comm *made)
{
    MPI_Group all, some;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, n, ranks, &some);
    int rc = MPI_Comm_create_group(world, some, TAG, made);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    return rc;
}

/* The ranks that are left make a communicator with the tag with which it has failed. */
static int call_create_group(void)
{
    MPI_Comm made;
    int ranks[RANKS_MAX], n = 0, sum = 0;
    for (int i = size - 1; i >= 0; i--)
        ranks[n++] = i;
    int failed = create_of(ranks, n, &made);
    if (!failed)
        return freed(failed, &made);
    n = 0;
    for (int i = size - 1; i >= 0; i--)
        if (i != victim)
            ranks[n++] = i;
    require(!create_of(ranks, n, &made), "those that are left cannot make a communicator");
    require(!MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made) &&
                sum == size * (size - 1) / 2 - victim,
            "those that are left cannot use their communicator");
    MPI_Comm_free(&made);
    return failed;
}

/* The groups know of each other by their leaders alone. */
static int call_intercomm_create(void)
{
    MPI_Comm made;
    return freed(MPI_Intercomm_create(half, 0, world, !(rank % 2), TAG, &made), &made);
}

static int call_from_groups(void)
{
    MPI_Comm made;
    MPI_Group mine, theirs;
    MPI_Comm_group(pair, &mine);
    MPI_Comm_remote_group(pair, &theirs);
    int rc = MPI_Intercomm_create_from_groups(mine, 0, theirs, 0, "survivors", MPI_INFO_NULL,
                                              MPI_ERRORS_RETURN, &made);
    MPI_Group_free(&mine);
    MPI_Group_free(&theirs);
    return freed(rc, &made);
}

static int call_split(void)
{
    MPI_Comm made;
    return freed(MPI_Comm_split(world, rank % 2, rank, &made), &made);
}

/* ---- main ---- */

static const struct call {
    const char *name;
    int (*call)(void);
} calls[] = {
    {"recv", call_recv},
    {"wait", call_wait},
    {"test", call_test},
    {"waitany", call_waitany},
    {"persistent", call_persistent},
    {"partitioned", call_partitioned},
    {"probe", call_probe},
    {"mprobe", call_mprobe},
    {"iprobe", call_iprobe},
    {"improbe", call_improbe},
    {"ssend", call_ssend},
    {"sendrecv", call_sendrecv},
    {"any", call_any},
    {"any_wait", call_any_wait},
    {"any_probe", call_any_probe},
    {"any_left", call_any_left},
    {"barrier", call_barrier},
    {"bcast", call_bcast},
    {"bcast_victim", call_bcast_victim},
    {"gather", call_gather},
    {"gatherv", call_gatherv},
    {"scatter", call_scatter},
    {"scatterv", call_scatterv},
    {"scatterv_gaps", call_scatterv_gaps},
    {"scatterv_late", call_scatterv_late},
    {"allgather", call_allgather},
    {"allgatherv", call_allgatherv},
    {"alltoall", call_alltoall},
    {"alltoallv", call_alltoallv},
    {"alltoallw", call_alltoallw},
    {"reduce", call_reduce},
    {"allreduce", call_allreduce},
    {"reduce_scatter", call_reduce_scatter},
    {"reduce_scatter_block", call_reduce_scatter_block},
    {"scan", call_scan},
    {"exscan", call_exscan},
    {"inter_barrier", call_inter_barrier},
    {"inter_allreduce", call_inter_allreduce},
    {"dup", call_dup},
    {"inter_dup", call_inter_dup},
    {"idup", call_idup},
    {"split", call_split},
    {"create", call_create},
    {"create_group", call_create_group},
    {"from_group", call_from_group},
    {"intercomm_create", call_intercomm_create},
    {"from_groups", call_from_groups},
};

static const struct call *find_call(const char *name)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
        if (!strcmp(calls[i].name, name))
            return &calls[i];
    require(0, "no such call");
    return NULL;
}

static void prepare(void)
{
    out = calloc((size_t)size * (size_t)(count + 2), sizeof(*out));
    in = calloc((size_t)size * (size_t)(count + 2), sizeof(*in));
    require(out && in && size <= RANKS_MAX, "no room");
    for (int i = 0; i < size; i++) {
        counts[i] = count;
        displs[i] = i * count;
        places[i] = displs[i] * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_split(world, rank % 2, rank, &half);
    pair = MPI_COMM_NULL;
    if (size > 1)
        MPI_Intercomm_create(half, 0, world, !(rank % 2), TAG, &pair);
}

/* Those that are left can still talk to each other. */
static void talk(void)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, told = -1;
    if (to == victim)
        to = (to + 1) % size;
    if (from == victim)
        from = (from + size - 1) % size;
    require(!MPI_Sendrecv(&rank, 1, MPI_INT, to, TAG + 2, &told, 1, MPI_INT, from, TAG + 2, world,
                          MPI_STATUS_IGNORE) &&
                told == from,
            "the ranks that are left cannot talk to each other");
}

/* The moment, by the clock of this host. The victim has heard that all know it. */
static double agree_when(double delay_ms)
{
    double when = now_ms() + delay_ms;
    MPI_Bcast(&when, 1, MPI_DOUBLE, 0, world);
    for (int i = 0; rank == victim && i < size; i++)
        if (i != victim)
            MPI_Recv(NULL, 0, MPI_INT, i, TAG, world, MPI_STATUS_IGNORE);
    if (rank != victim)
        MPI_Send(NULL, 0, MPI_INT, victim, TAG, world);
    return when;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    require(argc == 5, "usage: survivors CALL COUNT VICTIM DELAY_US");
    const struct call *call = find_call(argv[1]);
    count = atoi(argv[2]);
    victim = atoi(argv[3]) % size;
    alarm(GIVE_UP_S);
    prepare();
    double when = agree_when(atoi(argv[4]) / 1e3);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    if (pair != MPI_COMM_NULL)
        MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
    if (rank == victim) {
        while (now_ms() < when)
            usleep(100);
        raise(SIGKILL);
    }
    int rc, class;
    do
        rc = call->call();
    while (!rc);
    double late = now_ms() - when;
    MPI_Error_class(rc, &class);
    require(class == MPI_ERR_PROC_ABORTED, "the error is not MPI_ERR_PROC_ABORTED");
    if (late < 0 || late > LIMIT_MS)
        fprintf(stderr, "survivors: rank %d: %.0f ms after the end of rank %d\n", rank, late, victim);
    require(late >= 0 && late <= LIMIT_MS, "the error came too early or too late");
    talk();
    MPI_Finalize();
    printf("ok\n");
    return 0;
}
