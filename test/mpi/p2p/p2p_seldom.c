/* SPDX-License-Identifier: BSD-3-Clause */

/* A process looks at its connections seldom, and may have few. Another tries its addresses
 * (VIREO_TCP_ADDRESSES, which the test sets to many) meanwhile: not all at once, as somebody listens at the
 * first. Not all these connections are kept, but one of them must lead to it. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { DESCRIPTORS = 64, CONNECTS = 8 };

static int look_seldom(void)
{
    struct timespec delay = {1, 500000000};
    int found = 0;
    nanosleep(&delay, NULL);
    for (double end = MPI_Wtime() + 0.02; !found && MPI_Wtime() < end;)
        OK(MPI_Iprobe(0, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
    return found;
}

static int count_sockets(void)
{
    int count = 0;
    for (int fd = 0; fd < DESCRIPTORS; fd++) {
        char path[32], leads_to[8] = "";
        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        count += readlink(path, leads_to, sizeof(leads_to) - 1) > 0 && !strcmp(leads_to, "socket:");
    }
    return count;
}

/* A first message, whose receiver does not look yet. */
static void send_value(int value)
{
    MPI_Request request;
    int before = count_sockets(), done = 0;
    OK(MPI_Isend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request));
    for (double end = MPI_Wtime() + 1; !done && MPI_Wtime() < end;)
        OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    CHECK(count_sockets() - before <= CONNECTS);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    struct rlimit limit = {DESCRIPTORS, DESCRIPTORS};
    CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD), value = 5;
    if (rank == 0) {
        send_value(value);
    } else if (rank == 1) {
        while (!look_seldom())
            ;
        OK(MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(value == 5);
    }
    OK(MPI_Finalize());
    return 0;
}
