/* SPDX-License-Identifier: BSD-3-Clause */

/* Readers that have one lock already do not wait for a writer that waits itself: ranks 0 and 1 each
 * have a shared lock that ranks 2 and 3 want exclusively, and then want the other one. And those that take two locks in
 * one order never wait for each other; and what one lock guards is guarded, wherever it is. */
#include <stdbool.h>
#include <unistd.h>

#include "windows.h"

enum {
    WHILE_US = 100000, /* for others to be waiting */
    ROUNDS = 100,
    FEW = 30
};

static void read_from(struct window *w, int target)
{
    long value;
    OK(MPI_Get(&value, 1, MPI_LONG, target, window_at(w, target, 0), 1, MPI_LONG, w->win));
    OK(MPI_Win_flush(target, w->win));
}

/* The target that a reader has, and the one that it wants. */
static void read_both(struct window *w, int rank, int by_all)
{
    int mine = 2 + rank, other = 3 - rank;
    if (by_all)
        OK(MPI_Win_lock_all(0, w->win));
    else
        OK(MPI_Win_lock(MPI_LOCK_SHARED, mine, 0, w->win));
    read_from(w, mine);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    usleep(WHILE_US);
    if (!by_all)
        OK(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, w->win));
    read_from(w, other);
    if (by_all) {
        OK(MPI_Win_unlock_all(w->win));
        return;
    }
    OK(MPI_Win_unlock(mine, w->win));
    OK(MPI_Win_unlock(other, w->win));
}

static void write_one(struct window *w, int rank, int target)
{
    long value = rank;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win));
    OK(MPI_Put(&value, 1, MPI_LONG, target, window_at(w, target, 0), 1, MPI_LONG, w->win));
    OK(MPI_Win_unlock(target, w->win));
}

/* All take the locks of ranks 1 and 2 in that order, in one window or two, and operate in the other. */
static void take_both(struct window *first, struct window *second)
{
    const long one = 1;
    for (int i = 0; i < ROUNDS; i++) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, first->win));
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, second->win));
        OK(MPI_Accumulate(&one, 1, MPI_LONG, 2, window_at(second, 2, 0), 1, MPI_LONG, MPI_SUM, second->win));
        OK(MPI_Accumulate(&one, 1, MPI_LONG, 1, window_at(first, 1, 0), 1, MPI_LONG, MPI_SUM, first->win));
        OK(MPI_Win_flush(1, first->win));
        OK(MPI_Win_unlock(2, second->win));
        OK(MPI_Win_unlock(1, first->win));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void in_order(enum window_kind kind, int rank)
{
    struct window w = window_open(MPI_COMM_WORLD, kind, 1), other = window_open(MPI_COMM_WORLD, kind, 1);
    take_both(&w, &w);
    take_both(&w, &other);
    CHECK(rank != 1 || w.mine[0] == 2 * 4 * ROUNDS);
    CHECK(rank != 2 || (w.mine[0] == 4 * ROUNDS && other.mine[0] == 4 * ROUNDS));
    window_close(&other);
    window_close(&w);
}

/* The lock of rank 0 guards the number of rank 1 in the other window, or in the same one. */
static void add_guarded(struct window *guard, struct window *of, bool is_open)
{
    long value = -1;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, guard->win));
    if (!is_open)
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, MPI_MODE_NOCHECK, of->win));
    OK(MPI_Get(&value, 1, MPI_LONG, 1, window_at(of, 1, 0), 1, MPI_LONG, of->win));
    OK(MPI_Win_flush(1, of->win));
    value++;
    OK(MPI_Put(&value, 1, MPI_LONG, 1, window_at(of, 1, 0), 1, MPI_LONG, of->win));
    OK(MPI_Win_flush(1, of->win));
    if (!is_open)
        OK(MPI_Win_unlock(1, of->win));
    OK(MPI_Win_unlock(0, guard->win));
}

static void guarded(enum window_kind kind, int rank)
{
    struct window w = window_open(MPI_COMM_WORLD, kind, 1), other = window_open(MPI_COMM_WORLD, kind, 1);
    for (int i = 0; i < FEW; i++)
        add_guarded(&w, &w, false);
    OK(MPI_Win_lock_all(0, other.win));
    for (int i = 0; i < FEW; i++)
        add_guarded(&w, &other, true);
    OK(MPI_Win_unlock_all(other.win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, other.win));
    for (int i = 0; i < FEW; i++)
        add_guarded(&w, &other, true);
    OK(MPI_Win_unlock(1, other.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(rank != 1 || (w.mine[0] == 4 * FEW && other.mine[0] == 8 * FEW));
    window_close(&other);
    window_close(&w);
}

/* Rank 3 reads rank 0, and then rank 1, in one window or two, while rank 0 takes both in that order. */
static void read_in_all(struct window *first, struct window *second)
{
    long got;
    OK(MPI_Win_lock_all(0, first->win));
    OK(MPI_Accumulate(&(long){1}, 1, MPI_LONG, 0, window_at(first, 0, 0), 1, MPI_LONG, MPI_SUM, first->win));
    if (second != first)
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, second->win));
    OK(MPI_Get(&got, 1, MPI_LONG, 1, window_at(second, 1, 0), 1, MPI_LONG, second->win));
    OK(MPI_Win_flush(1, second->win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    usleep(WHILE_US);
    OK(MPI_Win_flush(0, first->win));
    if (second != first)
        OK(MPI_Win_unlock(1, second->win));
    OK(MPI_Win_unlock_all(first->win));
}

static void write_both(struct window *first, struct window *second)
{
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, first->win));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, second->win));
    OK(MPI_Win_unlock(1, second->win));
    OK(MPI_Win_unlock(0, first->win));
}

static void all_in_order(enum window_kind kind, int rank)
{
    struct window w = window_open(MPI_COMM_WORLD, kind, 1), other = window_open(MPI_COMM_WORLD, kind, 1);
    for (int i = 0; i < 2; i++) {
        struct window *second = i ? &other : &w;
        if (rank == 3)
            read_in_all(&w, second);
        else
            OK(MPI_Barrier(MPI_COMM_WORLD));
        if (!rank)
            write_both(&w, second);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    window_close(&other);
    window_close(&w);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    int rank = check_rank(MPI_COMM_WORLD);
    CHECK(check_size(MPI_COMM_WORLD) == 4);
    for (int kind = 0; kind < WINDOW_KINDS; kind++) {
        in_order((enum window_kind)kind, rank);
        guarded((enum window_kind)kind, rank);
        all_in_order((enum window_kind)kind, rank);
        for (int by_all = 0; by_all < 2; by_all++) {
            for (int across = 0; across < 2; across++) { /* the writers are the targets, or not */
                struct window w = window_open(MPI_COMM_WORLD, (enum window_kind)kind, 1);
                OK(MPI_Barrier(MPI_COMM_WORLD));
                if (rank < 2)
                    read_both(&w, rank, by_all);
                else
                    write_one(&w, rank, across ? 5 - rank : rank);
                OK(MPI_Barrier(MPI_COMM_WORLD));
                CHECK(rank < 2 || w.mine[0] == (across ? 5 - rank : rank));
                window_close(&w);
            }
        }
    }
    OK(MPI_Finalize());
    return 0;
}
