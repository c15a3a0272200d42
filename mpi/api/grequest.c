/* SPDX-License-Identifier: BSD-3-Clause */

/* Generalized requests (MPI-5.0 13.2). */
#include <mpi.h>

#include "mpi/comm/errh.h"
#include "mpi/request/grequest.h"
#include "mpi/request/request.h"
#include "mpi/world.h"

/*
 * Start a request whose work the program does itself.
 *
 * The program says with MPI_Grequest_complete when the work is done; until then the request can be
 * waited for, tested, cancelled and freed as any other. Returns at once.
 *
 * The callbacks run in the thread whose call brings them about. A code other than MPI_SUCCESS that
 * one of them returns is that call's error; where a call brings both query_fn and free_fn about, it
 * is the code of free_fn.
 *
 * query_fn: fills in the status of the request when it is complete, by MPI_Status_set_elements and
 *   MPI_Status_set_cancelled: in the call that completes it and in MPI_Request_get_status. It gets
 *   a status in any case, and must not set MPI_ERROR there
 * free_fn: called once, when the request is freed
 * cancel_fn: called by MPI_Cancel, and told whether the request is complete already
 *
 * MPI_ERR_ARG: a callback or request is NULL.
 *
 * MPI-5.0 13.2
 */
int PMPI_Grequest_start(MPI_Grequest_query_function *query_fn, MPI_Grequest_free_function *free_fn,
                        MPI_Grequest_cancel_function *cancel_fn, void *extra_state,
                        MPI_Request *request)
{
    if (mpi_state != MPI_STATE_READY)
        return errh_not_ready(__func__);
    if (!query_fn || !free_fn || !cancel_fn || !request)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "%s is NULL",
                         !query_fn ? "query_fn" : !free_fn ? "free_fn"
                                              : !cancel_fn ? "cancel_fn"
                                                           : "request");
    struct grequest what = {query_fn, free_fn, cancel_fn, extra_state};
    struct request *made = grequest_create(&what);
    if (!made)
        return errh_comm(NULL, MPI_ERR_NO_MEM, __func__, "no memory for a request");
    *request = request_handle(made);
    return MPI_SUCCESS;
}

/*
 * Say that the work of a generalized request is done.
 *
 * Any thread may; who waits for the request is woken. Where MPI_Request_free was called before, the
 * request ends now: its free_fn is called, and what that returns is the error of this call.
 *
 * MPI_ERR_REQUEST: not a generalized request, or one that is complete already.
 *
 * MPI-5.0 13.2
 */
int PMPI_Grequest_complete(MPI_Request request)
{
    struct request *r = request_from(request);
    int rc;
    if (!r || !grequest_is(r))
        return errh_comm(NULL, MPI_ERR_REQUEST, __func__, "request: not a generalized request");
    if (!grequest_complete(r, &rc))
        return errh_comm(NULL, MPI_ERR_REQUEST, __func__, "request: is complete already");
    return rc ? errh_callback(rc, __func__) : MPI_SUCCESS;
}

#include "grequest.gen.h"
