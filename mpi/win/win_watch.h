/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One-sided operations watched, for mpiexec --check: each is compared, as it begins, with those that are
 * not known to be over (mpi/win/win_board.h), and its buffers with those in use (mpi/request/busy.h). What is wrong
 * ends the job with both calls and lines.
 *
 * While nothing is watched, win->watch is NULL, and nothing below may be called.
 */
#ifndef MPI_WIN_WATCH_H
#define MPI_WIN_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "include/mpid.h"

struct known;
struct win;
struct win_op;

/* A window is made, and known_is_kept: all members call it. Returns MPI_SUCCESS or an error class. */
int win_watch_begin(struct win *win);
/* It is about to be freed: tell of an epoch that is open. why: what keeps it from being freed, or NULL. */
void win_watch_free(struct win *win, const char *why);
void win_watch_end(struct win *win);

/* An operation that is being started. */
struct win_watched {
    struct mpid_call_site site;
    uint64_t at;     /* of the target's bytes: as struct board_access has them */
    uint32_t serial; /* of one with a request */
};

/* An operation whose arguments are right is about to be started. Returns MPI_SUCCESS or the code of an error
 * that was raised. */
int win_watch_op(struct win *win, const struct win_op *op, struct win_watched *watched);
/* It was started, with a request of it, or NULL. */
void win_watch_started(struct win *win, const struct win_op *op, const struct win_watched *watched,
                       const void *request);

/* Operations at a target, or at all (-1), are complete. local: here alone. */
void win_watch_complete(struct win *win, int target, bool local);
/* What they bring is here. */
void win_watch_brought(struct win *win, int target);

/* A fence begins, once all is complete that was started here; and it ends. */
int win_watch_fence(struct win *win, int assert);
void win_watch_fenced(struct win *win);
/* An epoch of MPI_Win_start begins, or, exposes, of MPI_Win_post. One of MPI_Win_post is over. */
void win_watch_opened(struct win *win, bool exposes);
void win_watch_waited(struct win *win);
/* Where the words of so many members of a group are received that end their parts in an exposure; NULL: no
 * memory. */
struct known *win_watch_heard(struct win *win, int count);
/* The lock of a target, or of all (-1), is had, or, unchecked, said to be free; or one is about to be given
 * back. */
void win_watch_lock(struct win *win, int target, bool exclusive, bool unchecked);
void win_watch_unlock(struct win *win, int target, bool exclusive);
/* MPI_Win_sync. */
void win_watch_sync(struct win *win);

#endif
