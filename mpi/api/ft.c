/* SPDX-License-Identifier: BSD-3-Clause */

/* Fault tolerance: functions for survivors of failures. Beyond the standard; doc/fault-tolerance.md has
 * the whole. */
#include <limits.h>
#include <mpi.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/group.h"
#include "mpi/ft/accord.h"
#include "mpi/ft/asked.h"
#include "mpi/ft/failed.h"
#include "mpi/ft/revoke.h"
#include "mpi/request/p2p.h"
#include "mpi/request/request.h"
#include "mpi/win/win.h"
#include "mpi/world.h"

/* The communicator of a handle, or NULL. A program that calls this goes on after failures. */
static struct comm *find(MPI_Comm handle)
{
    if (mpi_state == MPI_STATE_READY)
        asked_call();
    return comm_any(handle);
}

static struct win *win_of(MPI_Win handle)
{
    if (mpi_state == MPI_STATE_READY)
        asked_call();
    return win_from(handle);
}

static int null_argument(struct comm *comm, const char *function)
{
    return errh_comm(comm, MPI_ERR_ARG, function, "an argument for a result is NULL");
}

static int give(struct comm *comm, struct group *group, MPI_Group *handle, const char *function)
{
    if (!group)
        return errh_comm(comm, MPI_ERR_NO_MEM, function, "no memory for a group");
    *handle = group_give(group);
    return MPI_SUCCESS;
}

/*
 * Give the members of a communicator that are known here to have failed.
 *
 * This call is local: no other process takes part. The group grows, and the order of those that are
 * in it stays. Other members may know of more failures, or of fewer. Of an intercommunicator it has
 * members of both groups.
 *
 * group: the processes that have failed; to be freed with MPI_Group_free
 *
 * Beyond MPI-5.0
 */
int PMPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *group)
{
    struct comm *on = find(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!group)
        return null_argument(on, __func__);
    return give(on, failed_all(on), group, __func__);
}

/*
 * Acknowledge failures of members of a communicator.
 *
 * This call is local: no other process takes part. Receives from MPI_ANY_SOURCE then wait on in spite of
 * these failures, without MPIX_ERR_PROC_FAILED_PENDING. An acknowledged failure stays so; with 0 the
 * call only tells how many there are.
 *
 * num_to_ack: so many of the group that MPIX_Comm_get_failed gives, from its beginning on; all, if
 *   there are not so many
 * num_acked: so many are acknowledged now
 *
 * MPI_ERR_ARG: num_acked is NULL, or num_to_ack is negative.
 *
 * Beyond MPI-5.0
 */
int PMPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked)
{
    struct comm *on = find(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!num_acked)
        return null_argument(on, __func__);
    if (num_to_ack < 0)
        return errh_comm(on, MPI_ERR_ARG, __func__, "num_to_ack %d: must be 0 or more", num_to_ack);
    *num_acked = failed_acknowledge(on, num_to_ack);
    return MPI_SUCCESS;
}

/*
 * Acknowledge all failures of members of a communicator that are known here.
 *
 * As MPIX_Comm_ack_failed of all.
 *
 * Beyond MPI-5.0
 */
int PMPIX_Comm_failure_ack(MPI_Comm comm)
{
    struct comm *on = find(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    (void)failed_acknowledge(on, INT_MAX);
    return MPI_SUCCESS;
}

/*
 * Give the members of a communicator whose failure has been acknowledged here.
 *
 * This call is local: no other process takes part. The group is a beginning of what
 * MPIX_Comm_get_failed gives.
 *
 * failedgrp: the processes; to be freed with MPI_Group_free
 *
 * Beyond MPI-5.0
 */
int PMPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failedgrp)
{
    struct comm *on = find(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!failedgrp)
        return null_argument(on, __func__);
    return give(on, failed_acknowledged(on), failedgrp, __func__);
}

/* ---- revoking ---- */

/*
 * Revoke a communicator: end messages and collectives in it, at all its members.
 *
 * One process calls this, and the call returns at once. Soon every member that lives knows. From then on
 * messages and collectives in the communicator end in MPIX_ERR_REVOKED, old and new ones, whether or not
 * they have to do with a process that has failed; so do the calls that make communicators of it. MPIX_Comm_shrink, MPIX_Comm_agree and functions that need no other process work on. Other
 * communicators are not concerned, also those that were made of this one. To revoke it again does
 * nothing.
 *
 * Beyond MPI-5.0
 */
int PMPIX_Comm_revoke(MPI_Comm comm)
{
    struct comm *on = find(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (revoke_comm(on))
        return errh_comm(on, MPI_ERR_NO_MEM, __func__, "no memory to tell the other members");
    return MPI_SUCCESS;
}

/*
 * Tell whether a communicator is revoked, as far as this process knows.
 *
 * This call is local: no other process takes part.
 *
 * flag: 1 if it is revoked, 0 if not
 *
 * Beyond MPI-5.0
 */
int PMPIX_Comm_is_revoked(MPI_Comm comm, int *flag)
{
    struct comm *on = find(comm);
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!flag)
        return null_argument(on, __func__);
    *flag = atomic_load_explicit(&on->revoked, memory_order_relaxed);
    return MPI_SUCCESS;
}

/* ---- agreements ---- */

static int not_begun(struct comm *comm, int error_class, const char *function)
{
    return errh_comm(comm, error_class, function,
                     error_class == MPI_ERR_NO_MEM ? "no memory to agree"
                                                   : "the communicator has too many members to agree");
}

static int raise(struct comm *comm, int error_class, const char *function)
{
    if (error_class == MPIX_ERR_PROC_FAILED)
        return errh_comm(comm, error_class, function,
                         "a member has failed, and not all others have acknowledged that");
    return errh_comm(comm, error_class, function,
                     error_class == MPI_ERR_NOT_SAME ? "another member has called another function"
                                                     : "the members that are left could not agree");
}

/*
 * Agree on a number among the members of a communicator that live.
 *
 * Every member that lives must call this, or MPIX_Comm_iagree; the call waits for them, and for no
 * other. All get the same number and the same error class, even if some die meanwhile. The number of a
 * member that dies during the call may count or not. It works on a communicator that is revoked. Of an
 * intercommunicator, the members of both groups agree.
 *
 * flag (inout): a number; then the bitwise AND of the numbers of all
 *
 * MPIX_ERR_PROC_FAILED: a member has failed, and some member that has called has not acknowledged that by
 *   MPIX_Comm_ack_failed. flag is set all the same.
 * MPI_ERR_ARG: flag is NULL.
 *
 * Beyond MPI-5.0
 */
int PMPIX_Comm_agree(MPI_Comm comm, int *flag)
{
    struct comm *on = find(comm);
    struct request *request;
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!flag)
        return null_argument(on, __func__);
    int rc = agree_begin(on, flag, &request);
    if (rc)
        return not_begun(on, rc, __func__);
    rc = p2p_finish(request, MPI_STATUS_IGNORE);
    return rc ? raise(on, rc, __func__) : MPI_SUCCESS;
}

/*
 * Begin to agree on a number among the members of a communicator that live.
 *
 * As MPIX_Comm_agree, but the call returns at once. Calls of the same communicator are matched in the
 * order in which each member makes them, together with those of MPIX_Comm_agree, MPIX_Comm_shrink and
 * MPIX_Comm_ishrink.
 *
 * flag (inout): a number, read when the agreement begins; the bitwise AND of all, once the request is
 *   complete. It must not be touched before
 *
 * MPIX_ERR_PROC_FAILED: told at completion: see MPIX_Comm_agree
 * MPI_ERR_ARG: a pointer is NULL.
 *
 * Beyond MPI-5.0
 */
int PMPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request)
{
    struct comm *on = find(comm);
    struct request *made;
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!flag || !request)
        return null_argument(on, __func__);
    int rc = agree_begin(on, flag, &made);
    if (rc)
        return not_begun(on, rc, __func__);
    *request = request_handle(made);
    return MPI_SUCCESS;
}

/*
 * Make a communicator of the members of another one that live.
 *
 * Every member that lives must call this, or MPIX_Comm_ishrink; the call waits for them, and for nobody
 * who is gone. The new communicator leaves out all members that some caller knew to have failed, and those
 * that have not called. The others have their order. A member that dies during the call may be in it; then
 * it is at all others, and they shrink it again. It inherits the error handler. It works on a communicator
 * that is revoked. Of an intercommunicator the result is an intercommunicator.
 *
 * newcomm: the new communicator
 *
 * MPIX_ERR_PROC_FAILED: nobody is left of one group of an intercommunicator.
 * MPI_ERR_ARG: newcomm is NULL.
 *
 * Beyond MPI-5.0
 */
int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm)
{
    struct comm *on = find(comm);
    struct request *request;
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!newcomm)
        return null_argument(on, __func__);
    int rc = shrink_begin(on, newcomm, &request);
    if (rc)
        return not_begun(on, rc, __func__);
    rc = p2p_finish(request, MPI_STATUS_IGNORE);
    return rc ? raise(on, rc, __func__) : MPI_SUCCESS;
}

/*
 * Begin to make a communicator of the members of another one that live.
 *
 * As MPIX_Comm_shrink, but the call returns at once, and newcomm is set when the request is complete. The
 * order of calls counts as for MPIX_Comm_iagree.
 *
 * newcomm: the new communicator, once the request is complete
 *
 * MPIX_ERR_PROC_FAILED: told at completion: see MPIX_Comm_shrink
 * MPI_ERR_ARG: a pointer is NULL.
 *
 * Beyond MPI-5.0
 */
int PMPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    struct comm *on = find(comm);
    struct request *made;
    if (!on)
        return errh_bad_comm(comm, __func__);
    if (!newcomm || !request)
        return null_argument(on, __func__);
    int rc = shrink_begin(on, newcomm, &made);
    if (rc)
        return not_begun(on, rc, __func__);
    *request = request_handle(made);
    return MPI_SUCCESS;
}

/* ---- windows and files ---- */

/*
 * Revoke a window: end operations and synchronization in it, at all its members.
 *
 * One process calls this, and the call returns at once. Soon every member that lives knows. From then on
 * operations and all calls that synchronize end in MPIX_ERR_REVOKED, also those that wait for a lock. The
 * contents of the memory that operations were under way to are undefined. MPI_Win_free works on, in any epoch, and
 * waits for nobody; until all members have called it, others may still access this process's memory. The communicator
 * of which the window was made is not concerned.
 *
 * win: the window
 *
 * Beyond MPI-5.0
 */
int PMPIX_Win_revoke(MPI_Win win)
{
    struct win *on = win_of(win);
    if (!on)
        return win_bad(win, __func__);
    if (revoke_comm(on->comm))
        return win_error(on, MPI_ERR_NO_MEM, __func__, "no memory to tell the other members");
    return MPI_SUCCESS;
}

/*
 * Give the members of a window that are known here to have failed.
 *
 * As MPIX_Comm_get_failed.
 *
 * win: the window
 * group: the processes that have failed; to be freed with MPI_Group_free
 *
 * Beyond MPI-5.0
 */
int PMPIX_Win_get_failed(MPI_Win win, MPI_Group *group)
{
    struct win *on = win_of(win);
    if (!on)
        return win_bad(win, __func__);
    struct group *failed = group ? failed_all(on->comm) : NULL;
    if (!group || !failed)
        return win_error(on, group ? MPI_ERR_NO_MEM : MPI_ERR_ARG, __func__,
                         group ? "no memory for a group" : "group is NULL");
    *group = group_give(failed);
    return MPI_SUCCESS;
}

#include "ft.gen.h"
