/* SPDX-License-Identifier: BSD-3-Clause */

/* Two processes call each other first, and one of them does not run for longer than a call may take. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { STOPPED_MS = 2500, FIRST_MS = 300 };

static void pause_ms(int ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* A process that has this one go on once it has been told to; returns where to tell it. */
static int begin_helper(void)
{
    int ends[2];
    char byte;
    CHECK(!pipe(ends));
    pid_t helper = fork();
    CHECK(helper >= 0);
    if (!helper) {
        close(ends[1]);
        if (read(ends[0], &byte, 1) == 1)
            pause_ms(STOPPED_MS);
        kill(getppid(), SIGCONT);
        _exit(0);
    }
    close(ends[0]);
    return ends[1];
}

int main(int argc, char **argv)
{
    int helper = begin_helper(), sent = 17, got = 0;
    MPI_Request request;
    OK(MPI_Init(&argc, &argv));
    CHECK(check_size(MPI_COMM_WORLD) == 2);
    int other = 1 - check_rank(MPI_COMM_WORLD);
    if (other)
        pause_ms(FIRST_MS);
    OK(MPI_Isend(&sent, 1, MPI_INT, other, 0, MPI_COMM_WORLD, &request));
    if (!other) {
        CHECK(write(helper, "", 1) == 1);
        CHECK(!raise(SIGSTOP));
    }
    OK(MPI_Recv(&got, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(got == sent);
    OK(MPI_Finalize());
    return 0;
}
