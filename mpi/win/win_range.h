/* SPDX-License-Identifier: BSD-3-Clause */

/* Which bytes of a target an operation is about, in a window that is not dynamic. */
#ifndef MPI_WIN_RANGE_H
#define MPI_WIN_RANGE_H

#include <stdint.h>

struct win;
struct win_op;

/* Find where the target's data begin, in bytes from its base: all of them must lie within the size bytes that it has.
 * unit: of a displacement. Returns MPI_SUCCESS or the code of an error that was raised. */
int win_range_find(struct win *win, const struct win_op *op, int64_t unit, uint64_t size, int64_t *from);

#endif
