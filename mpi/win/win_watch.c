/* SPDX-License-Identifier: BSD-3-Clause */

/* Windows watched, and their synchronization; see win_watch.h. */
#include "mpi/win/win_watch.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/call_text.h"
#include "mpi/comm/group.h"
#include "mpi/win/win.h"
#include "mpi/win/win_hints.h"
#include "mpi/win/win_log.h"
#include "mpi/win/win_meet.h"
#include "mpi/world.h"

/* What members tell each other at a fence. */
struct fence_told {
    int32_t assert, rank;
    struct mpid_call_site site;
};

/* ---- synchronization ---- */

int win_watch_fence(struct win *win, int assert)
{
    const int same = MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
    struct win_watch *w = win->watch;
    struct fence_told mine = {assert, world_facts.rank, {{0}, {0}, 0}};
    struct fence_told *all = malloc(sizeof(*all) * (size_t)win->size);
    if (!all)
        return MPI_ERR_NO_MEM;
    mpid_find_site(&mine.site);
    if (assert & MPI_MODE_NOPRECEDE && win->access == WIN_FENCE && win->used) {
        struct mpid_call_site used = board_site_of(&w->board, w->used);
        win_log_fault_of_two(&used, world_facts.rank, &mine.site,
                             "the fence's MPI_MODE_NOPRECEDE says that no operation precedes it, but the first one does");
    }
    int rc = win_meet_give(win, &mine, all, sizeof(mine));
    for (int i = 0; i < win->size && !rc; i++)
        if ((all[i].assert ^ assert) & same)
            win_log_fault_of_two(&all[i].site, all[i].rank, &mine.site,
                                 "MPI_MODE_NOPRECEDE and MPI_MODE_NOSUCCEED must be given by all members or by "
                                 "none: an epoch would begin or end at some of them alone");
    free(all);
    w->began = board_site(&w->board, &mine.site);
    return rc;
}

void win_watch_fenced(struct win *win)
{
    struct board_log *log = &win->watch->board.logs[win->rank];
    if (!board_hold(&log->busy))
        return;
    board_prune(log);
    board_release(&log->busy);
    win_log_publish(win->watch);
}

struct known *win_watch_heard(struct win *win, int count)
{
    struct win_watch *w = win->watch;
    free(w->heard);
    w->heard = calloc((size_t)count + 1, sizeof(*w->heard));
    w->heard_count = w->heard ? count : 0;
    return w->heard;
}

/* An exposure is over: so are the operations within it. */
void win_watch_waited(struct win *win)
{
    struct win_watch *w = win->watch;
    for (int i = 0; i < w->heard_count; i++)
        known_learn(&w->heard[i]);
    w->heard_count = 0;
    struct board_log *log = &w->board.logs[win->rank];
    uint32_t step = known_step();
    if (!board_hold(&log->busy))
        return;
    for (uint32_t i = 0; i < log->count && i < BOARD_LOG; i++)
        if (log->row[i].posted && !log->row[i].done)
            board_end(log, i, step);
    board_release(&log->busy);
    win_log_publish(w);
}

void win_watch_opened(struct win *win, bool exposes)
{
    struct win_watch *w = win->watch;
    struct mpid_call_site site;
    mpid_find_site(&site);
    *(exposes ? &w->exposed : &w->began) = board_site(&w->board, &site);
}

/* All that gave back a lock of a target before have known. */
static void learn_given(struct board_log *log, bool exclusive)
{
    if (!board_hold(&log->busy))
        return;
    known_learn(&log->exclusive);
    if (exclusive)
        known_learn(&log->shared);
    board_release(&log->busy);
}

void win_watch_lock(struct win *win, int target, bool exclusive, bool unchecked)
{
    struct win_watch *w = win->watch;
    struct mpid_call_site site;
    mpid_find_site(&site);
    uint16_t number = board_site(&w->board, &site);
    w->began = number;
    int first = target < 0 ? 0 : target, end = target < 0 ? win->size : target + 1;
    for (int i = first; i < end; i++) {
        w->locked[i] = number;
        if (!unchecked)
            learn_given(&w->board.logs[i], exclusive);
    }
}

void win_watch_unlock(struct win *win, int target, bool exclusive)
{
    struct board_log *log = &win->watch->board.logs[target];
    struct known now = known_now();
    win->watch->locked[target] = 0;
    if (exclusive)
        board_leak(&win->watch->board, target, &now);
    if (!board_hold(&log->busy))
        return;
    known_join(exclusive ? &log->exclusive : &log->shared, &now);
    board_release(&log->busy);
}

void win_watch_sync(struct win *win)
{
    struct win_watch *w = win->watch;
    struct board_head *head = w->board.head;
    struct board_log *log = &w->board.logs[win->rank];
    struct known now = known_now();
    if (board_hold(&head->busy)) {
        known_learn(&head->synced);
        known_join(&head->synced, &now);
        board_release(&head->busy);
    }
    if (!board_hold(&log->busy))
        return;
    win_log_learn_changed(log, ~0u);
    known_learn(&log->put);
    board_release(&log->busy);
}

/* ---- all ---- */

static void learn_published(struct win_watch *w, void *arg)
{
    uint32_t version = atomic_load(&w->board.head->versions);
    (void)arg;
    if (version == w->version || !board_hold(&w->board.head->busy))
        return;
    w->version = version;
    for (int i = 0; i < w->win->size; i++)
        known_learn(&w->board.published[i]);
    board_release(&w->board.head->busy);
}

static void learn_any(void)
{
    win_log_each(learn_published, NULL);
}

static void destroy(struct win_watch *w)
{
    if (w->board.head)
        board_free(&w->board);
    free(w->told);
    free(w->ranks);
    free(w->open);
    free(w->locked);
    free(w->fetched);
    free(w->heard);
    free(w);
}

static int fill(struct win_watch *w)
{
    struct win *win = w->win;
    struct win_told mine = {(uint64_t)win->bytes, win->unit, win->no_locks};
    size_t size = (size_t)win->size;
    w->told = calloc(size, sizeof(*w->told));
    w->ranks = calloc(size, sizeof(*w->ranks));
    w->open = calloc(size, sizeof(*w->open));
    w->locked = calloc(size, sizeof(*w->locked));
    w->fetched = calloc(size, sizeof(*w->fetched));
    if (!w->told || !w->ranks || !w->open || !w->locked || !w->fetched)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < win->size; i++) {
        struct process process = group_process(win->comm->group, i);
        bool ours = !memcmp(&process.gid, &world_facts.gid, sizeof(process.gid));
        w->ranks[i] = ours ? (int)process.rank : -1;
    }
    return win_meet_give(win, &mine, w->told, sizeof(mine));
}

/* Hints that say something of all members. */
static void check_hints(const struct win_watch *w)
{
    const struct win_told *all = w->told, *mine = &all[w->win->rank];
    struct mpid_call_site site;
    char text[CALL_TEXT];
    for (int i = 0; i < w->win->size; i++) {
        const char *hint =
            win_hint_is_true(w->win->info, "same_size") && all[i].size != mine->size             ? "same_size"
            : win_hint_is_true(w->win->info, "same_disp_unit") && all[i].unit != mine->unit      ? "same_disp_unit"
            : all[i].no_locks != mine->no_locks                                   ? "no_locks"
                                                                                  : NULL;
        if (!hint)
            continue;
        mpid_find_site(&site);
        snprintf(text, sizeof(text), "its hint %s is not so of rank %d of the window", hint, i);
        win_log_fault(&site, MPI_ERR_INFO_VALUE, text);
    }
}

int win_watch_begin(struct win *win)
{
    struct win_watch *w = calloc(1, sizeof(*w));
    if (!w)
        return MPI_ERR_NO_MEM;
    w->win = win;
    int rc = fill(w);
    if (!rc)
        rc = board_make(&w->board, win);
    if (rc) {
        destroy(w);
        return rc;
    }
    check_hints(w);
    win->watch = w;
    win_log_publish(w);
    known_on_any(learn_any);
    win_log_add(w);
    return MPI_SUCCESS;
}

void win_watch_free(struct win *win, const char *why)
{
    struct win_watch *w = win->watch;
    struct mpid_call_site site, first;
    uint16_t began = win->posted_count >= 0 ? w->exposed : w->began;
    mpid_find_site(&site);
    for (int i = 0; i < win->size && win->access == WIN_LOCK; i++)
        if (w->locked[i])
            began = w->locked[i];
    first = board_site_of(&w->board, began);
    if (why)
        win_log_fault_of_two(&first, world_facts.rank, &site, why);
    first = board_site_of(&w->board, w->used);
    if (win->access == WIN_FENCE && win->used)
        win_log_fault_of_two(&first, world_facts.rank, &site, "no MPI_Win_fence completes the operation before");
}

void win_watch_end(struct win *win)
{
    if (!win->watch)
        return;
    win_log_remove(win->watch);
    destroy(win->watch);
    win->watch = NULL;
}
