/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Checks of the arguments of one-sided operations. Each returns MPI_SUCCESS or the code of an error that was raised.
 */
#ifndef MPI_WIN_CHECK_H
#define MPI_WIN_CHECK_H

#include <stdint.h>

struct win;
struct win_op;

/* Counts, datatypes and the operation; and find what win_op.h says that win_run() finds. */
int win_check(struct win *win, struct win_op *op);
/* Find where the target's data begin, in bytes from its base: all of them must lie within the size bytes that it has,
 * in a window that is not dynamic. unit: of a displacement. */
int win_check_range(struct win *win, const struct win_op *op, int64_t unit, uint64_t size, int64_t *from);
/* The same in a dynamic window: of memory that this process has attached. */
int win_check_attached(struct win *win, const struct win_op *op, int64_t unit, int64_t *from);

#endif
