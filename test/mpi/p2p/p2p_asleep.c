/* SPDX-License-Identifier: BSD-3-Clause */

/* A process that waits for a message that comes late sleeps meanwhile: it wakes seldom, not each millisecond. */
#include <sys/resource.h>
#include <time.h>

#include "check.h"

enum { LATE_MS = 1000, WAKES_MOST = 400 };

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

static void send_late(int to)
{
    struct timespec late = {LATE_MS / 1000, LATE_MS % 1000 * 1000000};
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* the links are there */
    nanosleep(&late, NULL);
    OK(MPI_Send(NULL, 0, MPI_BYTE, to, 1, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    CHECK(check_size(MPI_COMM_WORLD) == 2);
    if (check_rank(MPI_COMM_WORLD) == 0) {
        send_late(1);
    } else {
        OK(MPI_Barrier(MPI_COMM_WORLD));
        wait_for_late();
    }
    OK(MPI_Finalize());
    return 0;
}
