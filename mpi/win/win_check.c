/* SPDX-License-Identifier: BSD-3-Clause */

/* Checks of one-sided operations; see win_check.h. */
#include "mpi/win/win_check.h"

#include "mpi/comm/errh.h"
#include "mpi/win/win.h"
#include "mpi/win/win_apply.h"
#include "mpi/win/win_op.h"

/* Whether all bytes of so many elements, and all places of them, have numbers. */
static bool is_countable(const struct type *type, MPI_Count count)
{
    int64_t bytes, last, end;
    return !type->size || !count ||
           !(__builtin_mul_overflow((int64_t)type->size, count, &bytes) ||
             __builtin_mul_overflow((int64_t)type->extent, count, &last) ||
             __builtin_add_overflow((int64_t)type->true_lb, last, &end) ||
             __builtin_add_overflow((int64_t)type->true_extent, end, &end));
}

/* A datatype argument: MPI_SUCCESS, or the code of an error. */
static int check_data(struct win *win, const char *which, MPI_Count count, MPI_Datatype handle,
                      const char *function)
{
    const struct type *type = type_from(handle);
    if (count < 0)
        return win_error(win, MPI_ERR_COUNT, function, "%s count %lld: must be 0 or more", which,
                         (long long)count);
    if (!type)
        return win_error(win, MPI_ERR_TYPE, function, "%s datatype %s is none, or was freed", which,
                         errh_name(handle).text);
    if (!type->committed)
        return win_error(win, MPI_ERR_TYPE, function,
                         "%s datatype is not committed: call MPI_Type_commit first", which);
    if (!is_countable(type, count))
        return win_error(win, MPI_ERR_COUNT, function,
                         "%s count %lld: so many elements have more bytes than memory can have",
                         which, (long long)count);
    return MPI_SUCCESS;
}

/* The basic type and the operation of an accumulate. */
static int check_accumulate(struct win *win, struct win_op *op)
{
    op->how = op_from(op->op);
    if (!op->how || !op->how->predefined)
        return win_error(win, MPI_ERR_OP, op->function,
                         "op %s: must be a predefined operation, not one of the program's",
                         errh_name(op->op).text);
    op->basic = win_basic_type(op->target_type);
    if (!op->basic && op->count)
        return win_error(win, MPI_ERR_TYPE, op->function,
                         "the target datatype mixes types: all elements must be of one predefined "
                         "type");
    const struct win_elements how = {.type = op->basic, .op = op->how};
    if (op->basic && op->count && !win_may_apply(&how, true, false))
        return win_error(win, MPI_ERR_OP, op->function,
                         "the operation is not defined on the elements of the target datatype");
    return MPI_SUCCESS;
}

static bool may_be_compared(const struct type *type)
{
    return type->predefined && (type->form == TYPE_SIGNED || type->form == TYPE_UNSIGNED ||
                                type->form == TYPE_LOGICAL || type->form == TYPE_BYTES);
}

/* That the origin's data fit what the target's type describes. */
static int check_len(struct win *win, const struct win_op *op, const struct win_data *data,
                     const char *which)
{
    uint64_t mine = (uint64_t)type_from(data->type)->size * (uint64_t)data->count;
    if (op->basic ? mine == win_op_bytes(op) : mine <= win_op_bytes(op))
        return MPI_SUCCESS;
    return win_error(win, MPI_ERR_TRUNCATE, op->function,
                     "%s data have %llu bytes, and those at the target %llu", which,
                     (unsigned long long)mine, (unsigned long long)win_op_bytes(op));
}

int win_check(struct win *win, struct win_op *op)
{
    int rc = check_data(win, "target", op->count, op->type, op->function);
    if (rc)
        return rc;
    op->target_type = type_from(op->type);
    if (type_may_be_misread(op->type) && comm_misreads(win->comm, op->rank, op->type))
        return win_error(win, MPI_ERR_TYPE, op->function,
                         "the target datatype holds long double, which has another format at rank %d: use double "
                         "instead, or processors of one kind",
                         op->rank);
    if (op->kind >= WIN_OP_ACCUMULATE && op->kind != WIN_OP_COMPARE &&
        (rc = check_accumulate(win, op)))
        return rc;
    if (op->kind == WIN_OP_COMPARE) {
        op->basic = op->target_type;
        if (!may_be_compared(op->basic))
            return win_error(win, MPI_ERR_TYPE, op->function,
                             "the datatype must be a predefined one of integers, logicals or bytes");
    }
    if (win_op_takes(op) &&
        ((rc = check_data(win, "origin", op->from.count, op->from.type, op->function)) ||
         (rc = check_len(win, op, &op->from, "origin"))))
        return rc;
    if (win_op_brings(op) &&
        ((rc = check_data(win, "result", op->to.count, op->to.type, op->function)) ||
         (rc = check_len(win, op, &op->to, "result"))))
        return rc;
    return MPI_SUCCESS;
}

/* ---- places ---- */

/* The first and the last byte, one past it, of what the target's type describes, from the
 * displacement on. */
static void find_bounds(const struct win_op *op, int64_t *first, int64_t *end)
{
    const struct type *type = op->target_type;
    int64_t last = (op->count - 1) * type->extent;
    *first = type->true_lb + (last < 0 ? last : 0);
    *end = type->true_lb + type->true_extent + (last > 0 ? last : 0);
}

int win_check_range(struct win *win, const struct win_op *op, int64_t unit, uint64_t size, int64_t *from)
{
    int64_t first, end;
    find_bounds(op, &first, &end);
    if (!__builtin_mul_overflow(op->disp, unit, from) && *from >= -first && *from <= INT64_MAX - end &&
        *from + end <= (int64_t)size)
        return MPI_SUCCESS;
    *from = 0;
    return win_error(win, MPI_ERR_RMA_RANGE, op->function,
                     "displacement %lld at rank %d: bytes %lld to %lld from there are not in its %llu bytes",
                     (long long)op->disp, op->rank, (long long)first, (long long)end,
                     (unsigned long long)size);
}

int win_check_attached(struct win *win, const struct win_op *op, int64_t unit, int64_t *from)
{
    int64_t first, end;
    find_bounds(op, &first, &end);
    if (!__builtin_mul_overflow(op->disp, unit, from) &&
        win_has(win, (uintptr_t)(*from + first), (uint64_t)(end - first)))
        return MPI_SUCCESS;
    return win_error(win, MPI_ERR_RMA_RANGE, op->function,
                     "displacement 0x%llx at rank %d: no memory is attached there",
                     (unsigned long long)op->disp, op->rank);
}
