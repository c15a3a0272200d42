/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Synchronization of windows (MPI-5.0 12.5). Each function checks whether the epoch allows it, and
 * returns MPI_SUCCESS or the code of an error that was raised; function is the user's. A rank is
 * checked, too.
 */
#ifndef MPI_WIN_SYNC_H
#define MPI_WIN_SYNC_H

#include "mpi/win/win.h"

int win_fence(struct win *win, int assert, const char *function);
int win_post(struct win *win, struct group *group, int assert, const char *function);
int win_start(struct win *win, struct group *group, int assert, const char *function);
int win_complete(struct win *win, const char *function);
/* flag: whether it is over; NULL: wait until it is. */
int win_wait(struct win *win, bool *flag, const char *function);

int win_lock(struct win *win, int rank, bool exclusive, int assert, const char *function);
int win_unlock(struct win *win, int rank, const char *function);
int win_lock_all(struct win *win, int assert, const char *function);
int win_unlock_all(struct win *win, const char *function);
/* The window is freed, perhaps in an epoch, if it was revoked. */
void win_end_epochs(struct win *win);
/* rank negative: of all targets. local: where the operations are complete here. */
int win_flush(struct win *win, int rank, bool local, const char *function);

/* Whether there is nothing to complete: no message was ever sent to a target, and an epoch allows a
 * flush. Now and then it is not known, so that a program that does nothing else hears of failures.
 */
static inline bool win_may_flush(struct win *win)
{
    int left = __atomic_load_n(&win->flushes, __ATOMIC_RELAXED) - 1;
    __atomic_store_n(&win->flushes, left, __ATOMIC_RELAXED); /* threads may count less than all */
    return left > 0 && !atomic_load_explicit(&win->asked, memory_order_relaxed);
}

/* Order this process's accesses to memory with those of others. A program's thread sanitizer does
 * not see that another process told the program's thread of what the library's thread did before;
 * it is told so here. */
static inline void win_order(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (__builtin_expect(os_lock_enabled, 0))
        mpid_order_completion();
}

/* ---- for the files of synchronization ---- */

/* Raise the error of an epoch that does not allow the call; of an outcome, 0: none. rank: of the target, or
 * -1. */
int win_no_epoch(struct win *win, const char *function, const char *what);
int win_failed(struct win *win, int rc, const char *function, int rank);
/* All operations are complete at their targets. Returns an error class. */
int win_complete_all(struct win *win);
/* The epoch of a fence is over where another kind begins. */
void win_close_fence(struct win *win);

/* Whoever has to see them early is told by the program; so no order with other memory is needed. */
static inline void win_set_access(struct win *win, enum win_access access)
{
    atomic_store_explicit(&win->access, (uint8_t)access, memory_order_relaxed);
}

static inline void win_set_open(struct win_target *target, bool open)
{
    atomic_store_explicit(&target->open, open, memory_order_release);
}

/* Allow operations to a target that is not open: lock it, where MPI_Win_lock_all has been called,
 * or raise an error. */
int win_open_target(struct win *win, struct win_target *target, const char *function);
/* Give back what members of this host that have died hold of a queue, or wait for. */
void win_bury(struct win *win, struct win_queue *queue);
/* Name a dead holder of a lock. */
void win_tell_dead(struct win *win, int rank, int target);
/* Wake a member of this host, a result of mpi/win/win_queue.h. */
void win_wake(struct win *win, int member);

#endif
