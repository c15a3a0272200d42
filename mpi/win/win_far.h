/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The origin's side of a target that gets messages: it asks, and counts what is under way as items.
 * An item is a receive of an answer, or a send of long data. Its completion is handled in any call
 * that makes progress, where it also completes the program's request, if it has one.
 */
#ifndef MPI_WIN_FAR_H
#define MPI_WIN_FAR_H

#include <stdbool.h>

struct request;
struct win;
struct win_op;
struct win_target;

/* Start an operation. With done, the request of it: complete once the operation is, for the origin.
 * Returns MPI_SUCCESS or an error class. */
int win_far_start(struct win *win, struct win_target *target, const struct win_op *op,
                  struct request **done);

/* Ask a target to answer once all that was asked of it is done, if that is not known. May wait for a lock. */
int win_far_ask_flush(struct win *win, struct win_target *target);
/* Ask for a lock, exclusive or shared, and wait for it. passes: shared, by one that may have other locks. */
int win_far_lock(struct win *win, struct win_target *target, bool exclusive, bool passes);
/* The same, but ask when something needs it: an epoch of one short put or accumulate, or of none, is one question. */
void win_far_lock_later(struct win *win, struct win_target *target, bool exclusive, bool passes);
/* Have all that were deferred: this process is about to ask for another one. So a program that takes locks in an order has
 * them in that order, and the accesses to one target are guarded by the lock of another one. The ends of their epochs
 * tell of errors. */
void win_far_settle_all(void);
/* Ask to give it back, once everything is done; as win_far_ask_flush(). exclusive: otherwise it was
 * shared. */
int win_far_ask_unlock(struct win *win, struct win_target *target, bool exclusive);
/* The window is freed, perhaps in an epoch, if it was revoked: forget what waits for the epoch's end. */
void win_far_end(struct win *win);
/* Wait until no item of a target is under way (NULL: of any). Returns its first error. */
int win_far_wait(struct win *win, struct win_target *target);

#endif
