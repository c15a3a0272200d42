/* SPDX-License-Identifier: BSD-3-Clause */

/* A process that waits for a message that comes late sleeps meanwhile: it wakes seldom, not each millisecond.
 * So does one whose messages find no room, as their receiver is away, and one that waits for the card of a
 * process that begins late. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "check.h"

enum {
    LATE_MS = 1000,
    WAKES_MOST = 400,
    AWAKE_MS = 120, /* processor time of the sender while the receiver is away, at most */
    MESSAGES = 1500,
    LEN = 16000
};

static long wakes_so_far(void)
{
    struct rusage used;
    CHECK(!getrusage(RUSAGE_SELF, &used));
    return used.ru_nvcsw;
}

static void wait_for_late(void)
{
    long before = wakes_so_far();
    OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(wakes_so_far() - before <= WAKES_MOST);
}

/* The links are there, and nothing is heard of this process for a while. */
static void be_away(void)
{
    struct timespec late = {LATE_MS / 1000, LATE_MS % 1000 * 1000000};
    OK(MPI_Barrier(MPI_COMM_WORLD));
    nanosleep(&late, NULL);
}

static void send_late(int to)
{
    be_away();
    OK(MPI_Send(NULL, 0, MPI_BYTE, to, 1, MPI_COMM_WORLD));
}

static double used_ms(void)
{
    struct timespec t;
    CHECK(!clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t));
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* More than there is room for: the last goes when the receiver is back. */
static void send_many(void)
{
    static char bytes[LEN];
    static MPI_Request requests[MESSAGES];
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < MESSAGES; i++)
        OK(MPI_Isend(bytes, LEN, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[i]));
    double before_ms = used_ms();
    OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)); /* it begins */
    double used = used_ms() - before_ms;
    if (used > AWAKE_MS)
        fprintf(stderr, "%.0f ms of processor time\n", used);
    CHECK(used <= AWAKE_MS);
    OK(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
}

static void receive_many(void)
{
    static char bytes[LEN];
    be_away();
    OK(MPI_Send(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD));
    for (int i = 0; i < MESSAGES; i++)
        OK(MPI_Recv(bytes, LEN, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void begin_late(void)
{
    const struct timespec late = {LATE_MS / 1000, LATE_MS % 1000 * 1000000};
    const char *rank = getenv("BNR_RANK");
    if (rank && !strcmp(rank, "1"))
        nanosleep(&late, NULL);
}

static void wait_for_card(void)
{
    long before = wakes_so_far();
    OK(MPI_Ssend(NULL, 0, MPI_BYTE, 1, 4, MPI_COMM_WORLD));
    CHECK(wakes_so_far() - before <= WAKES_MOST);
}

int main(int argc, char **argv)
{
    begin_late();
    OK(MPI_Init(&argc, &argv));
    CHECK(check_size(MPI_COMM_WORLD) == 2);
    if (check_rank(MPI_COMM_WORLD) == 0) {
        wait_for_card();
        send_late(1);
        send_many();
    } else {
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        wait_for_late();
        receive_many();
    }
    OK(MPI_Finalize());
    return 0;
}
