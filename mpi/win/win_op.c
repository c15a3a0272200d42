/* SPDX-License-Identifier: BSD-3-Clause */

/* One-sided operations; see win_op.h. */
#include "mpi/win/win_op.h"

#include <stdlib.h>

#include "mpi/comm/errh.h"
#include "mpi/request/request.h"
#include "mpi/type/op_kernels.h"
#include "mpi/type/type_runs.h"
#include "mpi/win/win.h"
#include "mpi/win/win_apply.h"
#include "mpi/win/win_far.h"
#include "mpi/win/win_sync.h"
#include "mpi/win/win_watch.h"

/* ---- checks ---- */

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

static int check(struct win *win, struct win_op *op)
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

/* ---- memory that is mapped ---- */

/* As win_range_find(), in a dynamic window: of this process's memory. */
static int find_attached(struct win *win, const struct win_op *op, int64_t unit, int64_t *from)
{
    int64_t first, end;
    win_bounds(op, &first, &end);
    if (!__builtin_mul_overflow(op->disp, unit, from) &&
        win_has(win, (uintptr_t)(*from + first), (uint64_t)(end - first)))
        return MPI_SUCCESS;
    return win_error(win, MPI_ERR_RMA_RANGE, op->function,
                     "displacement 0x%llx at rank %d: no memory is attached there",
                     (unsigned long long)op->disp, op->rank);
}

/* Find the first byte of the target's data, or NULL: of an operation without data, or with an error raised. */
static int locate(struct win *win, const struct win_target *target, const struct win_op *op,
                  unsigned char **at)
{
    int64_t from;
    *at = NULL;
    if (!op->count || !op->target_type->size)
        return MPI_SUCCESS;
    int rc = win->flavor == MPI_WIN_FLAVOR_DYNAMIC
                 ? find_attached(win, op, target->unit, &from)
                 : win_range_find(win, op, target->unit, target->size, &from);
    if (!rc)
        *at = target->base + from;
    return rc;
}

/* ---- directly ---- */

struct walk {
    struct win_spread spread;
    unsigned char *at;
};

static int visit(void *arg, int64_t offset, int64_t len)
{
    struct walk *walk = arg;
    win_spread(&walk->spread, walk->at + offset, (size_t)len);
    return 0;
}

/* Elements in a datatype of the program's: by packed copies of what goes and comes. */
static int change_runs(const struct win_op *op, const struct win_elements *how, unsigned char *at)
{
    size_t len = win_op_bytes(op);
    char *in = calloc(1, len), *out = win_op_brings(op) ? malloc(len) : NULL;
    struct walk walk = {{*how, win_op_takes(op) ? in : NULL, out, 0}, at};
    int rc = in && (out || !win_op_brings(op)) ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!rc && win_op_takes(op))
        rc = type_copy(op->from.buf, op->from.count, op->from.type, in, (MPI_Count)len, MPI_BYTE);
    if (!rc)
        (void)type_runs(op->target_type, op->count, visit, &walk);
    if (!rc && out) {
        MPI_Count fits = op->to.count * type_from(op->to.type)->size;
        rc = type_copy(out, fits, MPI_BYTE, (void *)(uintptr_t)op->to.buf, op->to.count,
                       op->to.type);
    }
    free(in);
    free(out);
    return rc;
}

static int change(struct win *win, const struct win_target *target, const struct win_op *op,
                  unsigned char *at)
{
    struct win_elements how = {op->basic, op->how, target->queue,
                               !os_lock_enabled && target->locked == WIN_EXCLUSIVE};
    void *to = (void *)(uintptr_t)op->to.buf;
    if (op->kind == WIN_OP_COMPARE) {
        win_compare(&how, at, op->compare, op->from.buf, to);
        return MPI_SUCCESS;
    }
    bool plain = op->type == op->basic->handle;
    if (win_op_takes(op))
        plain = plain && op->from.type == op->type && op->from.count == op->count;
    if (win_op_brings(op))
        plain = plain && op->to.type == op->type && op->to.count == op->count;
    if (!plain)
        return change_runs(op, &how, at);
    win_apply(&how, at, op->from.buf, win_op_brings(op) ? to : NULL, (size_t)op->count);
    return MPI_SUCCESS;
}

static int carry_out(struct win *win, const struct win_target *target, const struct win_op *op)
{
    unsigned char *at;
    int rc = locate(win, target, op, &at);
    if (rc || !at)
        return rc;
    if (op->kind == WIN_OP_PUT)
        rc = type_copy(op->from.buf, op->from.count, op->from.type, at, op->count, op->type);
    else if (op->kind == WIN_OP_GET) /* of more bytes than there is room for, the first */
        rc = type_copy(at, op->count, op->type, (void *)(uintptr_t)op->to.buf, op->to.count,
                       op->to.type) == MPI_ERR_NO_MEM
                 ? MPI_ERR_NO_MEM
                 : MPI_SUCCESS;
    else
        rc = change(win, target, op, at);
    return rc ? win_error(win, rc, op->function, "the data could not be copied") : MPI_SUCCESS;
}

/* ---- memory that the kernel copies ---- */

/* The origin's data as one piece of memory, from where the count says, or NULL. */
static unsigned char *piece_of(const struct win_data *data)
{
    const struct type *type = type_from(data->type);
    return type->kernels ? NULL : (unsigned char *)(uintptr_t)data->buf + type->true_lb;
}

/* Find the target's data in a dynamic window. Returns false if the target has to be asked. */
static bool find_shown(const struct win_target *target, const struct win_op *op, uint64_t *at)
{
    int64_t from;
    if (__builtin_mul_overflow(op->disp, target->unit, &from) ||
        __builtin_add_overflow(from, (int64_t)op->target_type->true_lb, &from))
        return false;
    *at = (uint64_t)from;
    return win_reach_shows(&target->reach, *at, win_op_bytes(op));
}

/* Find how far behind the target's base its data begin. Returns false if the target has to be asked. */
static bool find_offset(struct win *win, const struct win_target *target, const struct win_op *op,
                        uint64_t *offset, int *rc)
{
    unsigned char *there;
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return find_shown(target, op, offset);
    *rc = locate(win, target, op, &there);
    if (there)
        *offset = (uint64_t)(there - target->base) + (uint64_t)op->target_type->true_lb;
    return true;
}

/* Copy by the kernel where both sides are one piece. Returns whether that was possible; *rc then.
 */
static bool copy_out(struct win *win, struct win_target *target, const struct win_op *op, int *rc)
{
    const struct win_data *mine = op->kind == WIN_OP_PUT ? &op->from : &op->to;
    unsigned char *here;
    uint64_t offset = 0;
    if (op->kind > WIN_OP_GET || op->target_type->kernels || !target->reach.pid ||
        !(here = piece_of(mine)) || win_has_failed(win, target->rank) ||
        !win_reach_try(&target->reach))
        return false; /* the process id of one that has died may be another's by now */
    *rc = MPI_SUCCESS;
    if (!win_op_bytes(op))
        return true;
    if (!find_offset(win, target, op, &offset, rc))
        return false;
    if (*rc)
        return true;
    size_t len = (size_t)type_from(mine->type)->size * (size_t)mine->count;
    return op->kind == WIN_OP_PUT ? win_reach_write(&target->reach, offset, here, len)
                                  : win_reach_read(&target->reach, offset, here, len);
}

/* ---- all ---- */

static int give(struct win *win, struct request *made, MPI_Request *request, const char *function)
{
    if (!made && !(made = request_create_received(win->comm)))
        return win_error(win, MPI_ERR_NO_MEM, function, "no memory for a request");
    *request = request_handle(made);
    return MPI_SUCCESS;
}

static int run_far(struct win *win, struct win_target *target, struct win_op *op,
                   MPI_Request *request)
{
    struct request *made = NULL;
    int rc = win_far_start(win, target, op, request ? &made : NULL);
    if (rc && made)
        (void)request_abandon(made);
    if (rc)
        return win_error(win, rc, op->function, "rank %d could not be asked", op->rank);
    return request ? give(win, made, request, op->function) : MPI_SUCCESS;
}

static int run(struct win *win, struct win_target *target, struct win_op *op, MPI_Request *request)
{
    int rc;
    if (!target->mapped && win->flavor == MPI_WIN_FLAVOR_CREATE)
        win_map(win, target);
    if (target->mapped)
        rc = carry_out(win, target, op);
    else if (!copy_out(win, target, op, &rc))
        return run_far(win, target, op, request);
    return !rc && request ? give(win, NULL, request, op->function) : rc;
}

static __attribute__((noinline, cold)) int run_watched(struct win *win, struct win_target *target, struct win_op *op,
                                                       MPI_Request *request)
{
    struct win_watched watched;
    op->requests = request != NULL;
    int rc = win_watch_op(win, op, &watched);
    if (!rc && !(rc = run(win, target, op, request)))
        win_watch_started(win, op, &watched, request ? (const void *)*request : NULL);
    return rc;
}

int win_run(struct win *win, struct win_op *op, MPI_Request *request)
{
    int rc;
    if (op->rank == MPI_PROC_NULL)
        return request ? give(win, NULL, request, op->function) : MPI_SUCCESS;
    if (op->rank < 0 || op->rank >= win->size)
        return win_error(win, MPI_ERR_RANK, op->function, "target rank %d: must be 0 to %d",
                         op->rank, win->size - 1);
    struct win_target *target = win_target(win, op->rank);
    if (!target)
        return win_error(win, MPI_ERR_NO_MEM, op->function, "no memory for rank %d", op->rank);
    if ((!(target->open | win->open_all) || win_is_revoked(win)) && (rc = win_open_target(win, target, op->function)))
        return rc;
    if ((rc = check(win, op)))
        return rc;
    atomic_store_explicit(&win->used, true, memory_order_relaxed);
    __atomic_store_n(&win_recent, win, __ATOMIC_RELAXED);
    return win->watch ? run_watched(win, target, op, request) : run(win, target, op, request);
}
