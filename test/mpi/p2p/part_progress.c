/* SPDX-License-Identifier: BSD-3-Clause */

/* A partitioned receive goes on in whatever call its process is, also where it was started
 * before its sender was even initialized. */
#include "threads.h"

enum {
    PARTS = 4,
    LEN = 200000,
    LATE_MS = 50,
    GO_ON = 9
};

static int out[PARTS * LEN], in[PARTS * LEN];

static void sender(void)
{
    MPI_Request request;
    int done = 1;
    for (int i = 0; i < PARTS * LEN; i++)
        out[i] = i;
    threads_pause(LATE_MS); /* the receiver sleeps in its receive by now */
    OK(MPI_Psend_init(out, PARTS, LEN, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    OK(MPI_Start(&request));
    OK(MPI_Pready_range(0, PARTS - 1, request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request));
    OK(MPI_Send(&done, 1, MPI_INT, 1, GO_ON, MPI_COMM_WORLD));
}

static void receiver(void)
{
    MPI_Request request;
    int done = 0;
    OK(MPI_Precv_init(in, PARTS, LEN, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request));
    OK(MPI_Start(&request));
    OK(MPI_Recv(&done, 1, MPI_INT, 0, GO_ON, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < PARTS * LEN; i++)
        CHECK(in[i] == i);
    OK(MPI_Request_free(&request));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    if (check_rank(MPI_COMM_WORLD))
        receiver();
    else
        sender();
    OK(MPI_Finalize());
    return 0;
}
