/* SPDX-License-Identifier: BSD-3-Clause */

/* A receive from any process does not fail where the others have left MPI properly before their cards have come: another
 * thread of this process may still send. */
#include <pthread.h>
#include <time.h>

#include "check.h"

static void *send_late(void *arg)
{
    const struct timespec pause = {.tv_nsec = 500000000};
    nanosleep(&pause, NULL);
    OK(MPI_Send(arg, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    return NULL;
}

int main(int argc, char **argv)
{
    int level, out = 7, in = 0;
    pthread_t thread;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
    if (check_rank(MPI_COMM_WORLD) == 0) {
        CHECK(!pthread_create(&thread, NULL, send_late, &out));
        OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(in == out && !pthread_join(thread, NULL));
    }
    OK(MPI_Finalize());
    return 0;
}
