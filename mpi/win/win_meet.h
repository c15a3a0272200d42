/* SPDX-License-Identifier: BSD-3-Clause */

/* Collectives over the members of a window. All call it; each function returns MPI_SUCCESS or an error class. */
#ifndef MPI_WIN_MEET_H
#define MPI_WIN_MEET_H

#include <stddef.h>

struct comm;
struct win;

/* Wait until all members have come. */
int win_meet_barrier(struct win *win);
/* Give all members a block of size bytes from each. If that is a multiple of 8, the block consists of words of 64 bits. */
int win_meet_give(struct win *win, const void *mine, void *all, size_t size);
/* Have all members of a communicator return the same, which is MPI_SUCCESS if all of them bring that. */
int win_meet_agree(struct comm *comm, int error);

#endif
