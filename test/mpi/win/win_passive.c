/* SPDX-License-Identifier: BSD-3-Clause */

/* A target that makes no call of MPI is served: rank 0 computes until others have written a word of
 * its memory by each operation. Where nobody serves it the test does not end. */
#include "windows.h"

enum {
    WORDS = 8
};

static void reach(struct window *w, int rank, int size)
{
    long one = 1, was, zero = 0;
    MPI_Win win = w->win;
    if (rank == 0) {
        while (__atomic_load_n(&w->mine[WORDS - 1], __ATOMIC_ACQUIRE) < size - 1)
            ;
        return;
    }
    OK(MPI_Win_lock(rank % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win));
    OK(MPI_Put(&one, 1, MPI_LONG, 0, window_at(w, 0, 0), 1, MPI_LONG, win));
    OK(MPI_Win_flush(0, win));
    OK(MPI_Get(&was, 1, MPI_LONG, 0, window_at(w, 0, 0), 1, MPI_LONG, win));
    OK(MPI_Win_flush(0, win));
    CHECK(was == 1);
    OK(MPI_Compare_and_swap(&one, &zero, &was, MPI_LONG, 0, window_at(w, 0, 1), win));
    OK(MPI_Accumulate(&one, 1, MPI_LONG, 0, window_at(w, 0, 2), 1, MPI_LONG, MPI_SUM, win));
    OK(MPI_Win_unlock(0, win));
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Fetch_and_op(&one, &was, MPI_LONG, 0, window_at(w, 0, WORDS - 1), MPI_SUM, win));
    OK(MPI_Win_unlock_all(win));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD), size = check_size(MPI_COMM_WORLD);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        struct window w = window_open(MPI_COMM_WORLD, (enum window_kind)kind, WORDS);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        reach(&w, rank, size);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK(rank || size == 1 || (w.mine[1] == 1 && w.mine[2] == size - 1));
        window_close(&w);
    }
    OK(MPI_Finalize());
    return 0;
}
