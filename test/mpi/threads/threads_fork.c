/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads that fork() at the same time, with messages in between: each goes on. */
#include <sys/wait.h>
#include <unistd.h>

#include "threads.h"

enum {
    FORKS = 150
};

static void have_child(void)
{
    int status = -1;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child)
        _exit(7);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void *fork_and_talk(void *arg)
{
    const struct thread *me = arg;
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    for (int i = 0; i < FORKS; i++) {
        int mine = i * 100 + rank, from = -1;
        have_child();
        OK(MPI_Sendrecv(&mine, 1, MPI_INT, right, me->number, &from, 1, MPI_INT, left, me->number,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(from == i * 100 + left);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct thread threads[THREADS];
    threads_init(&argc, &argv);
    threads_run(threads, THREADS, fork_and_talk);
    MPI_Finalize();
    return 0;
}
