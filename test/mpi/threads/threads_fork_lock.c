/* SPDX-License-Identifier: BSD-3-Clause */

/* A lock of the program is held around MPI calls by one thread, and taken by a fork handler that
 * was registered before MPI_Init, while another thread forks. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { FORKS = 30, PAUSE_US = 1000 };

static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool over;

static void take(void)
{
    pthread_mutex_lock(&own);
}

static void give(void)
{
    pthread_mutex_unlock(&own);
}

static void *exchange(void *arg)
{
    int out = 1, in;
    while (!over) {
        take();
        OK(MPI_Sendrecv(&out, 1, MPI_INT, 0, 0, &in, 1, MPI_INT, 0, 0, MPI_COMM_SELF,
                        MPI_STATUS_IGNORE));
        give();
    }
    return arg;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread;
    CHECK(!pthread_atfork(take, give, give));
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    CHECK(!pthread_create(&thread, NULL, exchange, NULL));
    for (int i = 0; i < FORKS; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (!pid)
            _exit(0);
        CHECK(waitpid(pid, NULL, 0) == pid);
        usleep(PAUSE_US);
    }
    over = true;
    CHECK(!pthread_join(thread, NULL));
    OK(MPI_Finalize());
    return 0;
}
