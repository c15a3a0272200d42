/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * All ranks send to all, in rounds, and look at what has come. One of them may be killed from outside
 * at any moment of it; then the others see the error, and end well.
 *
 * usage: storm COUNT ROUNDS [VICTIM DELAY_US]
 *
 * COUNT: bytes to each rank. Prints "ok" from each rank, at the end of the rounds; of those that
 * survive, "survived".
 */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { GIVE_UP_S = 40 };

static int rank, size, count;
static uint8_t *out, *in;

static void require(int truth, const char *what)
{
    if (truth)
        return;
    fprintf(stderr, "storm: rank %d: %s\n", rank, what);
    _exit(99);
}

/* As another process would do it. */
static void be_killed_in(long us)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec once = {.it_value = {us / 1000000, us % 1000000 * 1000 + 1}};
    timer_t timer;
    require(!timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &once, NULL),
            "no timer");
}

static uint8_t byte_of(int round, int from, int to)
{
    return (uint8_t)(round * 7 + from * 31 + to);
}

static int exchange(int round)
{
    for (int to = 0; to < size; to++)
        memset(out + (size_t)to * (size_t)count, byte_of(round, rank, to), (size_t)count);
    int rc = MPI_Alltoall(out, count, MPI_BYTE, in, count, MPI_BYTE, MPI_COMM_WORLD);
    for (int from = 0; from < size && !rc; from++)
        for (int i = 0; i < count; i++)
            require(in[from * count + i] == byte_of(round, from, rank), "other bytes have come");
    return rc;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    require(argc == 3 || argc == 5, "usage: storm COUNT ROUNDS [VICTIM DELAY_US]");
    count = atoi(argv[1]);
    char text[MPI_MAX_ERROR_STRING] = "";
    int rounds = atoi(argv[2]), rc = 0, class = 0, len = 0;
    out = malloc((size_t)size * (size_t)count + 1);
    in = malloc((size_t)size * (size_t)count + 1);
    require(out && in, "no room");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    alarm(GIVE_UP_S);
    if (argc == 5 && rank == atoi(argv[3]))
        be_killed_in(atol(argv[4]));
    for (int round = 0; round < rounds && !rc; round++)
        rc = exchange(round);
    if (rc) {
        MPI_Error_class(rc, &class);
        MPI_Error_string(rc, text, &len);
    }
    require(!rc || class == MPI_ERR_PROC_ABORTED, text);
    puts(rc ? "survived" : "ok");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
