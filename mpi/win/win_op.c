/* SPDX-License-Identifier: BSD-3-Clause */

/* One-sided operations; see win_op.h. */
#include "mpi/win/win_op.h"

#include <stdlib.h>

#include "mpi/request/request.h"
#include "mpi/type/op_kernels.h"
#include "mpi/type/type_runs.h"
#include "mpi/win/win.h"
#include "mpi/win/win_apply.h"
#include "mpi/win/win_check.h"
#include "mpi/win/win_far.h"
#include "mpi/win/win_sync.h"
#include "mpi/win/win_watch.h"

/* ---- memory that is mapped ---- */

/* Find the first byte of the target's data, or NULL: of an operation without data, or with an error raised. */
static int locate(struct win *win, const struct win_target *target, const struct win_op *op,
                  unsigned char **at)
{
    int64_t from;
    *at = NULL;
    if (!op->count || !op->target_type->size)
        return MPI_SUCCESS;
    int rc = win->flavor == MPI_WIN_FLAVOR_DYNAMIC
                 ? win_check_attached(win, op, target->unit, &from)
                 : win_check_range(win, op, target->unit, target->size, &from);
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
        rc = type_copy_in(false, op->from.buf, op->from.count, op->from.type, in, (MPI_Count)len, MPI_BYTE);
    if (!rc)
        (void)type_runs(op->target_type, op->count, visit, &walk);
    if (!rc && out) {
        MPI_Count fits = op->to.count * type_from(op->to.type)->size;
        rc = type_copy_in(false, out, fits, MPI_BYTE, (void *)(uintptr_t)op->to.buf, op->to.count, op->to.type);
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
    if ((rc = win_check(win, op)))
        return rc;
    atomic_store_explicit(&win->used, true, memory_order_relaxed);
    __atomic_store_n(&win_recent, win, __ATOMIC_RELAXED);
    return win->watch ? run_watched(win, target, op, request) : run(win, target, op, request);
}
