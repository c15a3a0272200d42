/* SPDX-License-Identifier: BSD-3-Clause */

/* A child that was forked reads memory of MPI_Alloc_mem as its parent has it, and what it writes
 * there changes neither the parent's window nor what others see of it. */
#include <sys/wait.h>
#include <unistd.h>

#include "windows.h"

enum {
    NUMBERS = 3000, /* several pages */
    CHILDREN = 3
};

static void have_child(const struct window *w, long value)
{
    int status = -1;
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        int good = w->mine[0] == value && w->mine[NUMBERS - 1] == value;
        for (int i = 0; i < NUMBERS; i++)
            w->mine[i] = -1;
        _exit(good ? 7 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD), next = (rank + 1) % check_size(MPI_COMM_WORLD);
    struct window w = window_open(MPI_COMM_WORLD, WINDOW_ALLOC, NUMBERS);
    for (int n = 1; n <= CHILDREN; n++) {
        long got[2] = {0, 0};
        for (int i = 0; i < NUMBERS; i++)
            w.mine[i] = n;
        OK(MPI_Win_fence(0, w.win));
        have_child(&w, n);
        OK(MPI_Win_fence(0, w.win));
        OK(MPI_Get(got, 1, MPI_LONG, next, 0, 1, MPI_LONG, w.win));
        OK(MPI_Get(got + 1, 1, MPI_LONG, next, NUMBERS - 1, 1, MPI_LONG, w.win));
        OK(MPI_Win_fence(0, w.win));
        CHECK(got[0] == n && got[1] == n);
        for (int i = 0; i < NUMBERS; i++)
            CHECK(w.mine[i] == n);
    }
    window_close(&w);
    OK(MPI_Finalize());
    return 0;
}
