/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Programs that never end since a rank does not do what others wait for at a window, for
 * deadlock_windows.sh: usage: deadlock_windows CASE. They want four ranks.
 */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

static int rank;
static MPI_Win win;
static MPI_Group world;

static void receive(int from)
{
    int none;
    MPI_Recv(&none, 1, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_Group group_of(int one)
{
    MPI_Group group;
    MPI_Group_incl(world, 1, &one, &group);
    return group;
}

static void fence(void)
{
    if (rank == 2)
        receive(0);
    else
        MPI_Win_fence(0, win);
}

/* The window of a name is freed; the other one has none. */
static void unnamed(void)
{
    MPI_Win other;
    long *memory;
    MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &other);
    if (rank == 1)
        sleep(1000);
    MPI_Win_free(&other);
}

/* Rank 0 has the lock of rank 1 until rank 2 has it, which asks for that of another host at the end of the epoch. */
static void writer(void)
{
    const long one = 1;
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
        MPI_Put(&one, 1, MPI_LONG, 1, 0, 1, MPI_LONG, win);
        MPI_Win_flush(1, win);
    }
    barrier();
    if (rank == 0) {
        receive(2);
    } else if (rank == 2) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Win_unlock(1, win);
    } else {
        barrier();
    }
}

/* The same of two that share it. */
static void readers(void)
{
    if (rank < 2)
        MPI_Win_lock(MPI_LOCK_SHARED, 3, 0, win);
    barrier();
    if (rank < 2)
        receive(2);
    else if (rank == 2)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 3, 0, win);
}

static void unposted(void)
{
    if (rank == 0)
        receive(1);
    else if (rank == 1)
        MPI_Win_start(group_of(0), 0, win);
}

static void incomplete(void)
{
    if (rank == 3) {
        MPI_Win_post(group_of(2), 0, win);
        MPI_Win_wait(win);
    } else if (rank == 2) {
        MPI_Win_start(group_of(3), 0, win);
        receive(3);
    }
}

/* Nobody answers for rank 3, on another host, while it is outside MPI. It has been asked before, so that
 * there are connections. */
static void unanswered(void)
{
    const long one = 1;
    for (int i = 0; i < 2; i++) {
        if (rank == 3 && i)
            sleep(1000);
        if (rank == 0) {
            usleep(100000); /* until it has left the last barrier */
            MPI_Win_lock(MPI_LOCK_SHARED, 3, MPI_MODE_NOCHECK, win);
            MPI_Put(&one, 1, MPI_LONG, 3, 0, 1, MPI_LONG, win);
            MPI_Win_flush(3, win);
            MPI_Win_unlock(3, win);
        }
        barrier();
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"fence", fence},         {"unnamed", unnamed},   {"writer", writer},
    {"readers", readers},     {"unposted", unposted}, {"incomplete", incomplete},
    {"unanswered", unanswered}, {"far_writer", writer},
};

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    long *memory;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_set_name(win, "counters");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        if (!strcmp(name, cases[i].name))
            cases[i].run();
    MPI_Finalize();
    return 0;
}
