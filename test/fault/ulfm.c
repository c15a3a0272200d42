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
#include <sys/wait.h>
#include <unistd.h>

enum { TAG = 7, GIVE_UP_S = 30, LATE_US = 1000000 };

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

static int check_size(MPI_Comm comm)
{
    int n = -1;
    OK(MPI_Comm_size(comm, &n));
    return n;
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
    /* The codes themselves, as many programs compare them. */
    CHECK(MPI_Recv(&n, 1, MPI_INT, last, TAG, world, MPI_STATUS_IGNORE) == MPIX_ERR_PROC_FAILED);
    CHECK(MPI_Wait(&any, &status) == MPIX_ERR_PROC_FAILED_PENDING);
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

/* ---- a launcher that tells late ---- */

/* Wait until a process is in a state, as ps has it, or is gone. */
static void await_state(pid_t pid, char wanted)
{
    char path[64], state = '?';
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    while (state != wanted) {
        FILE *file = fopen(path, "r");
        if (!file)
            return;
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = wanted; /* it has just gone */
        fclose(file);
        usleep(100);
    }
}

/* Stop a process, which a child of ours lets go on after a while. Returns the child. */
static pid_t stop_for_a_while(pid_t pid)
{
    CHECK(pid > 1 && !kill(pid, SIGSTOP));
    await_state(pid, 'T');
    pid_t child = fork();
    if (!child) {
        usleep(LATE_US);
        _exit(kill(pid, SIGCONT) ? 1 : 0);
    }
    CHECK(child > 0);
    return child;
}

/* The last one dies while the process that would tell of it is stopped. A process that meets it for the first time then
 * waits for the word of its end. */
static void told_late(void)
{
    int last = size - 1, pids[2] = {(int)getpid(), (int)getppid()}, status = 0;
    pid_t child = 0;
    if (rank == last) {
        OK(MPI_Send(pids, 2, MPI_INT, 0, TAG, world));
        OK(MPI_Recv(NULL, 0, MPI_INT, 0, TAG, world, MPI_STATUS_IGNORE));
        die();
    }
    if (rank == 0) {
        OK(MPI_Recv(pids, 2, MPI_INT, last, TAG, world, MPI_STATUS_IGNORE));
        child = stop_for_a_while(pids[1]);
        OK(MPI_Send(NULL, 0, MPI_INT, last, TAG, world));
        await_state(pids[0], 'Z');
    }
    meet(world, last);
    FAILS(MPIX_ERR_PROC_FAILED, MPI_Ssend(&rank, 1, MPI_INT, last, TAG, world));
    await_failures(world, 1);
    CHECK(!child || (waitpid(child, &status, 0) == child && status == 0));
}

/* ---- revoking ---- */

static int is_revoked(MPI_Comm comm)
{
    int flag = -1;
    OK(MPIX_Comm_is_revoked(comm, &flag));
    return flag;
}

/* What a communicator that is revoked still does, and what it does no more. */
static void check_revoked(MPI_Comm comm)
{
    int n = 0, flag, at = -1;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm made;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Errhandler handler;
    MPI_Group group;
    CHECK(is_revoked(comm) == 1);
    OK(MPI_Comm_rank(comm, &at));
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Comm_set_name(comm, "revoked"));
    OK(MPI_Comm_get_name(comm, name, &flag));
    CHECK(!strcmp(name, "revoked"));
    OK(MPI_Comm_get_errhandler(comm, &handler));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Comm_group(comm, &group));
    OK(MPI_Group_free(&group));
    OK(MPIX_Comm_revoke(comm));
    FAILS(MPIX_ERR_REVOKED, MPI_Send(&n, 1, MPI_INT, 0, TAG, comm));
    FAILS(MPIX_ERR_REVOKED, MPI_Recv(&n, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE));
    FAILS(MPIX_ERR_REVOKED, MPI_Isend(&n, 1, MPI_INT, 0, TAG, comm, &request));
    FAILS(MPIX_ERR_REVOKED, MPI_Irecv(&n, 1, MPI_INT, 0, TAG, comm, &request));
    FAILS(MPIX_ERR_REVOKED, MPI_Iprobe(MPI_ANY_SOURCE, TAG, comm, &flag, MPI_STATUS_IGNORE));
    FAILS(MPIX_ERR_REVOKED, MPI_Barrier(comm));
    FAILS(MPIX_ERR_REVOKED, MPI_Ibarrier(comm, &request));
    FAILS(MPIX_ERR_REVOKED, MPI_Bcast(&n, 1, MPI_INT, 0, comm));
    FAILS(MPIX_ERR_REVOKED, MPI_Comm_dup(comm, &made));
    FAILS(MPIX_ERR_REVOKED, MPI_Comm_idup(comm, &made, &request));
    CHECK(request == MPI_REQUEST_NULL);
}

/* All that are left have the same number. */
static void same(MPI_Comm comm, int number)
{
    int both[2] = {number, ~number};
    (void)MPIX_Comm_agree(comm, &both[0]);
    (void)MPIX_Comm_agree(comm, &both[1]);
    CHECK(both[0] == number && both[1] == ~number);
}

static MPI_Comm copy_of(MPI_Comm comm)
{
    MPI_Comm copy;
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN));
    return copy;
}

/* Nobody dies: all that is posted ends, of every kind, and other communicators go on. */
static void revoked(void)
{
    enum { KINDS = 9, LARGE = 100000 };
    static int large[LARGE], in[KINDS], out;
    MPI_Comm comm = copy_of(world), copy = copy_of(comm), inner;
    MPI_Request posted[KINDS], kept, kept_send;
    MPI_Status status;
    int right = (rank + 1) % size;
    OK(MPI_Recv_init(&in[5], 1, MPI_INT, right, TAG + 5, comm, &kept));
    OK(MPI_Send_init(&out, 1, MPI_INT, right, TAG + 6, comm, &kept_send));
    OK(MPI_Comm_split(comm, 0, rank, &inner));
    OK(MPI_Comm_set_errhandler(inner, MPI_ERRORS_RETURN));
    if (rank == size - 1) {
        usleep(20000);
        OK(MPIX_Comm_revoke(comm));
        check_revoked(comm);
        FAILS(MPIX_ERR_REVOKED, MPI_Start(&kept_send));
    } else {
        OK(MPI_Irecv(&in[0], 1, MPI_INT, size - 1, TAG, comm, &posted[0]));
        OK(MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &posted[1]));
        OK(MPI_Issend(&out, 1, MPI_INT, size - 1, TAG + 1, comm, &posted[2]));
        OK(MPI_Isend(large, LARGE, MPI_INT, size - 1, TAG + 2, comm, &posted[3]));
        OK(MPI_Ibarrier(comm, &posted[4]));
        OK(MPI_Start(&kept));
        OK(MPI_Ibcast(&in[6], 1, MPI_INT, size - 1, comm, &posted[6]));
        OK(MPI_Iallreduce(&out, &in[7], 1, MPI_INT, MPI_SUM, comm, &posted[7]));
        OK(MPI_Precv_init(&in[8], 1, 1, MPI_INT, size - 1, TAG + 8, comm, MPI_INFO_NULL, &posted[8]));
        OK(MPI_Start(&posted[8]));
        for (int i = 0; i < KINDS; i++)
            if (i != 5)
                FAILS(MPIX_ERR_REVOKED, MPI_Wait(&posted[i], &status));
        FAILS(MPIX_ERR_REVOKED, MPI_Wait(&kept, &status));
        FAILS(MPIX_ERR_REVOKED, MPI_Start(&kept));
        OK(MPI_Request_free(&posted[8]));
        check_revoked(comm);
    }
    OK(MPI_Request_free(&kept));
    OK(MPI_Request_free(&kept_send));
    CHECK(!is_revoked(world) && !is_revoked(copy) && !is_revoked(inner));
    for (int i = 0; i < 100; i++) {
        OK(MPI_Barrier(copy));
        OK(MPI_Allreduce(&rank, &out, 1, MPI_INT, MPI_SUM, inner));
        CHECK(out == size * (size - 1) / 2);
    }
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_free(&inner));
}

/* Each kind of blocking call is interrupted. */
static void interrupted(void)
{
    int n = 0;
    for (int call = 0; call < 8; call++) {
        MPI_Comm comm = copy_of(world);
        MPI_Status status;
        if (rank == 0) {
            usleep(5000);
            OK(MPIX_Comm_revoke(comm));
        } else {
            int rc = MPI_SUCCESS;
            switch (call) {
            case 0: rc = MPI_Recv(&n, 1, MPI_INT, 0, TAG, comm, &status); break;
            case 1: rc = MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, TAG, comm, &status); break;
            case 2: rc = MPI_Ssend(&n, 1, MPI_INT, 0, TAG, comm); break;
            case 3: rc = MPI_Probe(0, TAG, comm, &status); break;
            case 4: rc = MPI_Barrier(comm); break;
            case 5: rc = MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_SUM, comm); break;
            case 6: rc = MPI_Bcast(&n, 1, MPI_INT, 0, comm); break;
            default: {
                MPI_Comm made;
                rc = MPI_Comm_split(comm, 0, 0, &made);
            }
            }
            CHECK(class_of(rc) == MPIX_ERR_REVOKED);
        }
        check_revoked(comm);
        OK(MPI_Comm_free(&comm));
        OK(MPI_Barrier(world));
    }
}

/* Two revoke at once, and MPI_COMM_WORLD too can be revoked. An intercommunicator reaches both groups. */
static void crossing(void)
{
    MPI_Comm comm = copy_of(world), half, pair;
    if (rank == 0 || rank == size - 1)
        OK(MPIX_Comm_revoke(comm));
    int rc;
    while (!(rc = MPI_Barrier(comm)))
        ;
    FAILS(MPIX_ERR_REVOKED, rc);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_split(world, rank % 2, rank, &half));
    OK(MPI_Intercomm_create(half, 0, world, !(rank % 2), TAG, &pair));
    OK(MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN));
    if (rank == 1)
        OK(MPIX_Comm_revoke(pair));
    while (!(rc = MPI_Barrier(pair)))
        ;
    FAILS(MPIX_ERR_REVOKED, rc);
    OK(MPI_Comm_free(&pair));
    OK(MPI_Barrier(half));
    OK(MPI_Comm_free(&half));
    if (rank == 1)
        OK(MPIX_Comm_revoke(MPI_COMM_WORLD));
    while (!(rc = MPI_Barrier(MPI_COMM_WORLD)))
        ;
    check_revoked(MPI_COMM_WORLD);
    OK(MPI_Barrier(world));
}

/* The one that revokes dies once another one knows; others die too, at any time. */
static void revoke_and_die(void)
{
    MPI_Comm comm = copy_of(world);
    int n = 0, rc;
    same(world, 1); /* nobody dies before all have the copy */
    if (rank == 0) {
        usleep(3000);
        OK(MPIX_Comm_revoke(comm));
        OK(MPI_Recv(&n, 0, MPI_INT, 2, TAG, world, MPI_STATUS_IGNORE));
        die();
    }
    if (rank == 1) {
        usleep(3000);
        die();
    }
    /* Each waits for one that lives, and waits too. */
    int from = rank == 2 ? size - 1 : rank - 1;
    rc = MPI_Recv(&n, 1, MPI_INT, from, TAG, comm, MPI_STATUS_IGNORE);
    CHECK(class_of(rc) == MPIX_ERR_REVOKED);
    if (rank == 2)
        OK(MPI_Send(&n, 0, MPI_INT, 0, TAG, world));
}

/* ---- agreements ---- */

/* Nobody dies. Several at once, of both kinds, on one communicator and on several. */
static void agreed(void)
{
    enum { MANY = 5 };
    MPI_Comm comm = copy_of(world), made, more;
    MPI_Request requests[MANY];
    int flags[MANY], flag, sum;
    for (int i = 0; i < 200; i++) {
        flag = ~(1 << (rank + i) % 31);
        OK(MPIX_Comm_agree(i % 3 ? comm : world, &flag));
        for (int r = 0; r < size; r++)
            CHECK(!(flag & 1 << (r + i) % 31));
        CHECK(size > 20 || (flag & 1 << (size + i) % 31));
    }
    for (int i = 0; i < MANY; i++) {
        flags[i] = ~(1 << rank) & ~(i << 16);
        if (i == 2)
            OK(MPIX_Comm_ishrink(comm, &made, &requests[i]));
        else
            OK(MPIX_Comm_iagree(comm, &flags[i], &requests[i]));
    }
    flag = 1 << 30 | rank << 8;
    OK(MPIX_Comm_agree(world, &flag)); /* another communicator does not wait for those */
    OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i++)
        CHECK(i == 2 || flags[i] == (~((1 << size) - 1) & ~(i << 16)));
    OK(MPIX_Comm_revoke(comm));
    same(comm, 77);
    OK(MPIX_Comm_shrink(comm, &more));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made));
    CHECK(sum == size * (size - 1) / 2);
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, more));
    CHECK(sum == size * (size - 1) / 2);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free(&made));
    OK(MPI_Comm_free(&more));
}

/* An agreement tells of failures until all have acknowledged them. */
static void acknowledged(void)
{
    int last = size - 1, flag;
    if (rank == last)
        die();
    await_failures(world, 1);
    for (int i = 0; i < 4; i++) {
        flag = 15 & ~(1 << rank % 4);
        FAILS(i < 3 && i < last ? MPIX_ERR_PROC_FAILED : MPI_SUCCESS, MPIX_Comm_agree(world, &flag));
        CHECK(flag == (15 & ~((1 << (last < 4 ? last : 4)) - 1)));
        if (i >= rank % 3)
            OK(MPIX_Comm_failure_ack(world));
    }
    for (int i = 0; i < 4; i++) {
        flag = 3;
        OK(MPIX_Comm_agree(world, &flag));
        CHECK(flag == 3);
    }
    same(world, 5);
}

/* Whoever has got the error of an agreement knows whom it is about. */
static void told_by_agreement(void)
{
    int last = size - 1, flag = 1, ranks[4];
    if (rank == last)
        die();
    FAILS(MPIX_ERR_PROC_FAILED, MPIX_Comm_agree(world, &flag));
    OK(MPIX_Comm_failure_ack(world));
    CHECK(acked_of(world, ranks, 4) == 1 && ranks[0] == last);
    OK(MPIX_Comm_agree(world, &flag));
    same(world, flag);
}

/* Ranks die while all agree again and again; each is a leader at some time. */
static void dying(void)
{
    int flag, history = 0;
    unsigned seed = (unsigned)rank + 1;
    for (int i = 0; i < 400; i++) {
        flag = ~0;
        if (rank < size / 2 && i == 100 * (rank + 1) / (size / 2)) {
            usleep((unsigned)rand_r(&seed) % 300);
            die();
        }
        if (rand_r(&seed) % 50 == 0)
            usleep(200);
        int rc = class_of(MPIX_Comm_agree(world, &flag));
        CHECK(rc == MPI_SUCCESS || rc == MPIX_ERR_PROC_FAILED);
        CHECK(flag == ~0);
        history = (int)((unsigned)history * 31u + (unsigned)rc);
        if (rand_r(&seed) % 4 == 0)
            OK(MPIX_Comm_failure_ack(world));
    }
    same(world, history);
}

/* ---- communicators of those that are left ---- */

/* It has the ranks from first on, in order, and works. */
static void check_made(MPI_Comm comm, int first)
{
    int n, at, sum = -1;
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Comm_rank(comm, &at));
    CHECK(n == size - first && at == rank - first);
    OK(MPI_Barrier(comm));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size * (size - 1) / 2 - first * (first - 1) / 2);
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, (at + 1) % n, TAG, &sum, 1, MPI_INT, (at + n - 1) % n, TAG, comm,
                    MPI_STATUS_IGNORE));
    CHECK(sum == first + (at + n - 1) % n);
}

/* The lowest rank dies, again and again, until one is left. */
static void chain(void)
{
    MPI_Comm comm = copy_of(world), next;
    same(world, 1); /* nobody dies before all have the copy */
    for (int first = 1; first < size; first++) {
        if (rank == first - 1)
            die();
        int rc;
        while (!(rc = MPI_Barrier(comm)))
            ;
        CHECK(class_of(rc) == MPIX_ERR_PROC_FAILED || class_of(rc) == MPIX_ERR_REVOKED);
        OK(MPIX_Comm_revoke(comm));
        OK(MPIX_Comm_shrink(comm, &next));
        OK(MPI_Comm_free(&comm));
        comm = next;
        check_made(comm, first);
        same(comm, first); /* the next one does not die before all are here */
    }
    OK(MPI_Comm_free(&comm));
}

/* MPI_COMM_WORLD is shrunk, when two are gone, and not everybody knows of both. */
static void world_shrunk(void)
{
    MPI_Comm made, again;
    if (rank < 2)
        die();
    if (rank == size - 1)
        await_failures(MPI_COMM_WORLD, 2);
    OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &made));
    while (check_size(made) > size - 2) { /* someone has died after it had its say */
        OK(MPIX_Comm_shrink(made, &again));
        OK(MPI_Comm_free(&made));
        made = again;
    }
    check_made(made, 2);
    OK(MPI_Comm_free(&made));
}

/* Both groups of an intercommunicator, of which one member is gone. */
static void inter(void)
{
    MPI_Comm half, pair, made, all;
    int flag = 7, n, sum = -1, parity = rank % 2;
    OK(MPI_Comm_split(world, parity, rank, &half));
    OK(MPI_Intercomm_create(half, 0, world, !parity, TAG, &pair));
    OK(MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN));
    flag = 1 << rank | 1 << 20;
    OK(MPIX_Comm_agree(pair, &flag));
    CHECK(flag == 1 << 20);
    same(world, 1); /* rank 0 does not die before all are here */
    if (rank == 0)
        die();
    await_failures(pair, 1);
    flag = 3;
    FAILS(MPIX_ERR_PROC_FAILED, MPIX_Comm_agree(pair, &flag));
    CHECK(flag == 3);
    OK(MPIX_Comm_revoke(pair));
    OK(MPIX_Comm_shrink(pair, &made));
    OK(MPI_Comm_remote_size(made, &n));
    CHECK(n == (parity ? (size + 1) / 2 - 1 : size / 2));
    OK(MPI_Barrier(made));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made));
    int other = 0;
    for (int i = 1; i < size; i++)
        other += i % 2 != parity ? i : 0;
    CHECK(sum == other);
    OK(MPI_Intercomm_merge(made, parity, &all));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, all));
    CHECK(sum == size * (size - 1) / 2);
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_free(&made));
    OK(MPI_Comm_free(&pair));
    OK(MPI_Comm_free(&half));
}

/* ---- the last agreement ---- */

/* Rank 1 has had its say, and dies before it passes the result on. Those that have the result are in MPI_Finalize by
 * then, and those below rank 1 get the same. */
static void last_agreed(void)
{
    enum { ONE = 2, MEANWHILE_US = 300000 };
    int flag = rank ? ~0 : ONE, done = 0, rc;
    MPI_Request request;
    if (rank == 2)
        OK(MPI_Recv(NULL, 0, MPI_INT, 1, TAG, world, MPI_STATUS_IGNORE));
    OK(MPIX_Comm_iagree(world, &flag, &request));
    if (rank == 1) {
        for (int us = 0; us < MEANWHILE_US; us += 1000) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            usleep(1000);
        }
        OK(MPI_Send(NULL, 0, MPI_INT, 2, TAG, world));
        usleep(MEANWHILE_US);
        die();
    }
    rc = class_of(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(rc == MPI_SUCCESS || rc == MPIX_ERR_PROC_FAILED);
    CHECK(flag == ONE);
}

/* Rank 0 has agreed upon so much since with another rank that it has forgotten what it has agreed upon with rank 1. */
static void forgotten(void)
{
    enum { MANY = 80 };
    MPI_Comm pair, comm;
    for (int other = 1; other < 3; other++) {
        int is_in = rank == 0 || rank == other;
        OK(MPI_Comm_split(world, is_in ? 0 : MPI_UNDEFINED, rank, &pair));
        for (int i = 0; is_in && i < (other == 1 ? 1 : MANY); i++) {
            int flag = 1;
            OK(MPI_Comm_dup(pair, &comm));
            OK(MPIX_Comm_agree(comm, &flag));
            OK(MPI_Comm_free(&comm));
        }
        if (is_in)
            OK(MPI_Comm_free(&pair));
    }
}

/* ---- main ---- */

static const struct scenario {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"known", known},
    {"order", order},
    {"two", two},
    {"told_late", told_late},
    {"revoked", revoked},
    {"interrupted", interrupted},
    {"crossing", crossing},
    {"revoke_and_die", revoke_and_die},
    {"agreed", agreed},
    {"acknowledged", acknowledged},
    {"told_by_agreement", told_by_agreement},
    {"dying", dying},
    {"chain", chain},
    {"world_shrunk", world_shrunk},
    {"inter", inter},
    {"last_agreed", last_agreed},
    {"forgotten", forgotten},
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
    size_t i = 0;
    while (i < sizeof(scenarios) / sizeof(*scenarios) && strcmp(scenarios[i].name, argv[1]))
        i++;
    CHECK(i < sizeof(scenarios) / sizeof(*scenarios));
    scenarios[i].run();
    MPI_Finalize();
    printf("ok\n");
    return 0;
}
