/* SPDX-License-Identifier: BSD-3-Clause */

/* Epochs of MPI_Win_post and MPI_Win_start; see win_sync.h. */
#include <stdlib.h>

#include "mpi/comm/context.h"
#include "mpi/comm/group.h"
#include "mpi/known.h"
#include "mpi/request/p2p.h"
#include "mpi/request/request.h"
#include "mpi/win/win_sync.h"
#include "mpi/win/win_watch.h"
#include "mpi/win/win_wire.h"

static struct p2p_side side(struct win *win, int rank, int tag)
{
    return (struct p2p_side){win->comm, win->comm->context + CONTEXT_WIN, rank, tag};
}

/* Send a word, with what this process knows where windows are watched. */
static int tell(struct win *win, int rank, int tag)
{
    struct p2p_side to = side(win, rank, tag);
    struct known known;
    if (win->watch)
        known = known_now();
    return p2p_send_mode(&to, &known, win->watch ? sizeof(known) : 0, MPI_BYTE, MPID_STANDARD);
}

static int hear(struct win *win, int rank, int tag)
{
    struct p2p_side from = side(win, rank, tag);
    struct known known = {{0}};
    int rc = p2p_recv(&from, &known, win->watch ? sizeof(known) : 0, MPI_BYTE, MPI_STATUS_IGNORE);
    if (win->watch)
        known_learn(&known);
    return rc;
}

/* The ranks of a group's members in the window, from malloc(); NULL with *rc set. */
static int *ranks_of(struct win *win, const struct group *group, const char *function, int *rc)
{
    int *ranks = malloc(sizeof(*ranks) * (size_t)(group->size ? group->size : 1));
    *rc = MPI_SUCCESS;
    if (!ranks)
        *rc = win_error(win, MPI_ERR_NO_MEM, function, "no memory for %d ranks", group->size);
    for (int i = 0; ranks && i < group->size; i++) {
        struct process process = group_process(group, i);
        ranks[i] = group_find(win->comm->group, &process);
        if (ranks[i] >= 0 && ranks[i] != MPI_UNDEFINED)
            continue;
        *rc = win_error(win, MPI_ERR_GROUP, function,
                        "member %d of the group is none of the window", i);
        free(ranks);
        ranks = NULL;
    }
    return ranks;
}

/* Posts of an exposure that cannot be made are taken back. */
static void cancel_post(struct win *win)
{
    for (int i = 0; i < win->posted_count; i++) {
        (void)request_cancel(win->posted[i]);
        (void)p2p_finish(win->posted[i], MPI_STATUS_IGNORE);
    }
    free(win->posted);
    win->posted = NULL;
    win->posted_count = -1;
}

int win_post(struct win *win, struct group *group, int assert, const char *function)
{
    int rc;
    if (assert & ~(MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT))
        return win_error(win, MPI_ERR_ASSERT, function, "assert %d is none of a post's", assert);
    if (win_is_revoked(win))
        return win_failed(win, MPI_SUCCESS, function, -1);
    if (win->posted_count >= 0)
        return win_no_epoch(win, function, "the window is exposed already: call MPI_Win_wait first");
    int *ranks = ranks_of(win, group, function, &rc);
    if (!ranks)
        return rc;
    win->posted = calloc((size_t)group->size + 1, sizeof(struct request *));
    rc = win->posted ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    win->posted_count = rc ? -1 : 0;
    win_order();
    struct known *heard = win->watch && !rc ? win_watch_heard(win, group->size) : NULL;
    for (int i = 0; i < group->size && !rc; i++) {
        struct p2p_side from = side(win, ranks[i], WIN_TAG_COMPLETE);
        rc = p2p_irecv(&from, heard ? &heard[i] : NULL, heard ? sizeof(*heard) : 0, MPI_BYTE, &win->posted[i]);
        win->posted_count += !rc;
    }
    for (int i = 0; i < group->size && !rc && !(assert &MPI_MODE_NOCHECK); i++)
        rc = tell(win, ranks[i], WIN_TAG_POST);
    free(ranks);
    if (win->watch)
        win_watch_opened(win, true);
    if (rc)
        cancel_post(win);
    return win_failed(win, rc, function, -1);
}

static void open_started(struct win *win, bool open)
{
    for (int i = 0; i < win->started->size; i++) {
        struct win_target *target = win_target(win, win->started_ranks[i]);
        if (!target)
            continue;
        win_set_open(target, open);
        target->started = open;
        win_allow(win, target);
    }
}

int win_start(struct win *win, struct group *group, int assert, const char *function)
{
    int rc;
    if (assert & ~MPI_MODE_NOCHECK)
        return win_error(win, MPI_ERR_ASSERT, function, "assert %d is none of a start's", assert);
    if (win_is_revoked(win))
        return win_failed(win, MPI_SUCCESS, function, -1);
    if (win->access > WIN_FENCE || (win->access == WIN_FENCE && win->used))
        return win_no_epoch(win, function, "an access epoch is open already: end it first");
    int *ranks = ranks_of(win, group, function, &rc);
    if (!ranks)
        return rc;
    for (int i = 0; i < group->size && !rc && !(assert &MPI_MODE_NOCHECK); i++)
        rc = hear(win, ranks[i], WIN_TAG_POST);
    if (rc) {
        free(ranks);
        return win_failed(win, rc, function, -1);
    }
    group_ref(group);
    win->started = group;
    win->started_ranks = ranks;
    win_close_fence(win);
    win_set_access(win, WIN_START);
    open_started(win, true);
    if (win->watch)
        win_watch_opened(win, false);
    return MPI_SUCCESS;
}

int win_complete(struct win *win, const char *function)
{
    if (win->access != WIN_START)
        return win_no_epoch(win, function, "no epoch of MPI_Win_start is open");
    int rc = win_complete_all(win);
    if (win->watch) {
        win_watch_complete(win, -1, false);
        win_watch_brought(win, -1);
    }
    for (int i = 0; i < win->started->size; i++) {
        int sent = tell(win, win->started_ranks[i], WIN_TAG_COMPLETE);
        rc = rc ? rc : sent;
    }
    open_started(win, false);
    group_unref(win->started);
    free(win->started_ranks);
    win->started = NULL;
    win_set_access(win, WIN_NONE);
    return win_failed(win, rc, function, -1);
}

int win_wait(struct win *win, bool *flag, const char *function)
{
    int rc = MPI_SUCCESS;
    if (win->posted_count < 0)
        return win_no_epoch(win, function, "the window is not exposed by MPI_Win_post");
    if (flag) {
        (void)mpid_progress();
        *flag = true;
        for (int i = 0; i < win->posted_count; i++)
            *flag = *flag && request_is_complete(win->posted[i]);
        if (!*flag)
            return MPI_SUCCESS;
    }
    for (int i = 0; i < win->posted_count; i++) {
        int ended = p2p_finish(win->posted[i], MPI_STATUS_IGNORE);
        rc = rc ? rc : ended;
    }
    free(win->posted);
    win->posted = NULL;
    win->posted_count = -1;
    win_order();
    if (win->watch)
        win_watch_waited(win);
    return win_failed(win, rc, function, -1);
}
