/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A connected socket between two processes that have no communicator yet: the leaders of two groups
 * agree over it on their intercommunicator (mpi/coll/agree.h). Progress goes on while they wait. What comes
 * is hostile: checked, and bounded by what the caller expects.
 */
#ifndef MPI_PIPE_H
#define MPI_PIPE_H

#include <stdbool.h>
#include <stddef.h>

/* Send out_len bytes, and receive in_len; both sides call it, with each other's lengths. Returns
 * MPI_SUCCESS or an error class: MPI_ERR_PROC_ABORTED where the other process has gone,
 * MPI_ERR_INTERN where it says something else. */
int pipe_exchange(int fd, const void *out, size_t out_len, void *in, size_t in_len);

/* Wait until is_done(arg), called again and again, is true: also when there is news of a descriptor that
 * mpid_watch_fd() was given. It moves all that can be moved each time. */
void pipe_wait(bool (*is_done)(void *arg), void *arg);

#endif
