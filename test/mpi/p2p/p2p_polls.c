/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Programs that poll let others run where ranks share a processor: a token goes round, each rank
 * looks for it in a loop, by each of the calls that look, and few looks are in vain. Besides, ranks
 * that poll leave the processor to one that computes. Looks and processor time are counted, since
 * the machine may be busy with other things. A loop of probes lets a collective go on, too.
 *
 * Hydra starts each rank in a session of its own. Where the kernel schedules sessions apart, no yield
 * lets another rank run, and nothing is counted.
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../check.h"

enum {
    ROUNDS = 40,
    POLLS = 400,   /* a hop, on average; a rank that keeps the processor makes thousands */
    WORK_MS = 150, /* processor time of the one that computes */
    PARTS = 2
};

enum way {
    TEST,
    TESTALL,
    TESTANY,
    TESTSOME,
    STATUS,
    STATUS_ALL,
    STATUS_ANY,
    STATUS_SOME,
    IPROBE,
    IMPROBE,
    BARRIER,
    PARRIVED,
    WAYS
};

static int rank, size, left, right;

/* Whether the kernel schedules each session by itself: then a yield lets none but its own session run. */
static int parts_sessions(void)
{
    FILE *file = fopen("/proc/sys/kernel/sched_autogroup_enabled", "re");
    int enabled = file && fgetc(file) == '1';
    if (file)
        fclose(file);
    return enabled;
}

/* All ranks on one processor, the first that rank 0 may use: launchers may have bound each to another. Returns whether
 * yields of each let the others run there. */
static int share_processor(void)
{
    cpu_set_t may, one;
    int said[2] = {0, (int)getsid(0)}, shares, all = 0;
    if (!rank && sched_getaffinity(0, sizeof(may), &may) == 0)
        while (said[0] < CPU_SETSIZE - 1 && !CPU_ISSET(said[0], &may))
            said[0]++;
    OK(MPI_Bcast(said, 2, MPI_INT, 0, MPI_COMM_WORLD));
    CPU_ZERO(&one);
    CPU_SET(said[0], &one);
    shares = !sched_setaffinity(0, sizeof(one), &one) && (said[1] == (int)getsid(0) || !parts_sessions());
    OK(MPI_Allreduce(&shares, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    return all;
}

/* Whether a request is over; where the call leaves it, a test follows. */
static int is_over(enum way way, MPI_Request *request)
{
    int flag = 0, index, count = 0;
    switch (way) {
    case TESTALL: OK(MPI_Testall(1, request, &flag, MPI_STATUSES_IGNORE)); break;
    case TESTANY: OK(MPI_Testany(1, request, &index, &flag, MPI_STATUS_IGNORE)); break;
    case TESTSOME: OK(MPI_Testsome(1, request, &count, &index, MPI_STATUSES_IGNORE)); break;
    case STATUS: OK(MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE)); break;
    case STATUS_ALL: OK(MPI_Request_get_status_all(1, request, &flag, MPI_STATUSES_IGNORE)); break;
    case STATUS_ANY:
        OK(MPI_Request_get_status_any(1, request, &index, &flag, MPI_STATUS_IGNORE));
        break;
    case STATUS_SOME:
        OK(MPI_Request_get_status_some(1, request, &count, &index, MPI_STATUSES_IGNORE));
        break;
    default: OK(MPI_Test(request, &flag, MPI_STATUS_IGNORE)); break;
    }
    flag |= count;
    if (flag && *request != MPI_REQUEST_NULL)
        OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    return flag;
}

/* Receive the token. Returns how often it was looked for in vain. */
static long await(enum way way, int *token)
{
    long polls = 0;
    int flag = 0;
    MPI_Request request;
    MPI_Message message;
    switch (way) {
    case IPROBE:
        for (;; polls++) {
            OK(MPI_Iprobe(left, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            if (flag)
                break;
        }
        OK(MPI_Recv(token, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        return polls;
    case IMPROBE:
        for (;; polls++) {
            OK(MPI_Improbe(left, 0, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE));
            if (flag)
                break;
        }
        OK(MPI_Mrecv(token, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
        return polls;
    default:
        OK(MPI_Irecv(token, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &request));
        while (!is_over(way, &request))
            polls++;
        return polls;
    }
}

static long pass_token(enum way way)
{
    int token = 0;
    long polls = 0;
    for (int i = 0; i < ROUNDS; i++) {
        if (!rank)
            OK(MPI_Send(&i, 1, MPI_INT, right, 0, MPI_COMM_WORLD));
        polls += await(way, &token);
        CHECK(token == i);
        if (rank)
            OK(MPI_Send(&token, 1, MPI_INT, right, 0, MPI_COMM_WORLD));
    }
    return polls;
}

static long meet(void)
{
    long polls = 0;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request request;
        OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
        while (!is_over(TEST, &request))
            polls++;
    }
    return polls;
}

static long pass_parts(void)
{
    int out[PARTS] = {1, 2}, in[PARTS];
    long polls = 0;
    MPI_Request requests[2];
    OK(MPI_Psend_init(out, PARTS, 1, MPI_INT, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[0]));
    OK(MPI_Precv_init(in, PARTS, 1, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
    for (int i = 0; i < ROUNDS; i++) {
        OK(MPI_Startall(2, requests));
        OK(MPI_Pready_range(0, PARTS - 1, requests[0]));
        for (int flag = 0; !flag; polls++)
            OK(MPI_Parrived(requests[1], PARTS - 1, &flag));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    return polls;
}

static void check_turns(void)
{
    for (int way = 0; way < WAYS; way++) {
        long polls = way == BARRIER    ? meet()
                     : way == PARRIVED ? pass_parts()
                                       : pass_token(way),
             all = 0;
        OK(MPI_Allreduce(&polls, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
        if (!rank && all > (long)POLLS * ROUNDS * size) {
            fprintf(stderr, "way %d: %ld polls a hop\n", way, all / ROUNDS / size);
            CHECK(!"few polls are in vain");
        }
    }
}

static double used_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Ranks that poll for a message of one that computes take little of its processor. */
static void check_computing(void)
{
    double began_ms = used_ms(), mine_ms, all_ms = 0;
    MPI_Request request;
    int token = 0;
    if (!rank) {
        while (used_ms() - began_ms < WORK_MS) {
        }
        for (int i = 1; i < size; i++)
            OK(MPI_Send(&token, 1, MPI_INT, i, 2, MPI_COMM_WORLD));
    } else {
        OK(MPI_Irecv(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request));
        while (!is_over(TEST, &request)) {
        }
    }
    mine_ms = rank ? used_ms() - began_ms : 0;
    OK(MPI_Reduce(&mine_ms, &all_ms, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
    CHECK(all_ms < WORK_MS);
}

/* Probes alone let a nonblocking collective go on: the message comes when that is over. */
static void check_collective(void)
{
    MPI_Request request;
    int flag = 0, token = 0;
    OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    if (!rank) {
        while (!flag)
            OK(MPI_Iprobe(1, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        OK(MPI_Recv(&token, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (rank == 1)
        OK(MPI_Send(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    rank = check_rank(MPI_COMM_WORLD);
    size = check_size(MPI_COMM_WORLD);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    int shares = share_processor();
    check_collective();
    if (shares) {
        check_turns();
        check_computing();
    }
    OK(MPI_Finalize());
    return 0;
}
