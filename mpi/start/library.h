/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The library from its first user to its last: the first one starts or wakes it, and when the last one is gone it
 * rests. A user is the world model or a session. world_lock guards it.
 */
#ifndef MPI_LIBRARY_H
#define MPI_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "include/mpid.h"

/* Count one more user; locked. Once threads have been asked for they stay: some may be inside MPI. Returns 0, or -1
 * with a sentence in why. */
int library_enter(enum mpid_model model, bool threads, char *why, size_t size);
/* Whether there is one user; locked. */
bool library_has_one_user(void);
/* Take the lock, to leave: for the last user only when nothing has to be waited for any more. */
void library_lock_to_leave(void);
/* Count one user less, locked so. Returns MPI_SUCCESS or an error class. */
int library_leave(void);

#endif
