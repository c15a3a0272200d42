/* SPDX-License-Identifier: BSD-3-Clause */

/* Which bytes of a target an operation is about, in a window that is not dynamic; see win_op.h. */
#include "mpi/win/win_op.h"

#include "mpi/win/win.h"

int win_range_find(struct win *win, const struct win_op *op, int64_t unit, uint64_t size, int64_t *from)
{
    int64_t first, end;
    win_bounds(op, &first, &end);
    if (!__builtin_mul_overflow(op->disp, unit, from) && *from >= -first && *from <= INT64_MAX - end &&
        *from + end <= (int64_t)size)
        return MPI_SUCCESS;
    *from = 0;
    return win_error(win, MPI_ERR_RMA_RANGE, op->function,
                     "displacement %lld at rank %d: bytes %lld to %lld from there are not in its %llu bytes",
                     (long long)op->disp, op->rank, (long long)first, (long long)end,
                     (unsigned long long)size);
}
