/* SPDX-License-Identifier: BSD-3-Clause */

/* Programs that end in a call of MPI, for lines.sh: usage: lines CASE. Rank 1 makes the mistake. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static char buffer[64];

/* An address where nothing is. */
static void *nowhere(void)
{
    static void *volatile place = (void *)64;
    return place;
}

static void fatal(void)
{
    MPI_Send(buffer, 4, MPI_BYTE, size + 7, 0, MPI_COMM_WORLD); /* line: fatal */
}

static void bad_buffer(void)
{
    MPI_Ssend(nowhere(), 60, MPI_BYTE, 0, 0, MPI_COMM_WORLD); /* line: bad_buffer */
}

static void break_down(void *in, void *out, int *count, MPI_Datatype *type)
{
    (void)in;
    (void)out;
    (void)count;
    (void)type;
    *(volatile int *)nowhere() = 1;
}

static void bad_op(void)
{
    MPI_Op op;
    MPI_Op_create(break_down, 1, &op);
    MPI_Reduce_local(buffer, buffer + 32, 1, MPI_INT, op); /* line: bad_op */
}

static void give_up(void *in, void *out, int *count, MPI_Datatype *type)
{
    (void)in;
    (void)out;
    (void)count;
    (void)type;
    abort();
}

static void bad_abort(void)
{
    MPI_Op op;
    MPI_Op_create(give_up, 1, &op);
    MPI_Reduce_local(buffer, buffer + 32, 1, MPI_INT, op); /* line: bad_abort */
}

static void outside(void)
{
    *(volatile int *)nowhere() = 1;
}

static void on_signal(int number)
{
    (void)number;
    dprintf(STDERR_FILENO, "mine\n");
    _exit(7);
}

static void handled(void)
{
    signal(SIGSEGV, on_signal);
    bad_buffer();
}

/* Sent, not caused by the call. */
static void sent(void)
{
    kill(getpid(), SIGSEGV);
    pause();
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"fatal", fatal},     {"bad_buffer", bad_buffer}, {"bad_op", bad_op}, {"bad_abort", bad_abort},
    {"outside", outside}, {"handled", handled},       {"sent", sent},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (argc > 1 && rank == size - 1 && !strcmp(argv[1], cases[i].name))
            cases[i].run();
    if (rank == 0 && size > 1)
        MPI_Recv(buffer, 64, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
