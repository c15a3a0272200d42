/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Connections break between ranks that all live, and ranks are stopped, while the others agree. It is over tcp
 * that each connection is a descriptor of its own, which a rank can shut.
 *
 * usage: parted SCENARIO
 *
 * SCENARIO is one of scenarios[] at the end. Prints "ok LEFT MS" from each rank that is left: the number of
 * those, and how long the agreement took.
 */
#include <mpi-ext.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TAG = 7, GIVE_UP_S = 60, FDS = 256, ENDS = 16 };

static int rank, size;

static void require(int truth, const char *what, int line)
{
    if (truth)
        return;
    fprintf(stderr, "parted: rank %d, line %d: not so: %s\n", rank, line, what);
    _exit(99);
}

#define CHECK(what) require(!!(what), #what, __LINE__)
#define OK(call)    require((call) == MPI_SUCCESS, #call, __LINE__)

/* Shut all connections of this process, which are so many. */
static void shut_all(int count)
{
    struct sockaddr_storage peer;
    for (int fd = 3; fd < FDS && count; fd++) {
        socklen_t len = sizeof(peer);
        if (!getpeername(fd, (struct sockaddr *)&peer, &len) && peer.ss_family == AF_INET)
            count -= !shutdown(fd, SHUT_RDWR);
    }
    CHECK(!count);
}

/* A message each way. */
static void meet(int other)
{
    int in = -1;
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, other, TAG, &in, 1, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(in == other);
}

/* A connection, as one of its two processes sees it. */
struct end {
    struct sockaddr_in mine, other;
};

static int is_same(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
    return a->sin_port == b->sin_port && a->sin_addr.s_addr == b->sin_addr.s_addr;
}

static int end_of(int fd, struct end *end)
{
    socklen_t mine = sizeof(end->mine), other = sizeof(end->other);
    return !getsockname(fd, (struct sockaddr *)&end->mine, &mine) &&
           !getpeername(fd, (struct sockaddr *)&end->other, &other) && end->other.sin_family == AF_INET;
}

/* Meet, and have this process shut the connection with the other one if it shuts. Ranks that agree already may have
 * called meanwhile, so each one tells its ends. */
static void part(int other, int shuts)
{
    struct end mine[ENDS] = {0}, theirs[ENDS], end;
    int shut = 0;
    meet(other);
    for (int fd = 3, n = 0; fd < FDS && n < ENDS; fd++)
        n += end_of(fd, &mine[n]);
    OK(MPI_Sendrecv(mine, sizeof(mine), MPI_BYTE, other, TAG, theirs, sizeof(theirs), MPI_BYTE, other, TAG, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    for (int fd = 3; shuts && fd < FDS; fd++)
        for (int i = 0; i < ENDS && end_of(fd, &end); i++)
            if (is_same(&end.mine, &theirs[i].other) && is_same(&end.other, &theirs[i].mine))
                shut += !shutdown(fd, SHUT_RDWR);
    CHECK(shut || !shuts);
}

/* Sooner or later all that are left agree that not all are there, and go on. An agreement before may need none of
 * the connections that are lost. */
static void go_on(void)
{
    MPI_Comm next;
    int flag = 7, left, sum, one = 1, rc;
    double start = MPI_Wtime();
    while (!(rc = MPIX_Comm_agree(MPI_COMM_WORLD, &flag)))
        CHECK(flag == 7);
    double took = MPI_Wtime() - start;
    CHECK(flag == 7);
    OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &next));
    OK(MPI_Comm_size(next, &left));
    CHECK(left < size);
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, next));
    CHECK(sum == left);
    OK(MPI_Comm_free(&next));
    OK(MPI_Finalize());
    printf("ok %d %.0f\n", left, took * 1e3);
    exit(0);
}

/* Ranks 1 and 2 lose each other; the others have no connection with them before. */
static void pair(void)
{
    if (rank == 1 || rank == 2)
        part(3 - rank, rank == 1);
    go_on();
}

/* Rank 0 loses all others, and nobody else loses anybody. */
static void lonely(void)
{
    for (int i = 0; i < size; i++)
        for (int j = 0; j < i; j++)
            if (rank == i || rank == j)
                meet(rank == i ? j : i);
    if (!rank)
        shut_all(size - 1);
    go_on();
}

/* The same, while rank 1 does something else for longer than it takes to decide. */
static void busy(void)
{
    if (rank < 2)
        part(1 - rank, !rank);
    if (rank)
        meet(3 - rank); /* so rank 2 calls rank 0 after that */
    if (rank == 1)
        sleep(3);
    go_on();
}

/* A rank that stands still has not failed: the others wait for it. */
static void stopped(void)
{
    int all = 1;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < i; j++)
            if (rank == i || rank == j)
                meet(rank == i ? j : i);
    if (rank == 1) {
        pid_t self = getpid(), child = fork();
        if (!child) {
            sleep(4);
            kill(self, SIGCONT);
            _exit(0);
        }
        kill(self, SIGSTOP);
        waitpid(child, NULL, 0);
    }
    double start = MPI_Wtime();
    OK(MPIX_Comm_agree(MPI_COMM_WORLD, &all));
    CHECK(all == 1 && (rank == 1 || MPI_Wtime() - start > 2));
    OK(MPI_Finalize());
    printf("ok %d %.0f\n", size, 0.0);
    exit(0);
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {{"pair", pair}, {"lonely", lonely}, {"busy", busy}, {"stopped", stopped}};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    alarm(GIVE_UP_S);
    for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
        if (argc == 2 && !strcmp(argv[1], scenarios[i].name))
            scenarios[i].run();
    fprintf(stderr, "parted: there is no such scenario\n");
    return 2;
}
