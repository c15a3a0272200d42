/* SPDX-License-Identifier: BSD-3-Clause */

/* Whoever MPI_COMM_TYPE_SHARED says shares memory gets a shared window, also where the shm channel is
 * off: locks keep others away and wake those that wait, and sums are not lost. */
#include "windows.h"

enum {
    ROUNDS = 300
};

static void add_one(MPI_Win win, int target)
{
    const long one = 1;
    long value;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    OK(MPI_Get(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win));
    OK(MPI_Win_flush(target, win));
    value++;
    OK(MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win));
    OK(MPI_Win_unlock(target, win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    OK(MPI_Accumulate(&one, 1, MPI_LONG, target, 1, 1, MPI_LONG, MPI_SUM, win));
    OK(MPI_Win_unlock(target, win));
}

int main(int argc, char **argv)
{
    MPI_Comm host;
    MPI_Win win;
    MPI_Aint bytes;
    long *mine, *theirs;
    int unit;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    int size = check_size(host);
    OK(MPI_Win_allocate_shared(64, 8, MPI_INFO_NULL, host, &mine, &win));
    mine[0] = mine[1] = 0;
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    for (int i = 0; i < ROUNDS; i++)
        add_one(win, i % size);
    OK(MPI_Barrier(host));
    OK(MPI_Win_sync(win));
    for (int i = 0; i < size; i++) {
        long rounds = ROUNDS / size + (i < ROUNDS % size);
        OK(MPI_Win_shared_query(win, i, &bytes, &unit, &theirs));
        CHECK(theirs[0] == rounds * size && theirs[1] == rounds * size);
    }
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&host));
    OK(MPI_Finalize());
    return 0;
}
