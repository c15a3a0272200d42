/* SPDX-License-Identifier: BSD-3-Clause */

/* One-sided operations (MPI-5.0 12.3). */

#include <string.h>

#include "mpi/comm/errh.h"
#include "mpi/request/request.h"
#include "mpi/win/win.h"
#include "mpi/win/win_op.h"

/* Run an operation on a window that may be none; with request, give one. */
static int run(MPI_Win handle, struct win_op *op, MPI_Request *request, bool wants_request)
{
    struct win *win = win_from(handle);
    if (!win)
        return win_bad(handle, op->function);
    if (wants_request && !request)
        return win_error(win, MPI_ERR_ARG, op->function, "request is NULL");
    if (wants_request && op->rank != MPI_PROC_NULL && win->access < WIN_LOCK)
        return win_error(win, MPI_ERR_RMA_SYNC, op->function,
                         "it needs an epoch of MPI_Win_lock or MPI_Win_lock_all");
    return win_run(win, op, request);
}

/* ---- what most calls are ---- */

typedef uint64_t __attribute__((aligned(1), may_alias)) unaligned64;
typedef uint32_t __attribute__((aligned(1), may_alias)) unaligned32;

/* A place that a call can access at once. */
struct quick_place {
    struct win *win;
    unsigned char *at;
    uint64_t len;
};

/* The size of a type by a table of type.h, or 0: it is not for here. */
static inline int64_t size_by(const uint8_t *table, MPI_Datatype type)
{
    uintptr_t i = (uintptr_t)type - (uintptr_t)MPI_DATATYPE_NULL;
    return __builtin_expect(i < 256, 1) ? table[i] : 0;
}

/* Find that of count elements of so many bytes; of none if their size is 0. Returns whether there is
 * such. */
static inline bool find_place(MPI_Win handle, int rank, MPI_Aint disp, MPI_Count count,
                              int64_t size, struct quick_place *place)
{
    struct win *win = __atomic_load_n(&win_recent, __ATOMIC_RELAXED);
    int64_t at, len;
    if (__builtin_expect(handle != (MPI_Win)win, 0) ||
        __builtin_expect((unsigned)rank >= (unsigned)win->direct, 0))
        return false;
    const struct win_quick *quick = &win->quick[(unsigned)rank];
    uint64_t room = atomic_load_explicit(&quick->room, memory_order_acquire);
    if (__builtin_expect(__builtin_mul_overflow(disp, quick->unit, &at), 0) ||
        __builtin_expect(__builtin_mul_overflow(count, size, &len), 0) ||
        __builtin_expect((uint64_t)at > room, 0) ||
        __builtin_expect((uint64_t)len > room - (uint64_t)at, 0))
        return false;
    place->win = win;
    place->len = (uint64_t)len;
    place->at = quick->base + at;
    return true;
}

/* It is accessed. */
static inline void use_place(const struct quick_place *place)
{
    atomic_store_explicit(&place->win->used, true, memory_order_relaxed);
}

/* The rest of the calls that begin below: of other lengths than the most common one, and of everything
 * else. They get the arguments unchanged, so that the short way needs no frame. */
#define REST __attribute__((noinline, cold))
static REST int MPI_Put_rest(const void *from, MPI_Count count, MPI_Datatype type, int rank,
                             MPI_Aint disp, MPI_Count target_count, MPI_Datatype target_type,
                             MPI_Win win)
{
    struct quick_place place;
    if (count == target_count && type == target_type &&
        find_place(win, rank, disp, count, size_by(type_quick_size, type), &place) && place.len) {
        use_place(&place);
        memcpy(place.at, from, place.len);
        return MPI_SUCCESS;
    }
    struct win_op op = {.kind = WIN_OP_PUT, .from = {from, count, type}, .rank = rank, .disp = disp,
                        .count = target_count, .type = target_type, .function = "MPI_Put"};
    return run(win, &op, NULL, false);
}

static REST int MPI_Get_rest(void *to, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint disp,
             MPI_Count target_count, MPI_Datatype target_type, MPI_Win win)
{
    struct quick_place place;
    if (count == target_count && type == target_type &&
        find_place(win, rank, disp, count, size_by(type_quick_size, type), &place) && place.len) {
        use_place(&place);
        memcpy(to, place.at, place.len);
        return MPI_SUCCESS;
    }
    struct win_op op = {.kind = WIN_OP_GET, .to = {to, count, type}, .rank = rank, .disp = disp,
                        .count = target_count, .type = target_type, .function = "MPI_Get"};
    return run(win, &op, NULL, false);
}

static REST int fetch(const void *from, void *to, MPI_Datatype type, int rank, MPI_Aint disp,
                      MPI_Op op, MPI_Win win)
{
    struct win_op what = {.kind = WIN_OP_FETCH, .from = {from, 1, type}, .to = {to, 1, type},
                          .rank = rank, .disp = disp, .count = 1, .type = type, .op = op,
                          .function = "MPI_Fetch_and_op"};
    return run(win, &what, NULL, false);
}

/* Add to, or read, a whole number of 4 or 8 bytes. Returns whether it was done. */
static inline bool fetch_at_once(const struct quick_place *place, const void *from, void *to,
                                 bool adds)
{
    void *at = place->at;
    if (__builtin_expect(place->len < 4 || (uintptr_t)at & (place->len - 1), 0))
        return false;
    use_place(place);
    if (place->len == 8)
        *(unaligned64 *)to = adds ? __atomic_fetch_add((uint64_t *)at, *(const unaligned64 *)from,
                                                       __ATOMIC_ACQ_REL)
                                  : __atomic_load_n((uint64_t *)at, __ATOMIC_ACQUIRE);
    else
        *(unaligned32 *)to = adds ? __atomic_fetch_add((uint32_t *)at, *(const unaligned32 *)from,
                                                       __ATOMIC_ACQ_REL)
                                  : __atomic_load_n((uint32_t *)at, __ATOMIC_ACQUIRE);
    return true;
}

/*
 * Copy data to a target's memory in a window.
 *
 * The call returns before the data are there: they are once the epoch ends, or MPI_Win_flush
 * returns. Until then, or until MPI_Win_flush_local returns, the origin's buffer must not change.
 * Where the target's memory is mapped, both are so at once.
 *
 * MPI_ERR_TRUNCATE: the origin has more bytes than the target's count and datatype describe.
 *
 * MPI-5.0 12.3.1
 */
int PMPI_Put_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win)
{
    struct quick_place place;
    if (__builtin_expect(
            origin_count == target_count && origin_datatype == target_datatype &&
                find_place(win, target_rank, target_disp, target_count,
                           size_by(type_quick_size, origin_datatype), &place) &&
                place.len == 8,
            1)) {
        use_place(&place);
        memcpy(place.at, origin_addr, 8);
        return MPI_SUCCESS;
    }
    return MPI_Put_rest(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                        target_count, target_datatype, win);
}

/*
 * Copy data from a target's memory in a window.
 *
 * The call returns before the data are here: they are once the epoch ends, or MPI_Win_flush or
 * MPI_Win_flush_local returns.
 *
 * origin_addr (out): where the data go
 *
 * MPI_ERR_TRUNCATE: the origin has room for more bytes than the target's count and datatype
 *   describe.
 *
 * MPI-5.0 12.3.2
 */
int PMPI_Get_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win)
{
    struct quick_place place;
    if (__builtin_expect(
            origin_count == target_count && origin_datatype == target_datatype &&
                find_place(win, target_rank, target_disp, target_count,
                           size_by(type_quick_size, origin_datatype), &place) &&
                place.len == 8,
            1)) {
        use_place(&place);
        memcpy(origin_addr, place.at, 8);
        return MPI_SUCCESS;
    }
    return MPI_Get_rest(origin_addr, origin_count, origin_datatype, target_rank, target_disp,
                        target_count, target_datatype, win);
}

/*
 * Combine data with a target's memory in a window.
 *
 * Each element at the target becomes the result of the operation of itself and the origin's
 * element. This is atomic for each element, towards all accumulates of any process; accumulates of
 * one origin to one place happen in their order. The call completes as that of MPI_Put does.
 *
 * op: a predefined operation, or MPI_REPLACE: the target's element becomes the origin's
 *
 * MPI_ERR_OP: op is not a predefined operation, or not defined on these elements.
 * MPI_ERR_TRUNCATE: the origin's data and the target's have different lengths.
 *
 * MPI-5.0 12.3.4
 */
int PMPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Op op, MPI_Win win)
{
    struct win_op what = {.kind = WIN_OP_ACCUMULATE,
                          .from = {origin_addr, origin_count, origin_datatype},
                          .rank = target_rank, .disp = target_disp, .count = target_count,
                          .type = target_datatype, .op = op, .function = __func__};
    return run(win, &what, NULL, false);
}

/*
 * Combine data with a target's memory in a window, and get its former value.
 *
 * As MPI_Accumulate; the result is each element before it was changed, atomically with the change.
 * The result is here once the epoch ends, or MPI_Win_flush or MPI_Win_flush_local returns.
 *
 * origin_addr: not read, and its count and datatype ignored, where op is MPI_NO_OP
 * result_addr (out): where the former elements go
 * op: a predefined operation, MPI_REPLACE, or MPI_NO_OP: nothing changes
 *
 * MPI_ERR_OP: op is not a predefined operation, or not defined on these elements.
 * MPI_ERR_TRUNCATE: the origin's data, the result and the target's data have different lengths.
 *
 * MPI-5.0 12.3.4
 */
int PMPI_Get_accumulate_c(const void *origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
    MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
    struct win_op what = {.kind = WIN_OP_FETCH,
                          .from = {origin_addr, origin_count, origin_datatype},
                          .to = {result_addr, result_count, result_datatype},
                          .rank = target_rank, .disp = target_disp, .count = target_count,
                          .type = target_datatype, .op = op, .function = __func__};
    return run(win, &what, NULL, false);
}

/*
 * Combine one element with a target's memory in a window, and get its former value.
 *
 * As MPI_Get_accumulate of one element of a predefined datatype.
 *
 * origin_addr: not read where op is MPI_NO_OP
 * result_addr (out): where the former element goes
 * op: a predefined operation, MPI_REPLACE, or MPI_NO_OP: nothing changes
 *
 * MPI_ERR_OP: op is not a predefined operation, or not defined on the element.
 *
 * MPI-5.0 12.3.4
 */
int PMPI_Fetch_and_op(const void *origin_addr, void *result_addr, MPI_Datatype datatype,
    int target_rank, MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
    struct quick_place place;
    if (__builtin_expect((op == MPI_SUM || op == MPI_NO_OP) &&
                             find_place(win, target_rank, target_disp, 1,
                                        size_by(type_quick_whole, datatype), &place) &&
                             fetch_at_once(&place, origin_addr, result_addr, op == MPI_SUM), 1))
        return MPI_SUCCESS;
    return fetch(origin_addr, result_addr, datatype, target_rank, target_disp, op, win);
}

/*
 * Replace an element of a target's memory if it equals another one, and get its former value.
 *
 * This is atomic towards all accumulates. The result is here once the epoch ends, or MPI_Win_flush
 * or MPI_Win_flush_local returns.
 *
 * origin_addr: what the element becomes
 * compare_addr: what it is compared with, byte by byte
 * result_addr (out): where the former element goes
 * datatype: a predefined datatype of integers, logicals or bytes
 *
 * MPI_ERR_TYPE: not such a datatype.
 *
 * MPI-5.0 12.3.4
 */
int PMPI_Compare_and_swap(const void *origin_addr, const void *compare_addr, void *result_addr,
    MPI_Datatype datatype, int target_rank, MPI_Aint target_disp, MPI_Win win)
{
    struct win_op what = {.kind = WIN_OP_COMPARE, .from = {origin_addr, 1, datatype},
                          .compare = compare_addr, .to = {result_addr, 1, datatype},
                          .rank = target_rank, .disp = target_disp, .count = 1, .type = datatype,
                          .function = __func__};
    return run(win, &what, NULL, false);
}

/*
 * Copy data to a target's memory in a window, with a request.
 *
 * As MPI_Put, in an epoch of MPI_Win_lock or MPI_Win_lock_all. The request is complete
 * once the origin's buffer may change; the data are at the target once MPI_Win_flush or
 * MPI_Win_unlock returns.
 *
 * MPI_ERR_TRUNCATE: the origin has more bytes than the target's count and datatype describe.
 *
 * MPI-5.0 12.3.5
 */
int PMPI_Rput_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win, MPI_Request *request)
{
    struct win_op op = {.kind = WIN_OP_PUT, .from = {origin_addr, origin_count, origin_datatype},
                        .rank = target_rank, .disp = target_disp, .count = target_count,
                        .type = target_datatype, .function = __func__};
    return run(win, &op, request, true);
}

/*
 * Copy data from a target's memory in a window, with a request.
 *
 * As MPI_Get, in an epoch of MPI_Win_lock or MPI_Win_lock_all. The request is complete
 * once the data are here.
 *
 * origin_addr (out): where the data go
 *
 * MPI_ERR_TRUNCATE: the origin has room for more bytes than the target's count and datatype
 *   describe.
 *
 * MPI-5.0 12.3.5
 */
int PMPI_Rget_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype,
    int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype,
    MPI_Win win, MPI_Request *request)
{
    struct win_op op = {.kind = WIN_OP_GET, .to = {origin_addr, origin_count, origin_datatype},
                        .rank = target_rank, .disp = target_disp, .count = target_count,
                        .type = target_datatype, .function = __func__};
    return run(win, &op, request, true);
}

/*
 * Combine data with a target's memory in a window, with a request.
 *
 * As MPI_Accumulate, in an epoch of MPI_Win_lock or MPI_Win_lock_all. The request is
 * complete once the origin's buffer may change.
 *
 * op: a predefined operation, or MPI_REPLACE: the target's element becomes the origin's
 *
 * MPI_ERR_OP: op is not a predefined operation, or not defined on these elements.
 * MPI_ERR_TRUNCATE: the origin's data and the target's have different lengths.
 *
 * MPI-5.0 12.3.5
 */
int PMPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    struct win_op what = {.kind = WIN_OP_ACCUMULATE,
                          .from = {origin_addr, origin_count, origin_datatype},
                          .rank = target_rank, .disp = target_disp, .count = target_count,
                          .type = target_datatype, .op = op, .function = __func__};
    return run(win, &what, request, true);
}

/*
 * Combine data with a target's memory in a window, get its former value, with a request.
 *
 * As MPI_Get_accumulate, in an epoch of MPI_Win_lock or MPI_Win_lock_all. The request
 * is complete once the result is here.
 *
 * origin_addr: not read, and its count and datatype ignored, where op is MPI_NO_OP
 * result_addr (out): where the former elements go
 * op: a predefined operation, MPI_REPLACE, or MPI_NO_OP: nothing changes
 *
 * MPI_ERR_OP: op is not a predefined operation, or not defined on these elements.
 * MPI_ERR_TRUNCATE: the origin's data, the result and the target's data have different lengths.
 *
 * MPI-5.0 12.3.5
 */
int PMPI_Rget_accumulate_c(const void *origin_addr, MPI_Count origin_count,
    MPI_Datatype origin_datatype, void *result_addr, MPI_Count result_count,
    MPI_Datatype result_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count,
    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win, MPI_Request *request)
{
    struct win_op what = {.kind = WIN_OP_FETCH,
                          .from = {origin_addr, origin_count, origin_datatype},
                          .to = {result_addr, result_count, result_datatype},
                          .rank = target_rank, .disp = target_disp, .count = target_count,
                          .type = target_datatype, .op = op, .function = __func__};
    return run(win, &what, request, true);
}

#include "rma.gen.h"
