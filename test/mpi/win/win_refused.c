/* SPDX-License-Identifier: BSD-3-Clause */

/* A long put that the target cannot take, and has no memory to receive, is an error at the origin,
 * and nothing is left under way. */
#include <sys/resource.h>
#include <unistd.h>

#include "windows.h"

enum {
    NUMBERS = 4,
    LONG = 8 << 20, /* numbers: so many bytes that nobody has them in store */
    ROUNDS = 3,
    LIMIT_S = 30
};

/* Let this process have hardly any more memory. Returns the limit from before. */
static struct rlimit have_no_more(void)
{
    struct rlimit before, now;
    char line[64] = "";
    FILE *in = fopen("/proc/self/statm", "re");
    CHECK(in && fgets(line, sizeof(line), in));
    fclose(in);
    CHECK(!getrlimit(RLIMIT_AS, &before));
    now = before;
    now.rlim_cur = strtoull(line, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + (8 << 20);
    CHECK(!setrlimit(RLIMIT_AS, &now));
    return before;
}

static void refuse(enum window_kind kind, long *data)
{
    int last = check_size(MPI_COMM_WORLD) - 1, rank = check_rank(MPI_COMM_WORLD);
    struct window w = window_open(MPI_COMM_WORLD, kind, NUMBERS);
    struct rlimit before;
    OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    if (rank == last)
        before = have_no_more();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < ROUNDS && rank == 0; i++) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w.win));
        int rc =
            MPI_Put(data, LONG, MPI_LONG, last, window_at(&w, last, 0), LONG, MPI_LONG, w.win);
        int at_end = MPI_Win_unlock(last, w.win);
        CHECK(check_class(rc ? rc : at_end) == MPI_ERR_RMA_RANGE);
        OK(MPI_Win_lock(MPI_LOCK_SHARED, last, 0, w.win)); /* others go on */
        OK(MPI_Put(data, NUMBERS, MPI_LONG, last, window_at(&w, last, 0), NUMBERS, MPI_LONG,
                   w.win));
        OK(MPI_Win_unlock(last, w.win));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < NUMBERS && rank == last; i++)
        CHECK(w.mine[i] == i + 1);
    if (rank == last)
        CHECK(!setrlimit(RLIMIT_AS, &before));
    window_close(&w);
}

int main(int argc, char **argv)
{
    alarm(LIMIT_S);
    OK(MPI_Init(&argc, &argv));
    long *data = calloc(LONG, sizeof(*data));
    CHECK(data);
    for (int i = 0; i < NUMBERS; i++)
        data[i] = i + 1;
    refuse(WINDOW_ALLOCATE, data);
    refuse(WINDOW_DYNAMIC, data);
    free(data);
    OK(MPI_Finalize());
    return 0;
}
