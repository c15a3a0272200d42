/* SPDX-License-Identifier: BSD-3-Clause */

/* A window as an object that carries attributes. */
#ifndef MPI_WIN_ATTR_H
#define MPI_WIN_ATTR_H

#include "mpi/attr.h"
#include "mpi/win/win.h"

static inline struct attr_owner win_attr_of(struct win *win)
{
    return (struct attr_owner){ATTR_WIN, win_handle(win), &win->attrs, &win->lock};
}

#endif
