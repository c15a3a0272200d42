/* SPDX-License-Identifier: BSD-3-Clause */

/* A process looks at its connections seldom, and may have few. Another has tried all its addresses
 * (VIREO_TCP_ADDRESSES, which the test sets to many) meanwhile. Not all these connections are kept,
 * but one of them must lead to it. */
#include <sys/resource.h>
#include <time.h>

#include "check.h"

enum { DESCRIPTORS = 64 };

static int look_seldom(void)
{
    struct timespec delay = {1, 500000000};
    int found = 0;
    nanosleep(&delay, NULL);
    for (double end = MPI_Wtime() + 0.02; !found && MPI_Wtime() < end;)
        OK(MPI_Iprobe(0, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE));
    return found;
}

int main(int argc, char **argv)
{
    struct rlimit limit = {DESCRIPTORS, DESCRIPTORS};
    CHECK(!setrlimit(RLIMIT_NOFILE, &limit));
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD), value = 5;
    if (rank == 0) {
        OK(MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD));
    } else if (rank == 1) {
        while (!look_seldom())
            ;
        OK(MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(value == 5);
    }
    OK(MPI_Finalize());
    return 0;
}
