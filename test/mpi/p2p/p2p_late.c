/* SPDX-License-Identifier: BSD-3-Clause */

/* Who is late gets its messages all the same: a process that computes before its first
 * communication answers no connection, for longer than one may take to be made
 * (VIREO_CONNECT_TIMEOUT_MS, which the test sets below the delay). */
#include <time.h>

#include "check.h"

enum { COUNT = 100000 };

static int out[COUNT], in[COUNT];

static void compute(void)
{
    struct timespec delay = {0, 800000000};
    nanosleep(&delay, NULL);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD), last = check_size(MPI_COMM_WORLD) - 1;
    for (int i = 0; i < COUNT; i++)
        out[i] = i;
    if (rank == last) {
        compute();
        for (int i = 0; i < last; i++) {
            OK(MPI_Recv(in, COUNT, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(in[COUNT - 1] == COUNT - 1);
            OK(MPI_Send(&rank, 1, MPI_INT, i, 1, MPI_COMM_WORLD));
        }
    } else {
        OK(MPI_Send(out, COUNT, MPI_INT, last, 0, MPI_COMM_WORLD));
        OK(MPI_Recv(in, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(in[0] == last);
    }
    OK(MPI_Finalize());
    return 0;
}
