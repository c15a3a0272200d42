/* SPDX-License-Identifier: BSD-3-Clause */

/* A dynamic window on one host, where no thread serves it: rank 1 puts and gets while rank 0 makes
 * no call of MPI, as the kernel copies what rank 0 has attached; and what it has not is an error. */
#include <stdbool.h>
#include <sys/uio.h>
#include <unistd.h>

#include "windows.h"

enum {
    PIECES = 40, /* more than a process shows */
    NUMBERS = 4
};

static long numbers[PIECES][2 * NUMBERS]; /* of each, the first half is attached */

/* Whether the kernel lets rank 1 read rank 0's memory. */
static bool is_allowed(int rank)
{
    long here[2] = {getpid(), (long)(intptr_t)numbers}, word;
    int good = 0;
    OK(MPI_Bcast(here, 2, MPI_LONG, 0, MPI_COMM_WORLD));
    struct iovec mine = {&word, sizeof(word)}, theirs = {(void *)(intptr_t)here[1], sizeof(word)};
    if (rank == 1)
        good = process_vm_readv((pid_t)here[0], &mine, 1, &theirs, 1, 0) == (ssize_t)sizeof(word);
    OK(MPI_Bcast(&good, 1, MPI_INT, 1, MPI_COMM_WORLD));
    return good;
}

static int put_at(MPI_Win win, MPI_Aint at, int count)
{
    long data[2 * NUMBERS] = {1, 2, 3, 4, 5, 6, 7, 8};
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
    int rc = MPI_Put(data, count, MPI_LONG, 0, at, count, MPI_LONG, win);
    int at_end = MPI_Win_unlock(0, win);
    return check_class(rc ? rc : at_end);
}

static void reach(MPI_Win win, int rank, MPI_Aint base)
{
    long *first = numbers[0], was[NUMBERS];
    if (rank == 0) {
        while (__atomic_load_n(&first[NUMBERS - 1], __ATOMIC_ACQUIRE) != 2)
            ;
        CHECK(first[0] == 1);
        return;
    }
    CHECK(put_at(win, base, 2) == MPI_SUCCESS);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
    OK(MPI_Get(was, NUMBERS, MPI_LONG, 0, base, NUMBERS, MPI_LONG, win));
    OK(MPI_Win_unlock(0, win));
    CHECK(was[0] == 1 && was[1] == 2 && was[2] == 0);
    CHECK(put_at(win, base + (NUMBERS - 2) * (MPI_Aint)sizeof(long), 2) == MPI_SUCCESS);
}

/* Of every piece, also of those that are not shown; beyond them; and after they were taken away. */
static void ask(MPI_Win win, int rank, MPI_Aint base, int good)
{
    for (int i = 0; i < PIECES && rank == 1; i++) {
        MPI_Aint at = base + (MPI_Aint)sizeof(numbers[0]) * i;
        CHECK(put_at(win, at, NUMBERS) == good);
        CHECK(put_at(win, at, NUMBERS + 1) == MPI_ERR_RMA_RANGE);
        CHECK(put_at(win, at + NUMBERS * (MPI_Aint)sizeof(long), 1) == MPI_ERR_RMA_RANGE);
        CHECK(put_at(win, at - (MPI_Aint)sizeof(long), 1) == MPI_ERR_RMA_RANGE);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < PIECES && rank == 0 && !good; i++)
        CHECK(numbers[i][0] == 1 && numbers[i][NUMBERS - 1] == 4 && numbers[i][NUMBERS] == 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    MPI_Win win;
    MPI_Aint base;
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD);
    bool allowed = is_allowed(rank);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (int i = 0; i < PIECES && rank == 0; i++)
        OK(MPI_Win_attach(win, numbers[i], NUMBERS * sizeof(long)));
    OK(MPI_Get_address(numbers, &base));
    OK(MPI_Bcast(&base, 1, MPI_AINT, 0, MPI_COMM_WORLD));
    if (allowed)
        reach(win, rank, base);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    ask(win, rank, base, MPI_SUCCESS);
    for (int i = 0; i < PIECES && rank == 0; i++)
        OK(MPI_Win_detach(win, numbers[i]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    ask(win, rank, base, MPI_ERR_RMA_RANGE);
    OK(MPI_Win_free(&win));
    OK(MPI_Finalize());
    return 0;
}
