/* SPDX-License-Identifier: BSD-3-Clause */

/* Two neighbours put long data into each other's memory, and get long data, at the same time: what
 * one of them puts is not taken for the answer to what the other one gets. The window is dynamic, so
 * that all of that are messages, and without locks, so that no thread answers early. */
#include "windows.h"

enum {
    COUNT = 5000,
    ROUNDS = 100
};

static long expected(int rank, int round, int i)
{
    return 1000000L * rank + 1000L * round + i % 1000;
}

static void exchange(struct window *w, int rank, int size, int round)
{
    static long in[COUNT], out[COUNT];
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int i = 0; i < COUNT; i++) {
        w->mine[i] = expected(rank, round, i);
        w->mine[COUNT + i] = in[i] = -1;
        out[i] = -expected(rank, round, i) - 2;
    }
    OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < 2; i++)
        if (i == (rank + round) % 2)
            OK(MPI_Get(in, COUNT, MPI_LONG, next, window_at(w, next, 0), COUNT, MPI_LONG, w->win));
        else
            OK(MPI_Put(out, COUNT, MPI_LONG, next, window_at(w, next, COUNT), COUNT, MPI_LONG,
                       w->win));
    OK(MPI_Win_fence(0, w->win));
    for (int i = 0; i < COUNT; i++) {
        CHECK(in[i] == expected(next, round, i));
        CHECK(w->mine[COUNT + i] == -expected(before, round, i) - 2);
    }
    OK(MPI_Win_fence(0, w->win));
}

int main(int argc, char **argv)
{
    MPI_Info hints;
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    OK(MPI_Info_create(&hints));
    OK(MPI_Info_set(hints, "no_locks", "true"));
    struct window w = window_open_with(MPI_COMM_WORLD, WINDOW_DYNAMIC, 2 * COUNT, hints);
    for (int round = 0; round < ROUNDS; round++)
        exchange(&w, rank, size, round);
    window_close(&w);
    OK(MPI_Info_free(&hints));
    OK(MPI_Finalize());
    return 0;
}
