/* SPDX-License-Identifier: BSD-3-Clause */

/* Windows: made, described, freed (MPI-5.0 12.2). */

#include <stdlib.h>
#include <string.h>

#include "mpi/attr.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/group.h"
#include "mpi/info.h"
#include "mpi/win/win.h"
#include "mpi/win/win_attr.h"
#include "mpi/win/win_hints.h"
#include "mpi/win/win_make.h"
#include "mpi/win/win_sync.h"
#include "mpi/win/win_watch.h"

/* ---- making ---- */

/* Check what all that make windows have, make one, and give it. baseptr: NULL, or where its memory
 * is told. */
static int make(struct win_wish *wish, MPI_Comm comm, MPI_Info info, void *baseptr, MPI_Win *win,
                const char *function)
{
    char why[320];
    struct win *made;
    struct comm *on = comm_from(comm);
    if (!on)
        return errh_bad_comm(comm, function);
    if (on->remote)
        return errh_comm(on, MPI_ERR_COMM, function, "an intercommunicator has no windows");
    wish->info = info_from(info);
    if (!wish->info && info != MPI_INFO_NULL)
        return errh_comm(on, MPI_ERR_INFO, function, "info %s is no info object, or was freed",
                         errh_name(info).text);
    if (wish->bytes < 0)
        return errh_comm(on, MPI_ERR_SIZE, function, "size %lld: must be 0 or more",
                         (long long)wish->bytes);
    if (wish->unit <= 0)
        return errh_comm(on, MPI_ERR_DISP, function, "disp_unit %lld: must be 1 or more",
                         (long long)wish->unit);
    if (!win)
        return errh_comm(on, MPI_ERR_ARG, function, "win is NULL");
    wish->comm = on;
    int rc = win_make(wish, &made, why, sizeof(why));
    if (rc)
        return errh_comm(on, rc, function, "no window was made: %s", why);
    if (baseptr)
        memcpy(baseptr, &made->base, sizeof(made->base));
    *win = win_handle(made);
    return MPI_SUCCESS;
}

/*
 * Make a window of memory that each process has already.
 *
 * Every process of comm must call this; the call waits for them.
 *
 * base (in): this process's memory; may be NULL where size is 0
 * size: its bytes, which may differ between processes, 0 or more
 * disp_unit: bytes of one unit of displacements into it, 1 or more
 *
 * MPI_ERR_SIZE: size is negative.
 * MPI_ERR_DISP: disp_unit is not positive.
 * MPI_ERR_BASE: base is NULL, and size is not 0.
 *
 * MPI-5.0 12.2.1
 */
int PMPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
    MPI_Win *win)
{
    struct comm *on = comm_from(comm);
    if (on && !base && size > 0)
        return errh_comm(on, MPI_ERR_BASE, __func__, "base is NULL, and size is %lld",
                         (long long)size);
    struct win_wish wish = {.flavor = MPI_WIN_FLAVOR_CREATE, .base = base, .bytes = size,
                            .unit = disp_unit};
    return make(&wish, comm, info, NULL, win, __func__);
}

/*
 * Make a window, and memory for it.
 *
 * Every process of comm must call this; the call waits for them. Processes of one host map each
 * other's memory, so that operations between them are copies and instructions. The memory is zero,
 * and is freed with the window.
 *
 * size: bytes of this process's memory, which may differ between processes, 0 or more
 * disp_unit: bytes of one unit of displacements into it, 1 or more
 * info: MPI_INFO_NULL, or hints, such as mpi_minimum_memory_alignment
 * baseptr (out): address of a pointer, which is set to this process's memory
 *
 * MPI_ERR_SIZE: size is negative.
 * MPI_ERR_DISP: disp_unit is not positive.
 * MPI_ERR_NO_MEM: there is no such memory on a host; the text says how much there is.
 *
 * MPI-5.0 12.2.2
 */
int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
    void *baseptr, MPI_Win *win)
{
    struct win_wish wish = {.flavor = MPI_WIN_FLAVOR_ALLOCATE, .bytes = size, .unit = disp_unit};
    struct comm *on = comm_from(comm);
    if (on && !baseptr)
        return errh_comm(on, MPI_ERR_ARG, __func__, "baseptr is NULL");
    return make(&wish, comm, info, baseptr, win, __func__);
}

/*
 * Make a window of memory that all processes load from and store to.
 *
 * As MPI_Win_allocate, for processes that can share memory: see MPI_Comm_split_type with
 * MPI_COMM_TYPE_SHARED. Each one's memory follows that of the rank before without a gap, unless the
 * hint alloc_shared_noncontig is true. MPI_Win_shared_query gives the addresses of others.
 *
 * size: bytes of this process's memory, which may differ between processes, 0 or more
 * disp_unit: bytes of one unit of displacements into it, 1 or more
 * baseptr (out): address of a pointer, which is set to this process's memory
 *
 * MPI_ERR_RMA_SHARED: the processes cannot share memory.
 * MPI_ERR_SIZE: size is negative.
 * MPI_ERR_DISP: disp_unit is not positive.
 * MPI_ERR_NO_MEM: there is no such memory; the text says how much there is.
 *
 * MPI-5.0 12.2.3
 */
int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
    void *baseptr, MPI_Win *win)
{
    struct win_wish wish = {.flavor = MPI_WIN_FLAVOR_SHARED, .bytes = size, .unit = disp_unit};
    struct comm *on = comm_from(comm);
    if (on && !baseptr)
        return errh_comm(on, MPI_ERR_ARG, __func__, "baseptr is NULL");
    return make(&wish, comm, info, baseptr, win, __func__);
}

/*
 * Make a window without memory, to which each process attaches some later.
 *
 * Every process of comm must call this; the call waits for them. Displacements are addresses of the
 * target, as MPI_Get_address gives them there.
 *
 * MPI-5.0 12.2.4
 */
int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct win_wish wish = {.flavor = MPI_WIN_FLAVOR_DYNAMIC, .unit = 1};
    return make(&wish, comm, info, NULL, win, __func__);
}

/* ---- dynamic windows ---- */

static int dynamic(struct win *win, const char *function)
{
    if (win->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return MPI_SUCCESS;
    return win_error(win, MPI_ERR_RMA_FLAVOR, function,
                     "the window was not made by MPI_Win_create_dynamic");
}

/*
 * Attach memory of this process to a dynamic window.
 *
 * This call is local: no other process takes part. Others may access the memory once they know its
 * address. Memory that is attached already must not be attached again.
 *
 * base (in): the memory; may be NULL where size is 0
 * size: its bytes, 0 or more
 *
 * MPI_ERR_RMA_FLAVOR: not a dynamic window.
 * MPI_ERR_RMA_ATTACH: some of the memory is attached already.
 * MPI_ERR_SIZE: size is negative, or the memory would go round the end of all addresses.
 * MPI_ERR_BASE: base is NULL, and size is not 0.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 12.2.4
 */
int PMPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    struct win *on = win_from(win);
    if (!on)
        return win_bad(win, __func__);
    int rc = dynamic(on, __func__);
    if (rc)
        return rc;
    if (size < 0 || (uintptr_t)base + (uintptr_t)size < (uintptr_t)base)
        return win_error(on, MPI_ERR_SIZE, __func__,
                         "size %lld: must be 0 or more, up to the end of "
                         "all addresses",
                         (long long)size);
    if (!base && size)
        return win_error(on, MPI_ERR_BASE, __func__, "base is NULL");
    struct win_piece *piece = malloc(sizeof(*piece));
    if (!piece)
        return win_error(on, MPI_ERR_NO_MEM, __func__, "no memory");
    *piece = (struct win_piece){NULL, (uintptr_t)base, (uint64_t)size};
    bool clear = true;
    os_lock(&on->lock);
    for (const struct win_piece *p = on->pieces; p && size && clear; p = p->next)
        clear =
            piece->base + piece->size <= p->base || p->base + p->size <= piece->base || !p->size;
    if (clear) {
        piece->next = on->pieces;
        on->pieces = piece;
        if (on->shown)
            win_reach_show(on->shown, piece->base, piece->size);
    }
    os_unlock(&on->lock);
    if (clear)
        return MPI_SUCCESS;
    free(piece);
    return win_error(on, MPI_ERR_RMA_ATTACH, __func__, "some of the memory is attached already");
}

/*
 * Take memory of this process away from a dynamic window.
 *
 * This call is local: no other process takes part. No process may access the memory any more.
 *
 * base (in): as in MPI_Win_attach
 *
 * MPI_ERR_RMA_FLAVOR: not a dynamic window.
 * MPI_ERR_BASE: no memory that was attached begins there.
 *
 * MPI-5.0 12.2.4
 */
int PMPI_Win_detach(MPI_Win win, const void *base)
{
    struct win *on = win_from(win);
    if (!on)
        return win_bad(win, __func__);
    int rc = dynamic(on, __func__);
    if (rc)
        return rc;
    os_lock(&on->lock);
    struct win_piece **link = &on->pieces;
    while (*link && (*link)->base != (uintptr_t)base)
        link = &(*link)->next;
    struct win_piece *piece = *link;
    if (piece)
        *link = piece->next;
    if (piece && on->shown)
        win_reach_hide(on->shown, piece->base);
    os_unlock(&on->lock);
    free(piece);
    return piece ? MPI_SUCCESS
                 : win_error(on, MPI_ERR_BASE, __func__, "no memory that is attached begins at %p",
                             base);
}

/* ---- freeing ---- */

/*
 * Free a window.
 *
 * Every member must call this; the call waits for them, and for all operations on this process's
 * memory. The memory of MPI_Win_allocate and MPI_Win_allocate_shared is freed, too.
 *
 * win (inout): the window; then MPI_WIN_NULL
 *
 * MPI_ERR_RMA_SYNC: an epoch is open.
 *   What an attribute's callback returns is returned as it is.
 *
 * MPI-5.0 12.2.5
 */
int PMPI_Win_free(MPI_Win *win)
{
    struct win *on = win ? win_from(*win) : NULL;
    if (!on)
        return win_bad(win ? *win : NULL, __func__);
    const char *busy = win_is_busy(on);
    if (on->watch)
        win_watch_free(on, busy);
    if (busy)
        return win_error(on, MPI_ERR_RMA_SYNC, __func__, "%s", busy);
    int rc = attr_delete_all(win_attr_of(on));
    if (rc)
        return win_error(on, rc, __func__, "a callback of an attribute returned error code %d", rc);
    struct comm *comm = on->comm;
    object_ref(&comm->object);
    win_end_epochs(on);
    rc = win_free(on);
    *win = MPI_WIN_NULL;
    if (rc)
        rc = errh_comm(comm, rc, __func__, "another member is gone; the window is freed here");
    comm_unref(comm);
    return rc;
}

/* ---- asking ---- */

static int shared_query(MPI_Win handle, int rank, MPI_Aint *size, MPI_Aint *unit, void *baseptr,
                        const char *function)
{
    struct win *on = win_from(handle);
    if (!on)
        return win_bad(handle, function);
    if (!size || !unit || !baseptr)
        return win_error(on, MPI_ERR_ARG, function, "an argument is NULL");
    if (on->flavor == MPI_WIN_FLAVOR_DYNAMIC)
        return win_error(on, MPI_ERR_RMA_FLAVOR, function,
                         "a dynamic window has no memory of its own");
    if (rank != MPI_PROC_NULL && (rank < 0 || rank >= on->size))
        return win_error(on, MPI_ERR_RANK, function, "rank %d: must be 0 to %d, or MPI_PROC_NULL",
                         rank, on->size - 1);
    const struct win_target *found = NULL;
    for (int i = 0; i < on->near_count && rank == MPI_PROC_NULL && !found; i++)
        if (on->near[i].mapped && on->near[i].size)
            found = &on->near[i];
    if (rank != MPI_PROC_NULL && !(found = win_target(on, rank)))
        return win_error(on, MPI_ERR_NO_MEM, function, "no memory for rank %d", rank);
    bool mapped = found && found->mapped;
    *size = mapped ? (MPI_Aint)found->size : 0;
    *unit = mapped ? found->unit : 0;
    memcpy(baseptr, &(void *){mapped && found->size ? found->base : NULL}, sizeof(void *));
    return MPI_SUCCESS;
}

/*
 * Tell if this process finds another's memory in a window.
 *
 * This call is local: no other process takes part. The memory may be loaded from and stored to, if
 * this process maps it: always in a window of MPI_Win_allocate_shared, and on one host in one of
 * MPI_Win_allocate. Otherwise size is 0.
 *
 * rank: a member; or MPI_PROC_NULL: the first one that has memory
 * size: its bytes
 * disp_unit: bytes of its units of displacements
 * baseptr (out): address of a pointer, which is set to the memory
 *
 * MPI_ERR_RMA_FLAVOR: a dynamic window.
 *
 * MPI-5.0 12.2.3
 */
int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
    void *baseptr)
{
    return shared_query(win, rank, size, disp_unit, baseptr, __func__);
}

int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
    MPI_Aint unit = 0;
    int rc = shared_query(win, rank, size, disp_unit ? &unit : NULL, baseptr, __func__);
    if (!rc)
        *disp_unit = unit > INT32_MAX ? MPI_UNDEFINED : (int)unit;
    return rc;
}

/*
 * Give the group of a window's members.
 *
 * This call is local: no other process takes part. The group is the caller's to free.
 *
 * group: the group; to be freed with MPI_Group_free
 *
 * MPI_ERR_ARG: group is NULL.
 *
 * MPI-5.0 12.2.6
 */
int PMPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
    struct win *on = win_from(win);
    if (!on)
        return win_bad(win, __func__);
    if (!group)
        return win_error(on, MPI_ERR_ARG, __func__, "group is NULL");
    group_ref(on->comm->group);
    *group = group_give(on->comm->group);
    return MPI_SUCCESS;
}

/*
 * Give a window hints.
 *
 * Every member must call this, with the same hints. Those about how the window is made have no
 * effect any more.
 *
 * MPI_ERR_INFO: not an info object.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 12.2.7
 */
int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{
    struct win *on = win_from(win);
    const struct info *hints = info_from(info);
    if (!on)
        return win_bad(win, __func__);
    if (!hints && info != MPI_INFO_NULL)
        return win_error(on, MPI_ERR_INFO, __func__, "info %s is no info object, or was freed",
                         errh_name(info).text);
    return win_set_hints(on, hints) ? win_error(on, MPI_ERR_NO_MEM, __func__, "no memory for hints")
                                    : MPI_SUCCESS;
}

/*
 * Give the hints of a window that are in use.
 *
 * This call is local: no other process takes part. vireo_progress tells for each kind of operation
 * who makes it go on while the target computes: hardware, thread or target.
 *
 * info_used (out): the hints; to be freed with MPI_Info_free
 *
 * MPI_ERR_ARG: info_used is NULL.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 12.2.7
 */
int PMPI_Win_get_info(MPI_Win win, MPI_Info *info_used)
{
    struct win *on = win_from(win);
    if (!on)
        return win_bad(win, __func__);
    if (!info_used)
        return win_error(on, MPI_ERR_ARG, __func__, "info_used is NULL");
    struct info *hints = win_hints(on);
    if (!hints)
        return win_error(on, MPI_ERR_NO_MEM, __func__, "no memory for hints");
    *info_used = info_handle(hints);
    return MPI_SUCCESS;
}

/*
 * Give a window a name.
 *
 * This call is local: no other process takes part. Errors and reports use the name.
 *
 * win_name: text; what is longer than MPI_MAX_OBJECT_NAME - 1 bytes is cut
 *
 * MPI_ERR_ARG: win_name is NULL.
 *
 * MPI-5.0 7.8
 */
int PMPI_Win_set_name(MPI_Win win, const char *win_name)
{
    struct win *on = win_from(win);
    if (!on)
        return win_bad(win, __func__);
    if (!win_name)
        return win_error(on, MPI_ERR_ARG, __func__, "win_name is NULL");
    name_set(&on->name, win_name);
    win_name_comm(on);
    return MPI_SUCCESS;
}

/*
 * Tell the name of a window.
 *
 * This call is local: no other process takes part. The name is empty until one is set.
 *
 * win_name (out): room for MPI_MAX_OBJECT_NAME bytes
 * resultlen: length of the name
 *
 * MPI_ERR_ARG: an argument is NULL.
 *
 * MPI-5.0 7.8
 */
int PMPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen)
{
    struct win *on = win_from(win);
    if (!on)
        return win_bad(win, __func__);
    if (!win_name || !resultlen)
        return win_error(on, MPI_ERR_ARG, __func__, "an argument is NULL");
    *resultlen = name_get(&on->name, win_name);
    return MPI_SUCCESS;
}

#include "win.gen.h"
