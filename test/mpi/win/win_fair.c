/* SPDX-License-Identifier: BSD-3-Clause */

/* A lock that all ranks want all the time goes to each of them as often, within a factor; and while
 * its holder does not run, those that wait do not either. */
#include <sys/resource.h>
#include <time.h>

#include "windows.h"

enum {
    TRIES = 5, /* on a machine that others use, one of them is enough */
    ASLEEP_MS = 400,
    AWAKE_MS = 60 /* at most, while the holder sleeps */
};

static struct window w;

static double used_ms(void)
{
    struct rusage use;
    CHECK(!getrusage(RUSAGE_SELF, &use));
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1e3 +
           (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e3;
}

/* Count up a number of rank 0 under its lock, for so long. Returns how often. */
static long count_up(double seconds)
{
    long n = 0, value;
    double end = MPI_Wtime() + seconds;
    for (; MPI_Wtime() < end; n++) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        OK(MPI_Get(&value, 1, MPI_LONG, 0, window_at(&w, 0, 0), 1, MPI_LONG, w.win));
        OK(MPI_Win_flush(0, w.win));
        value++;
        OK(MPI_Put(&value, 1, MPI_LONG, 0, window_at(&w, 0, 0), 1, MPI_LONG, w.win));
        OK(MPI_Win_unlock(0, w.win));
    }
    return n;
}

/* Returns whether all ranks came as often. */
static int is_fair(long *total)
{
    long n, sum, least, most;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    n = count_up(1);
    OK(MPI_Allreduce(&n, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    OK(MPI_Allreduce(&n, &least, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD));
    OK(MPI_Allreduce(&n, &most, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD));
    if (check_rank(MPI_COMM_WORLD) == 0)
        printf("%ld epochs, %ld to %ld a rank\n", sum, least, most);
    *total += sum;
    return 2 * least >= most;
}

static void sleep_inside(int rank)
{
    const struct timespec holder = {.tv_nsec = ASLEEP_MS * 1000000};
    if (rank == 0)
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    double used = used_ms();
    if (rank == 0)
        nanosleep(&holder, NULL);
    else
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
    used = used_ms() - used;
    OK(MPI_Win_unlock(0, w.win));
    if (used > AWAKE_MS)
        printf("rank %d ran for %.0f of %d ms\n", rank, used, ASLEEP_MS);
    CHECK(used <= AWAKE_MS);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD), fair = 0;
    long total = 0;
    w = window_open(MPI_COMM_WORLD, WINDOW_ALLOCATE, 1);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < TRIES && !fair; i++)
        fair = is_fair(&total);
    CHECK(fair);
    CHECK(rank || w.mine[0] == total);
    sleep_inside(rank);
    window_close(&w);
    OK(MPI_Finalize());
    return 0;
}
