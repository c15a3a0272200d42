/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Synchronization of windows; see win_sync.h.
 *
 * Operations on memory that is mapped are complete as they return. So to complete operations is to
 * order memory, and to have targets that got messages answer.
 */
#include "mpi/win/win_sync.h"

#include <stdlib.h>
#include <time.h>

#include "mpi/comm/context.h"
#include "mpi/comm/group.h"
#include "mpi/known.h"
#include "mpi/win/win_far.h"
#include "mpi/win/win_meet.h"
#include "mpi/win/win_queue.h"
#include "mpi/win/win_watch.h"
#include "mpi/world.h"
#include "os/clock.h"
#include "os/log.h"

/* That pass between two looks at what has happened, and locks less than a tick apart between two looks at the clock. */
enum { FLUSHES = 100, LOCKS = 64, UNTIMED = 16 };

enum {
    RETURN_NS = 50000, /* so long a member may take a lock again past others, whose turn would cost
                          each time that the kernel runs another process */
    LOOK_NS = 20000,  /* until the next look for a turn, at first; and so much more each time */
    LOOKS_NS = 500000 /* at most */
};

int win_no_epoch(struct win *win, const char *function, const char *what)
{
    return win_error(win, MPI_ERR_RMA_SYNC, function, "%s", what);
}

int win_failed(struct win *win, int rc, const char *function, int rank)
{
    if (win_is_revoked(win)) {
        win_revoked(win); /* the thread that hears of it may not have come so far: no operation works from here on */
        return win_error(win, MPIX_ERR_REVOKED, function, "a member has revoked the window");
    }
    if (!rc)
        return MPI_SUCCESS;
    if (rc == MPI_ERR_RMA_RANGE)
        return win_error(
            win, rc, function,
            "an operation since the last synchronization named bytes that a target does "
            "not have in the window");
    if (rc == MPI_ERR_NO_MEM)
        return win_error(win, rc, function, "this process or a target has no memory for a lock or an operation");
    if (rc == MPI_ERR_PROC_ABORTED)
        return win_error(win, rc, function, rank >= 0 ? "rank %d is gone" : "a target is gone",
                         rank);
    return win_error(win, rc, function, "operations since the last synchronization failed");
}

/* ---- words that operations read without the lock ---- */

/* Whether it is time to look for events: after some locks, and after some time, so that a program
 * that does nothing else hears of others, and of their deaths. */
static bool is_time_to_look(struct win *win)
{
    struct timespec now;
    if (++win->turns % UNTIMED && !win->seldom)
        return false;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now); /* to the tick */
    win->seldom = now.tv_nsec != win->looked_at;
    win->looked_at = now.tv_nsec;
    return win->seldom || !(win->turns % LOCKS);
}

static void set_open_all(struct win *win, bool open)
{
    atomic_store_explicit(&win->open_all, open, memory_order_relaxed);
}

/* ---- completing operations ---- */

static int ask_all(struct win *win)
{
    int rc = MPI_SUCCESS;
    struct win_target *first = atomic_load_explicit(&win->asked, memory_order_acquire);
    for (struct win_target *t = first; t && !rc; t = t->asked_next)
        rc = win_far_ask_flush(win, t);
    return rc;
}

int win_complete_all(struct win *win)
{
    win_order();
    int lost = win_has_failed(win, -1) ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
    if (!atomic_load_explicit(&win->asked, memory_order_relaxed))
        return lost;
    int rc = ask_all(win), waited = win_far_wait(win, NULL);
    return rc ? rc : waited ? waited : lost;
}

static int complete_one(struct win *win, struct win_target *target)
{
    win_order();
    if (target->mapped)
        return win_has_failed(win, target->rank) ? MPI_ERR_PROC_ABORTED : MPI_SUCCESS;
    int rc = win_far_ask_flush(win, target), waited = win_far_wait(win, target);
    return rc ? rc : waited;
}

int win_fence(struct win *win, int assert, const char *function)
{
    const int known = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
    if (assert & ~known)
        return win_error(win, MPI_ERR_ASSERT, function, "assert %d is none of a fence's", assert);
    if (win_is_revoked(win))
        return win_failed(win, MPI_SUCCESS, function, -1);
    if (win->access > WIN_FENCE)
        return win_no_epoch(win, function, "an epoch of another kind is open here: end it first");
    int rc = win_complete_all(win);
    if (win->watch) {
        win_watch_complete(win, -1, false);
        int told = win_watch_fence(win, assert);
        rc = rc ? rc : told;
    }
    if (!(assert &MPI_MODE_NOPRECEDE) || !(assert &MPI_MODE_NOSUCCEED)) {
        int waited = win->watch ? MPI_SUCCESS : win_meet_barrier(win); /* they have waited for each other */
        rc = rc ? rc : waited;
        if (win->watch)
            win_watch_fenced(win);
    }
    bool opens = !(assert &MPI_MODE_NOSUCCEED);
    set_open_all(win, opens);
    if (win->access != (opens ? WIN_FENCE : WIN_NONE)) {
        win_set_access(win, opens ? WIN_FENCE : WIN_NONE);
        win_allow_all(win);
    }
    atomic_store_explicit(&win->used, false, memory_order_relaxed);
    win_order();
    return win_failed(win, rc, function, -1);
}

void win_close_fence(struct win *win)
{
    if (!win->open_all)
        return;
    set_open_all(win, false);
    win_allow_all(win);
}

/* ---- locks of members of this host ---- */

static void wake(struct win *win, int member)
{
    struct vc *vc = member == win->near_me ? NULL : comm_vc(win->comm, win_rank_of(win, member));
    if (member == win->near_me)
        mpid_wake();
    else if (vc)
        mpid_ring(vc);
}

void win_wake(struct win *win, int member)
{
    if (member >= 0)
        wake(win, member);
    for (int i = 0; member == WIN_QUEUE_ALL && i < win->near_count; i++)
        wake(win, i);
}

struct turn {
    struct win *win;
    const struct win_target *target;
    struct win_queue *queue;
    uint32_t ticket;
    bool exclusive, passes;
    uint32_t failures; /* up to which the dead have been buried */
};

static bool may_enter(const struct turn *turn)
{
    return turn->passes ? win_queue_may_pass(turn->queue)
                        : win_queue_is_turn(turn->queue, turn->ticket, turn->exclusive);
}

static bool is_turn(void *arg)
{
    const struct turn *turn = arg;
    return may_enter(turn) || win_failures() != turn->failures || win_is_revoked(turn->win);
}

static void turn_sleeps(void *arg, bool begins)
{
    const struct turn *turn = arg;
    win_queue_sleeps(turn->queue, begins);
}

/* Those that have the lock are named. Readers of other hosts, for which the target has it, are not
 * known. */
static void turn_tell(void *arg, struct mpid_wait_report *report)
{
    const struct turn *turn = arg;
    struct win_queue *queue = turn->queue;
    struct mpid_envelope env = {turn->win->comm->context + CONTEXT_WIN, 0, turn->target->rank};
    uint32_t writer = atomic_load(&queue->writer), behalf = atomic_load(&queue->behalf);
    for (int i = 0; i < turn->win->near_count; i++) {
        env.rank = win_rank_of(turn->win, i);
        if (writer == (uint32_t)i + 1 && behalf && behalf <= (uint32_t)turn->win->size)
            env.rank = (int32_t)behalf - 1;
        if (writer ? writer == (uint32_t)i + 1
                   : i != turn->win->near_me && atomic_load(win_queue_holds(queue, (uint32_t)i)))
            mpid_tell_lock(report, &env);
    }
}

void win_tell_dead(struct win *win, int rank, int target)
{
    char name[MPI_MAX_OBJECT_NAME];
    (void)name_get(&win->comm->name, name);
    if (rank != target) /* nobody asks for a lock of one that died */
        os_log(OS_LOG_WARN, "%s: rank %d died with a lock of rank %d, which is given back", name,
               rank, target);
}

/* The rank at which a lock of this host is. */
static int target_of(const struct win *win, const struct win_queue *queue)
{
    int near = 0;
    while (win->near[near].queue != queue)
        near++;
    return win_rank_of(win, near);
}

void win_bury(struct win *win, struct win_queue *queue)
{
    struct process process;
    int wake;
    for (int i = 0; mpid_failed(i, &process.gid, &process.rank); i++) {
        int rank = group_find(win->comm->group, &process);
        for (int near = 0; near < win->near_count && rank != MPI_UNDEFINED; near++) {
            if (win_rank_of(win, near) != rank)
                continue;
            if (win_queue_bury(queue, (uint32_t)near, &wake))
                win_tell_dead(win, rank, target_of(win, queue));
            win_wake(win, wake);
        }
    }
}

/* Where nobody wakes this member, it looks by itself. */
static void look_for_turn(struct turn *turn)
{
    struct timespec pause = {.tv_nsec = LOOK_NS};
    while (!is_turn(turn)) {
        (void)mpid_progress();
        nanosleep(&pause, NULL);
        pause.tv_nsec += pause.tv_nsec < LOOKS_NS ? LOOK_NS : 0;
    }
}

static void wait_turn(struct turn *turn)
{
    static const struct mpid_shared_wait how = {is_turn, turn_sleeps, turn_tell};
    while (!may_enter(turn) && !win_is_revoked(turn->win)) {
        uint32_t failures = win_failures();
        win_bury(turn->win, turn->queue);
        turn->failures = failures;
        if (!turn->win->wakes)
            look_for_turn(turn);
        else if (!is_turn(turn))
            mpid_wait_shared(&how, turn);
    }
}

/* Whether this process was the last one with a turn, or came when nobody waited, and it is not long
 * ago. A waiter with a processor of its own sees its turn at once, and does not wait for that. */
static bool may_return(struct win_target *target, bool exclusive)
{
    if (!exclusive || world_facts.local_ranks <= world_facts.cpus ||
        target->served != atomic_load(&target->queue->serving) + 1)
        return false;
    uint64_t now = os_now_ns();
    if (!target->return_ns)
        target->return_ns = now + RETURN_NS;
    return now < target->return_ns;
}

/* A reader that has other locks waits for a writer that has this one, and not for those that wait
 * themselves: two such readers, and a writer at each of their locks, would wait for each other. */
static bool lock_past(struct win *win, struct win_target *target)
{
    struct turn turn = {.win = win, .target = target, .queue = target->queue, .passes = true};
    int wake;
    bool has = win_queue_take(target->queue, (uint32_t)win->near_me, false, &wake);
    win_wake(win, wake);
    if (has)
        return true;
    win_queue_passes(target->queue, true);
    while (!has && !win_is_revoked(win)) {
        wait_turn(&turn);
        if (win_is_revoked(win))
            break;
        has = win_queue_take(target->queue, (uint32_t)win->near_me, false, &wake);
        win_wake(win, wake);
    }
    win_queue_passes(target->queue, false);
    return has;
}

/* Returns false where the window is revoked: nobody gets a lock any more, and those behind this one do not wait either. */
static __attribute__((noinline)) bool lock_slow(struct win *win, struct win_target *target,
                                                bool exclusive)
{
    struct win_queue *queue = target->queue;
    uint32_t me = (uint32_t)win->near_me;
    struct turn turn = {.win = win, .target = target, .queue = queue, .exclusive = exclusive};
    int wake;
    bool has = may_return(target, exclusive) && win_queue_take(queue, me, exclusive, &wake);
    if (has)
        return true;
    turn.ticket = win_queue_join(queue, me);
    while (!has) {
        wait_turn(&turn);
        if (win_is_revoked(win))
            return false;
        has = win_queue_enter(queue, me, exclusive, &wake);
        win_wake(win, wake);
    }
    target->served = turn.ticket + 2;
    target->return_ns = os_now_ns() + RETURN_NS;
    return true;
}

/* Locks, and epochs of MPI_Win_lock_all, of all windows. Nobody needs it where several threads call. */
static _Atomic int open_count;

static void count_open(int by)
{
    int count = atomic_load_explicit(&open_count, memory_order_relaxed) + by;
    atomic_store_explicit(&open_count, count, memory_order_relaxed);
}

static int count_locks(const struct win *win)
{
    return atomic_load_explicit(&win->locks, memory_order_relaxed);
}

/* Returns how many there are then. Under the window's lock. */
static int change_locks(struct win *win, int by)
{
    int count = count_locks(win) + by;
    atomic_store_explicit(&win->locks, count, memory_order_relaxed);
    count_open(by);
    return count;
}

/* Takes the lock of a target that is mapped here. Returns false where the window is revoked. */
static bool lock_near(struct win *win, struct win_target *target, bool exclusive)
{
    int wake;
    if (win_queue_try(target->queue, (uint32_t)win->near_me, exclusive, &wake)) {
        target->served = atomic_load_explicit(&target->queue->serving, memory_order_relaxed) + 1;
        target->return_ns = 0;
        return true;
    }
    win_wake(win, wake);
    return !exclusive && count_locks(win) > 1 ? lock_past(win, target) : lock_slow(win, target, exclusive);
}

/* ---- locks ---- */

void win_end_epochs(struct win *win)
{
    count_open(-count_locks(win) - (win->access == WIN_LOCK_ALL));
    win_far_end(win);
}

/* Whether a lock at another host may be asked for later. Who watches orders all that was done with the lock before. One
 * that has other locks asks at once, and so keeps the order of its locks; as does one that may access another window
 * meanwhile, whose accesses the lock may guard. */
static bool may_defer(const struct win *win)
{
    return !win->watch && !world_is_threaded() && atomic_load_explicit(&open_count, memory_order_relaxed) <= 1;
}

static int take_lock(struct win *win, struct win_target *target, bool exclusive)
{
    bool passes = !exclusive && (count_locks(win) > 1 || win->access == WIN_LOCK_ALL);
    if (!target->queue && may_defer(win)) {
        win_far_lock_later(win, target, exclusive, passes);
        return MPI_SUCCESS;
    }
    if (!target->queue)
        return win_far_lock(win, target, exclusive, passes);
    if (!lock_near(win, target, exclusive))
        return MPIX_ERR_REVOKED;
    if (!win_has_failed(win, target->rank))
        return MPI_SUCCESS;
    win_wake(win, win_queue_leave(target->queue, (uint32_t)win->near_me, exclusive));
    return MPI_ERR_PROC_ABORTED;
}

static int give_back(struct win *win, struct win_target *target, enum win_locked how)
{
    bool exclusive = how == WIN_EXCLUSIVE;
    int rc = MPI_SUCCESS;
    if (!target->mapped && !target->queue) { /* one question does both */
        rc = how == WIN_NOCHECK ? win_far_ask_flush(win, target)
                                : win_far_ask_unlock(win, target, exclusive);
        int waited = win_far_wait(win, target);
        return rc ? rc : waited;
    }
    rc = complete_one(win, target);
    if (how != WIN_NOCHECK)
        win_wake(win, win_queue_leave(target->queue, (uint32_t)win->near_me, exclusive));
    return rc;
}

static int check_rank(struct win *win, int rank, const char *function)
{
    if (rank >= 0 && rank < win->size)
        return MPI_SUCCESS;
    return win_error(win, MPI_ERR_RANK, function, "rank %d: must be 0 to %d", rank, win->size - 1);
}

static bool may_lock(const struct win *win)
{
    return win->access == WIN_NONE || win->access == WIN_LOCK ||
           (win->access == WIN_FENCE && !win->used);
}

/* Have the target's place among this process's locks, so that no other thread takes it meanwhile.
 * Returns NULL, or what is wrong. */
static const char *begin_lock(struct win *win, struct win_target *target, enum win_locked how,
                              bool *looks)
{
    os_lock(&win->lock);
    const char *wrong = target->locked   ? "the target is locked by this process already"
                        : win->no_locks  ? "the window was made with the hint no_locks"
                        : !may_lock(win) ? "an epoch of another kind is open here"
                                         : NULL;
    *looks = is_time_to_look(win);
    if (!wrong) {
        target->locked = (uint8_t)how;
        win_close_fence(win);
        win_set_access(win, WIN_LOCK);
        (void)change_locks(win, 1);
    }
    os_unlock(&win->lock);
    return wrong;
}

static void open_lock(struct win *win, struct win_target *target, bool open)
{
    win_set_open(target, open);
    win_allow(win, target);
}

static void end_lock(struct win *win, struct win_target *target)
{
    os_lock(&win->lock);
    target->locked = WIN_UNLOCKED;
    if (!change_locks(win, -1)) {
        win_set_access(win, WIN_NONE);
        __atomic_store_n(&win->flushes, 0, __ATOMIC_RELAXED);
    }
    os_unlock(&win->lock);
}

int win_lock(struct win *win, int rank, bool exclusive, int assert, const char *function)
{
    bool looks;
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    int rc = check_rank(win, rank, function);
    if (rc)
        return rc;
    if (assert & ~MPI_MODE_NOCHECK)
        return win_error(win, MPI_ERR_ASSERT, function, "assert %d is none of a lock's", assert);
    if (win_is_revoked(win))
        return win_failed(win, MPI_SUCCESS, function, -1);
    struct win_target *target = win_target(win, rank);
    if (!target)
        return win_error(win, MPI_ERR_NO_MEM, function, "no memory for rank %d", rank);
    enum win_locked how = assert & MPI_MODE_NOCHECK ? WIN_NOCHECK
                          : exclusive              ? WIN_EXCLUSIVE
                                                   : WIN_SHARED;
    const char *wrong = begin_lock(win, target, how, &looks);
    if (wrong)
        return win_no_epoch(win, function, wrong);
    if (looks)
        (void)mpid_progress();
    win_far_settle_all();
    if (how != WIN_NOCHECK && (rc = take_lock(win, target, exclusive))) {
        end_lock(win, target);
        return win_failed(win, rc, function, rank);
    }
    os_lock(&win->lock);
    open_lock(win, target, true);
    os_unlock(&win->lock);
    win_order();
    if (win->watch)
        win_watch_lock(win, rank, exclusive, how == WIN_NOCHECK);
    return MPI_SUCCESS;
}

int win_unlock(struct win *win, int rank, const char *function)
{
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    int rc = check_rank(win, rank, function);
    if (rc)
        return rc;
    struct win_target *target = win_target(win, rank);
    if (!target)
        return win_error(win, MPI_ERR_NO_MEM, function, "no memory for rank %d", rank);
    os_lock(&win->lock);
    bool good = win->access == WIN_LOCK && target->locked && target->open;
    enum win_locked how = target->locked;
    if (good)
        open_lock(win, target, false);
    os_unlock(&win->lock);
    if (!good)
        return win_no_epoch(win, function, "the target is not locked by MPI_Win_lock");
    if (win->watch) {
        win_watch_complete(win, rank, false);
        win_watch_unlock(win, rank, how == WIN_EXCLUSIVE);
    }
    rc = give_back(win, target, how);
    if (win->watch)
        win_watch_brought(win, rank);
    end_lock(win, target);
    return win_failed(win, rc, function, rank);
}

/* Locks of this host are taken at once; others at the first operation there. */
int win_lock_all(struct win *win, int assert, const char *function)
{
    if (assert & ~MPI_MODE_NOCHECK)
        return win_error(win, MPI_ERR_ASSERT, function, "assert %d is none of a lock's", assert);
    if (win_is_revoked(win))
        return win_failed(win, MPI_SUCCESS, function, -1);
    os_lock(&win->lock);
    bool may = may_lock(win) && win->access != WIN_LOCK, looks = is_time_to_look(win);
    bool good = may && !win->no_locks;
    if (good) {
        win_set_access(win, WIN_LOCK_ALL);
        count_open(1);
        set_open_all(win, assert & MPI_MODE_NOCHECK);
    }
    os_unlock(&win->lock);
    if (!good)
        return win_no_epoch(win, function, may ? "the window was made with the hint no_locks"
                                               : "an epoch is open here: end it first");
    if (looks)
        (void)mpid_progress();
    win_far_settle_all();
    for (int i = 0; i < win->near_count && !win->open_all; i++) {
        if (!win->near[i].queue)
            continue;
        if (!lock_near(win, &win->near[i], false))
            break;
        win->near[i].locked = WIN_SHARED;
        win_set_open(&win->near[i], true);
    }
    os_lock(&win->lock);
    win_allow_all(win);
    os_unlock(&win->lock);
    win_order();
    if (win->watch && !win_is_revoked(win))
        win_watch_lock(win, -1, false, assert & MPI_MODE_NOCHECK);
    return MPI_SUCCESS;
}

static bool is_opened(void *arg)
{
    const struct win_target *target = arg;
    return !atomic_load(&target->opening);
}

/* Whether this thread is to lock the target: others wait until the first one has done so. */
static bool begin_opening(struct win *win, struct win_target *target)
{
    static const struct mpid_condition opened = {is_opened, NULL, NULL};
    for (;;) {
        os_lock(&win->lock);
        bool mine = !target->open && !atomic_load(&target->opening), open = target->open;
        if (mine)
            atomic_store(&target->opening, true);
        os_unlock(&win->lock);
        if (mine || open)
            return mine;
        mpid_wait_condition(&opened, target);
    }
}

int win_open_target(struct win *win, struct win_target *target, const char *function)
{
    if (win_is_revoked(win))
        return win_failed(win, MPI_SUCCESS, function, -1);
    if (win->access != WIN_LOCK_ALL)
        return win_no_epoch(win, function,
                        win->access == WIN_START ? "the target is not in the group of MPI_Win_start"
                        : win->access == WIN_LOCK
                            ? "the target is not locked"
                            : "no epoch is open: call MPI_Win_fence, MPI_Win_start or MPI_Win_lock "
                              "first");
    if (!begin_opening(win, target))
        return MPI_SUCCESS;
    int rc = take_lock(win, target, false);
    os_lock(&win->lock);
    if (!rc) {
        target->locked = WIN_SHARED;
        open_lock(win, target, true);
    }
    atomic_store(&target->opening, false);
    os_unlock(&win->lock);
    mpid_wake();
    if (win->watch && !rc)
        win_watch_lock(win, target->rank, false, false);
    return win_failed(win, rc, function, target->rank);
}

/* Those that were locked by messages answer together. */
static int unlock_far(struct win *win)
{
    int rc = MPI_SUCCESS;
    for (struct win_target *t = win->asked; t; t = t->asked_next) {
        bool by_message = t->locked && !t->queue;
        int asked = by_message ? win_far_ask_unlock(win, t, false) : win_far_ask_flush(win, t);
        rc = rc ? rc : asked;
        if (by_message) {
            t->locked = WIN_UNLOCKED;
            win_set_open(t, false);
        }
    }
    int waited = win->asked ? win_far_wait(win, NULL) : MPI_SUCCESS;
    return rc ? rc : waited;
}

int win_unlock_all(struct win *win, const char *function)
{
    if (win->access != WIN_LOCK_ALL)
        return win_no_epoch(win, function, "no epoch of MPI_Win_lock_all is open");
    win_order();
    if (win->watch)
        win_watch_complete(win, -1, false);
    for (int i = 0; i < win->size && win->watch; i++)
        win_watch_unlock(win, i, false);
    int rc = unlock_far(win);
    for (int i = 0; i < win->near_count; i++) {
        struct win_target *target = &win->near[i];
        if (target->locked) {
            int given = give_back(win, target, target->locked);
            rc = rc ? rc : given;
        }
        target->locked = WIN_UNLOCKED;
        win_set_open(target, false);
    }
    if (win->watch)
        win_watch_brought(win, -1);
    set_open_all(win, false);
    count_open(-1);
    win_set_access(win, WIN_NONE);
    __atomic_store_n(&win->flushes, 0, __ATOMIC_RELAXED);
    win_allow_all(win);
    return win_failed(win, rc, function, -1);
}

/* Hear of events meanwhile, and let a while pass until the next look. */
static void look_around(struct win *win)
{
    (void)mpid_progress();
    os_lock(&win->lock);
    bool nothing = win->access >= WIN_LOCK && !win->watch && !win->asked && !win_has_failed(win, -1);
    __atomic_store_n(&win->flushes, nothing ? FLUSHES : 0, __ATOMIC_RELAXED);
    os_unlock(&win->lock);
}

int win_flush(struct win *win, int rank, bool local, const char *function)
{
    int rc = MPI_SUCCESS;
    look_around(win);
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (rank >= 0 && (rc = check_rank(win, rank, function)))
        return rc;
    if (win_is_revoked(win))
        return win_failed(win, MPI_SUCCESS, function, -1);
    if (win->access < WIN_LOCK)
        return win_no_epoch(win, function, "no epoch of MPI_Win_lock or MPI_Win_lock_all is open");
    struct win_target *target = rank >= 0 ? win_target(win, rank) : NULL;
    if (rank >= 0 && !target)
        return win_error(win, MPI_ERR_NO_MEM, function, "no memory for rank %d", rank);
    if (win->watch && target && win->access == WIN_LOCK && !target->locked)
        return win_no_epoch(win, function, "the target is not locked");
    if (!local)
        rc = target ? complete_one(win, target) : win_complete_all(win);
    else if ((!target || !target->mapped) && atomic_load_explicit(&win->asked, memory_order_relaxed))
        rc = win_far_wait(win, target);
    if (win->watch) {
        win_watch_complete(win, rank, local);
        win_watch_brought(win, rank);
    }
    return win_failed(win, rc, function, rank);
}
