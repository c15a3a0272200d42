/* SPDX-License-Identifier: BSD-3-Clause */

/* A process whose messages go to one that does not run, and that does not wait for them, uses no processor. */
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { SHORT = 8, LONG = 4096, IDLE_MS = 500, USED_MS = 100 };

static long used_ms(void)
{
    struct rusage used;
    CHECK(!getrusage(RUSAGE_SELF, &used));
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000 +
           (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
}

static void send_and_idle(int len)
{
    static char bytes[LONG];
    struct timespec idle = {0, IDLE_MS * 1000000};
    OK(MPI_Send(bytes, len, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
    long before = used_ms();
    nanosleep(&idle, NULL);
    CHECK(used_ms() - before <= USED_MS);
}

static void send_to_stopped(pid_t pid)
{
    CHECK(!kill(pid, SIGSTOP));
    send_and_idle(SHORT);
    send_and_idle(LONG);
    CHECK(!kill(pid, SIGCONT));
}

int main(int argc, char **argv)
{
    char bytes[LONG];
    int pid = (int)getpid();
    OK(MPI_Init(&argc, &argv));
    CHECK(check_size(MPI_COMM_WORLD) == 2);
    if (check_rank(MPI_COMM_WORLD) == 0) {
        OK(MPI_Recv(&pid, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        send_to_stopped(pid);
    } else {
        OK(MPI_Send(&pid, 1, MPI_INT, 0, 2, MPI_COMM_WORLD));
        OK(MPI_Recv(bytes, LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv(bytes, LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    OK(MPI_Finalize());
    return 0;
}
