/* SPDX-License-Identifier: BSD-3-Clause */

/* Making and freeing windows. All members take part. */
#ifndef MPI_WIN_MAKE_H
#define MPI_WIN_MAKE_H

#include <mpi.h>
#include <stddef.h>

struct comm;
struct info;
struct win;

/* What the caller asks for; arguments are checked. */
struct win_wish {
    struct comm *comm;
    int flavor; /* MPI_WIN_FLAVOR_ */
    void *base; /* of CREATE */
    MPI_Aint bytes, unit;
    const struct info *info; /* or NULL */
};

/* Returns MPI_SUCCESS, or an error class with a sentence in why. The base of ALLOCATE and SHARED is
 * in the window. */
int win_make(const struct win_wish *wish, struct win **made, char *why, size_t size);
/* Returns MPI_SUCCESS or an error class; the window is gone in any case. */
int win_free(struct win *win);

#endif
