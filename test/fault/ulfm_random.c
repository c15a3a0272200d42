/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A random program that goes on with those that are left: rounds of messages and collectives, until the
 * work is done. Ranks kill themselves or exit at random calls and random instants. Survivors revoke, agree and
 * shrink, and check that what they have agreed upon is the same everywhere.
 *
 * usage: ulfm_random SEED DEATHS [ROUNDS]
 *
 * Prints "ok NUMBER" from each survivor; the number is the same at all. With ROUNDS rank 0 says "begun" on stderr, once
 * all ranks go on after failures.
 */
#include <mpi-ext.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { CALLS = 6, LARGE = 20000, TAG = 3, DEAD = 3, GIVE_UP_S = 100, RANKS_MAX = 64 };

static int me, ranks; /* in MPI_COMM_WORLD */
static unsigned common, own; /* seeds: the same at all, and this rank's */
static unsigned long seed;
static int rounds = 12;
static int death = -1;       /* the call at which this rank dies; -1: never */
static int calls;
static int data[LARGE], into[LARGE];

static void fail(const char *what, int line)
{
    fprintf(stderr, "ulfm_random: seed %lu, rank %d, line %d: not so: %s\n", seed, me, line, what);
    _exit(99);
}

static int tolerated(int rc, int line)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, length;
    MPI_Error_class(rc, &class);
    if (class == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED ||
        class == MPIX_ERR_PROC_FAILED_PENDING)
        return 1;
    MPI_Error_string(rc, text, &length);
    fail(text, line);
    return 0;
}
#define is_tolerated(rc) tolerated(rc, __LINE__)

#define CHECK(truth)            \
    do {                        \
        if (!(truth))           \
            fail(#truth, __LINE__); \
    } while (0)

static int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

static int exits; /* the rank that dies does not kill itself */

static void die(void)
{
    if (exits)
        _exit(DEAD);
    raise(SIGKILL);
}

/* Some die within the next call, a little later: SIGALRM does it. */
static void on_alarm(int signal)
{
    (void)signal;
    die();
}

static void maybe_die(void)
{
    if (calls++ != death)
        return;
    exits = rand_r(&own) % 3 == 0;
    if (rand_r(&own) % 2)
        die();
    struct itimerval soon = {.it_value = {0, 1 + rand_r(&own) % 2000}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &soon, NULL);
}

static int size_of(MPI_Comm comm)
{
    int n = -1;
    MPI_Comm_size(comm, &n);
    return n;
}

static int rank_of(MPI_Comm comm)
{
    int n = -1;
    MPI_Comm_rank(comm, &n);
    return n;
}

/* ---- what a round does ---- */

/* Each to the next; any: from any rank. */
static int ring(MPI_Comm comm, int count, int any)
{
    int n = size_of(comm), at = rank_of(comm), left = (at + n - 1) % n;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int rc = MPI_Irecv(into, count, MPI_INT, any ? MPI_ANY_SOURCE : left, TAG + any, comm, &requests[0]);
    if (rc)
        return rc;
    rc = MPI_Isend(data, count, MPI_INT, (at + 1) % n, TAG + any, comm, &requests[1]);
    if (rc) {
        MPI_Cancel(&requests[0]);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        return rc;
    }
    int wrong = MPI_SUCCESS;
    for (int i = 0; i < 2; i++) {
        rc = MPI_Wait(&requests[i], &statuses[i]);
        CHECK(is_tolerated(rc));
        wrong = rc ? rc : wrong;
        if (requests[i] != MPI_REQUEST_NULL) { /* from any, and one is gone */
            CHECK(class_of(rc) == MPIX_ERR_PROC_FAILED_PENDING);
            MPI_Cancel(&requests[i]);
            rc = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
            CHECK(requests[i] == MPI_REQUEST_NULL && is_tolerated(rc));
        }
    }
    return wrong;
}

static int nonblocking(MPI_Comm comm)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int started = 0, rc = MPI_Ibarrier(comm, &requests[0]);
    started += !rc;
    if (!rc)
        started += !(rc = MPI_Iallreduce(data, into, 1000, MPI_INT, MPI_SUM, comm, &requests[1]));
    if (!rc)
        started += !(rc = MPI_Ibcast(into + 2000, 500, MPI_INT, 0, comm, &requests[2]));
    int waited = MPI_Waitall(started, requests, statuses);
    if (class_of(waited) != MPI_ERR_IN_STATUS)
        return rc ? rc : waited;
    for (int i = 0; i < started; i++)
        CHECK(is_tolerated(statuses[i].MPI_ERROR));
    return MPIX_ERR_PROC_FAILED;
}

/* It may be made at some and fail at others, who will not come to a call of it. */
static int split(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    int rc = MPI_Comm_split(comm, rank_of(comm) % 2, 0, &made);
    if (!rc)
        MPI_Comm_free(&made);
    return rc;
}

/* Its results are checked where it succeeds. */
static int sum(MPI_Comm comm, int count)
{
    int n = size_of(comm);
    for (int i = 0; i < count; i++)
        data[i] = i % 7 + 1;
    int rc = MPI_Allreduce(data, into, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count && !rc; i += 97)
        CHECK(into[i] == n * (i % 7 + 1));
    return rc;
}

static int call(MPI_Comm comm, unsigned which)
{
    maybe_die();
    switch (which % 9) {
    case 0: return ring(comm, 1, 0);
    case 1: return ring(comm, LARGE, 0);
    case 2: return ring(comm, 10, 1);
    case 3: return MPI_Barrier(comm);
    case 4: return sum(comm, 1);
    case 5: return sum(comm, LARGE);
    case 6: return nonblocking(comm);
    case 7: return split(comm);
    default: return MPI_Bcast(into, 3000, MPI_INT, (int)(which / 9) % size_of(comm), comm);
    }
}

/* ---- going on ---- */

static int agree(MPI_Comm comm, int *flag)
{
    int rc;
    if (rand_r(&own) % 2) {
        rc = MPIX_Comm_agree(comm, flag);
    } else {
        MPI_Request request;
        rc = MPIX_Comm_iagree(comm, flag, &request);
        CHECK(!rc);
        maybe_die();
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    int class = class_of(rc);
    CHECK(class == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED);
    return class;
}

/* All that are left have the same number. */
static void same(MPI_Comm comm, int number)
{
    int one = number, other = ~number;
    (void)agree(comm, &one);
    (void)agree(comm, &other);
    CHECK(one == number && other == ~number);
}

static MPI_Comm shrink(MPI_Comm comm)
{
    MPI_Comm next = MPI_COMM_NULL;
    MPI_Group was, is, common_group;
    int n, rc;
    maybe_die();
    if (rand_r(&own) % 2) {
        rc = MPIX_Comm_shrink(comm, &next);
    } else {
        MPI_Request request;
        rc = MPIX_Comm_ishrink(comm, &next, &request);
        CHECK(!rc);
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK(!rc && next != MPI_COMM_NULL);
    MPI_Comm_group(comm, &was);
    MPI_Comm_group(next, &is);
    MPI_Group_intersection(was, is, &common_group); /* in the order of the first */
    MPI_Group_compare(common_group, is, &n);
    CHECK(n == MPI_IDENT);
    MPI_Group_free(&was);
    MPI_Group_free(&is);
    MPI_Group_free(&common_group);
    MPI_Comm_set_errhandler(next, MPI_ERRORS_RETURN);
    return next;
}

/* One round. Returns whether all are done with it, on which all agree. */
static int round_of(MPI_Comm comm, unsigned plan)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < CALLS && !rc; i++) {
        rc = call(comm, plan + (unsigned)i * 7919u);
        CHECK(is_tolerated(rc));
    }
    if (rc && rand_r(&own) % 8)
        usleep((unsigned)rand_r(&own) % 500);
    if (rc)
        MPIX_Comm_revoke(comm);
    maybe_die();
    if (rand_r(&own) % 2)
        MPIX_Comm_failure_ack(comm);
    int flag = rc == MPI_SUCCESS, class = agree(comm, &flag);
    same(comm, flag * 1000 + class);
    return flag && class == MPI_SUCCESS;
}

static void plan_deaths(int deaths)
{
    unsigned dice = common;
    for (int i = 0; i < deaths; i++) {
        int victim = rand_r(&dice) % ranks, when = rand_r(&dice) % (rounds * (CALLS + 2));
        if (victim == me)
            death = when;
    }
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    CHECK((argc == 3 || argc == 4) && ranks <= RANKS_MAX);
    rounds = argc == 4 ? atoi(argv[3]) : rounds;
    common = (unsigned)seed * 2654435761u + 1;
    own = common ^ (unsigned)me * 40503u;
    alarm(GIVE_UP_S);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rc = MPI_Barrier(MPI_COMM_WORLD); /* nobody dies before it has said that it goes on */
    CHECK(!rc);
    rc = MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    CHECK(!rc);
    (void)MPI_Barrier(MPI_COMM_WORLD); /* a rank that dies has left it, so all have the other one */
    plan_deaths(atoi(argv[2]));
    if (argc == 4 && !me)
        fprintf(stderr, "begun\n");
    int done = 0, number = 0;
    for (int i = 0; done < rounds; i++) {
        CHECK(i < rounds + 2 * RANKS_MAX);
        unsigned plan = common + (unsigned)done * 104729u;
        if (round_of(comm, plan)) {
            done++;
            number = (int)((unsigned)number * 31u + (unsigned)size_of(comm));
        } else {
            MPI_Comm next = shrink(comm);
            MPI_Comm_free(&comm);
            comm = next;
        }
    }
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {GIVE_UP_S, 0}}, NULL);
    signal(SIGALRM, SIG_DFL); /* whoever is here lives */
    same(comm, number);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    printf("ok %d\n", number);
    return 0;
}
