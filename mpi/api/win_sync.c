/* SPDX-License-Identifier: BSD-3-Clause */

/* Synchronization of windows (MPI-5.0 12.5). */

#include "mpi/comm/errh.h"
#include "mpi/comm/group.h"
#include "mpi/win/win.h"
#include "mpi/win/win_sync.h"
#include "mpi/win/win_watch.h"

/* ---- active targets ---- */

typedef int begin_fn(struct win *win, struct group *group, int assert, const char *function);

/* Begin an epoch with the members of a group. */
static int with_group(MPI_Win win, MPI_Group group, int assert, begin_fn *begin, const char *function)
{
    struct win *on = win_from(win);
    struct group *with = group_from(group);
    if (!on)
        return win_bad(win, function);
    if (!with)
        return win_error(on, MPI_ERR_GROUP, function, "group %s is none, or was freed",
                         errh_name(group).text);
    return begin(on, with, assert, function);
}

/*
 * End an epoch of operations at all members of a window, and begin the next one.
 *
 * All operations of this process are complete, here and at their targets, and so are those of
 * others on its memory. Every member must call this; the call waits for them.
 *
 * assert: 0, or a sum of MPI_MODE_NOSTORE, MPI_MODE_NOPUT, MPI_MODE_NOPRECEDE: no operation was
 *   started since the last fence; and MPI_MODE_NOSUCCEED: none will be until the next one
 *
 * MPI_ERR_RMA_SYNC: an epoch of another kind is open.
 * MPI_ERR_RMA_RANGE: an operation that this call completes was outside of its target's memory.
 *
 * MPI-5.0 12.5.1
 */
int PMPI_Win_fence(int assert, MPI_Win win)
{
    struct win *on = win_from(win);
    return on ? win_fence(on, assert, __func__) : win_bad(win, __func__);
}

/*
 * Let the members of a group access this process's memory in a window.
 *
 * The call waits for nobody. MPI_Win_wait or MPI_Win_test ends the epoch.
 *
 * group: of members of the window, which call MPI_Win_start
 * assert: 0, or a sum of MPI_MODE_NOSTORE, MPI_MODE_NOPUT and MPI_MODE_NOCHECK, which says that none of
 *   them has called MPI_Win_start so far, and that all say so there
 *
 * MPI_ERR_GROUP: not a group, or one with a process that is no member of the window.
 * MPI_ERR_RMA_SYNC: such an epoch is open already.
 *
 * MPI-5.0 12.5.2
 */
int PMPI_Win_post(MPI_Group group, int assert, MPI_Win win)
{
    return with_group(win, group, assert, win_post, __func__);
}

/*
 * Begin an epoch of operations on the memory of the members of a group.
 *
 * The call waits until they have called MPI_Win_post. MPI_Win_complete ends the epoch.
 *
 * group: of members of the window, which call MPI_Win_post
 * assert: 0, or MPI_MODE_NOCHECK: all of them have called MPI_Win_post, and have said so there
 *
 * MPI_ERR_GROUP: not a group, or one with a process that is no member of the window.
 * MPI_ERR_RMA_SYNC: an epoch is open already.
 *
 * MPI-5.0 12.5.2
 */
int PMPI_Win_start(MPI_Group group, int assert, MPI_Win win)
{
    return with_group(win, group, assert, win_start, __func__);
}

/*
 * End the epoch that MPI_Win_start has begun.
 *
 * All operations of it are complete, here and at their targets.
 *
 * MPI_ERR_RMA_SYNC: no such epoch is open.
 * MPI_ERR_RMA_RANGE: an operation of the epoch was outside of its target's memory.
 *
 * MPI-5.0 12.5.2
 */
int PMPI_Win_complete(MPI_Win win)
{
    struct win *on = win_from(win);
    return on ? win_complete(on, __func__) : win_bad(win, __func__);
}

/*
 * End the epoch that MPI_Win_post has begun.
 *
 * The call waits until all members of the group have called MPI_Win_complete; their operations are
 * complete then.
 *
 * MPI_ERR_RMA_SYNC: no such epoch is open.
 *
 * MPI-5.0 12.5.2
 */
int PMPI_Win_wait(MPI_Win win)
{
    struct win *on = win_from(win);
    return on ? win_wait(on, NULL, __func__) : win_bad(win, __func__);
}

/*
 * Tell whether the epoch that MPI_Win_post has begun is over, and end it then.
 *
 * The call waits for nobody.
 *
 * flag: 1: all members of the group have called MPI_Win_complete; 0: the epoch goes on
 *
 * MPI_ERR_RMA_SYNC: no such epoch is open.
 * MPI_ERR_ARG: flag is NULL.
 *
 * MPI-5.0 12.5.2
 */
int PMPI_Win_test(MPI_Win win, int *flag)
{
    bool over = false;
    struct win *on = win_from(win);
    if (!on)
        return win_bad(win, __func__);
    if (!flag)
        return win_error(on, MPI_ERR_ARG, __func__, "flag is NULL");
    int rc = win_wait(on, &over, __func__);
    *flag = over;
    return rc;
}

/* ---- passive targets ---- */

/*
 * Begin an epoch of operations on one target's memory, which need not take part.
 *
 * The call waits until no other process has a lock of the target that excludes this one. Locks are
 * given in the order in which they were asked for.
 *
 * lock_type: MPI_LOCK_SHARED, or MPI_LOCK_EXCLUSIVE: no other process has a lock meanwhile
 * rank: the target, or MPI_PROC_NULL: nothing happens
 * assert: 0, or MPI_MODE_NOCHECK: no process has or asks for a lock that excludes this one
 *
 * MPI_ERR_LOCKTYPE: lock_type is neither.
 * MPI_ERR_RMA_SYNC: the target is locked already, or an epoch of another kind is open.
 *
 * MPI-5.0 12.5.3
 */
int PMPI_Win_lock(int lock_type, int rank, int assert, MPI_Win win)
{
    struct win *on = win_from(win);
    if (!on)
        return win_bad(win, __func__);
    if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE)
        return win_error(on, MPI_ERR_LOCKTYPE, __func__,
                         "lock_type %d: must be MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE", lock_type);
    return win_lock(on, rank, lock_type == MPI_LOCK_EXCLUSIVE, assert, __func__);
}

/*
 * End the epoch that MPI_Win_lock has begun at a target.
 *
 * All operations of it are complete, here and at the target.
 *
 * rank: the target, or MPI_PROC_NULL: nothing happens
 *
 * MPI_ERR_RMA_SYNC: the target is not locked.
 * MPI_ERR_RMA_RANGE: an operation of the epoch was outside of the target's memory.
 *
 * MPI-5.0 12.5.3
 */
int PMPI_Win_unlock(int rank, MPI_Win win)
{
    struct win *on = win_from(win);
    return on ? win_unlock(on, rank, __func__) : win_bad(win, __func__);
}

/*
 * Begin an epoch of operations on the memory of all members, which need not take part.
 *
 * As MPI_Win_lock of each with MPI_LOCK_SHARED. A target of another host is locked by the first
 * operation there.
 *
 * assert: 0, or MPI_MODE_NOCHECK: no process has or asks for an exclusive lock
 *
 * MPI_ERR_RMA_SYNC: an epoch is open already.
 *
 * MPI-5.0 12.5.3
 */
int PMPI_Win_lock_all(int assert, MPI_Win win)
{
    struct win *on = win_from(win);
    return on ? win_lock_all(on, assert, __func__) : win_bad(win, __func__);
}

/*
 * End the epoch that MPI_Win_lock_all has begun.
 *
 * All operations of it are complete, here and at their targets.
 *
 * MPI_ERR_RMA_SYNC: no such epoch is open.
 * MPI_ERR_RMA_RANGE: an operation of the epoch was outside of its target's memory.
 *
 * MPI-5.0 12.5.3
 */
int PMPI_Win_unlock_all(MPI_Win win)
{
    struct win *on = win_from(win);
    return on ? win_unlock_all(on, __func__) : win_bad(win, __func__);
}

static __attribute__((noinline)) int flush_slow(struct win *on, MPI_Win handle, int rank,
                                                bool local, const char *function)
{
    if (!on)
        return win_bad(handle, function);
    if (rank < 0 && rank != MPI_PROC_NULL)
        return win_error(on, MPI_ERR_RANK, function, "rank %d: must be 0 to %d", rank,
                         on->size - 1);
    return win_flush(on, rank, local, function);
}

/* Mostly, memory is ordered, and that is all: see win_may_flush(). */
static inline int flush(MPI_Win handle, int rank, bool local, const char *function)
{
    struct win *on = win_from(handle);
    if (__builtin_expect(!on || !win_may_flush(on) || (unsigned)rank >= (unsigned)on->size, 0))
        return flush_slow(on, handle, rank, local, function);
    atomic_thread_fence(memory_order_seq_cst);
    return MPI_SUCCESS;
}

/*
 * Complete the operations on one target's memory, here and there.
 *
 * The epoch goes on. It is one of MPI_Win_lock or MPI_Win_lock_all.
 *
 * rank: the target, or MPI_PROC_NULL: nothing happens
 *
 * MPI_ERR_RMA_SYNC: no such epoch is open.
 * MPI_ERR_RMA_RANGE: an operation was outside of the target's memory.
 *
 * MPI-5.0 12.5.4
 */
int PMPI_Win_flush(int rank, MPI_Win win)
{
    return flush(win, rank, false, __func__);
}

/*
 * Complete the operations on one target's memory here.
 *
 * The buffers of this process may be used again; at the target the operations may still be under
 * way. The epoch goes on.
 *
 * rank: the target, or MPI_PROC_NULL: nothing happens
 *
 * MPI_ERR_RMA_SYNC: no epoch of MPI_Win_lock or MPI_Win_lock_all is open.
 *
 * MPI-5.0 12.5.4
 */
int PMPI_Win_flush_local(int rank, MPI_Win win)
{
    return flush(win, rank, true, __func__);
}

static int flush_all(MPI_Win handle, bool local, const char *function)
{
    struct win *on = win_from(handle);
    return on ? win_flush(on, -1, local, function) : win_bad(handle, function);
}

/*
 * Complete the operations on the memory of all targets, here and there.
 *
 * The epoch goes on. It is one of MPI_Win_lock or MPI_Win_lock_all.
 *
 * MPI_ERR_RMA_SYNC: no such epoch is open.
 * MPI_ERR_RMA_RANGE: an operation was outside of its target's memory.
 *
 * MPI-5.0 12.5.4
 */
int PMPI_Win_flush_all(MPI_Win win)
{
    return flush_all(win, false, __func__);
}

/*
 * Complete the operations on the memory of all targets here.
 *
 * As MPI_Win_flush_local for each.
 *
 * MPI_ERR_RMA_SYNC: no epoch of MPI_Win_lock or MPI_Win_lock_all is open.
 *
 * MPI-5.0 12.5.4
 */
int PMPI_Win_flush_local_all(MPI_Win win)
{
    return flush_all(win, true, __func__);
}

/*
 * Order this process's own accesses to memory of a window with those of others.
 *
 * This call is local: no other process takes part. Programs that load and store in shared windows
 * call it after they have stored, and before they load what others have stored.
 *
 * MPI_ERR_WIN: not a window, or one that was freed.
 *
 * MPI-5.0 12.5.4
 */
int PMPI_Win_sync(MPI_Win win)
{
    struct win *on = win_from(win);
    if (!on)
        return win_bad(win, __func__);
    win_order();
    if (on->watch)
        win_watch_sync(on);
    return MPI_SUCCESS;
}

#include "win_sync.gen.h"
