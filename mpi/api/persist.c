/* SPDX-License-Identifier: BSD-3-Clause */

/* Persistent communication (MPI-5.0 3.9): arguments checked once, started often. */
#include <mpi.h>
#include <stdlib.h>

#include "include/mpid.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/request/buffer.h"
#include "mpi/request/compared.h"
#include "mpi/request/p2p.h"
#include "mpi/request/persist.h"
#include "mpi/request/request.h"
#include "mpi/type/type.h"

static struct p2p_side side_of(const struct persist_what *what)
{
    return (struct p2p_side){what->comm, what->comm->context, what->peer, what->tag};
}

static int start_send(const struct persist_what *what, struct request **started)
{
    struct p2p_side to = side_of(what);
    struct compared_data data = {what->buf, what->count, what->type, what->count, what->type};
    return compared_isend_any(&to, &data, what->mode | MPID_MORE, started);
}

static int start_bsend(const struct persist_what *what, struct request **started)
{
    struct p2p_side to = side_of(what);
    *started = &request_done;
    return buffer_send(&to, what->buf, what->count, what->type);
}

static int start_recv(const struct persist_what *what, struct request **started)
{
    struct p2p_side from = side_of(what);
    return compared_irecv_any(&from, what->buf, what->count, what->type, started);
}

static int check(const struct persist_what *what, const char *function)
{
    struct comm *comm = what->comm;
    bool receive = what->receive;
    bool wild = receive && what->peer == MPI_ANY_SOURCE;
    if (what->count < 0)
        return errh_comm(comm, MPI_ERR_COUNT, function, "count %lld: must be 0 or more",
                         (long long)what->count);
    if (what->tag < 0 && !(receive && what->tag == MPI_ANY_TAG))
        return errh_comm(comm, MPI_ERR_TAG, function, "tag %d: must be 0 to %d%s", what->tag,
                         INT32_MAX, receive ? ", or MPI_ANY_TAG" : "");
    if ((unsigned)what->peer >= (unsigned)comm->peers && what->peer != MPI_PROC_NULL && !wild)
        return errh_comm(comm, MPI_ERR_RANK, function,
                         "rank %d: must be 0 to %d, or MPI_PROC_NULL%s", what->peer,
                         comm->peers - 1, receive ? ", or MPI_ANY_SOURCE" : "");
    return MPI_SUCCESS;
}

static int create(struct persist_what what, MPI_Comm handle, MPI_Request *request,
                  const char *function)
{
    struct mpid_bytes bytes;
    struct type *type;
    what.comm = comm_from(handle);
    if (!what.comm)
        return errh_bad_comm(handle, function);
    if (!request)
        return errh_comm(what.comm, MPI_ERR_ARG, function, "request is NULL");
    int rc = check(&what, function);
    if (rc)
        return rc;
    rc = type_place(what.type, what.buf, what.count, &bytes, &type);
    if (!rc && !what.receive && type_may_be_misread(what.type) && comm_misreads(what.comm, what.peer, what.type))
        rc = MPI_ERR_TYPE;
    if (rc == MPI_ERR_TYPE)
        return errh_bad_type(what.comm, what.type, "datatype", function);
    if (rc)
        return errh_comm(what.comm, rc, function,
                         rc == MPI_ERR_COUNT ? "count: too large"
                                             : "buffer: NULL, but count is not 0");
    struct request *made = persist_create(&what);
    if (!made)
        return errh_comm(what.comm, MPI_ERR_NO_MEM, function, "out of memory");
    *request = request_handle(made);
    return MPI_SUCCESS;
}

static struct persist_what send_of(const void *buf, MPI_Count count, MPI_Datatype type, int dest,
                                    int tag, unsigned mode)
{
    return (struct persist_what){.start = start_send,
                                  .buf = (void *)(uintptr_t)buf,
                                  .count = count,
                                  .type = type,
                                  .peer = dest,
                                  .tag = tag,
                                  .mode = mode};
}

/*
 * Make a request that sends the same buffer again and again.
 *
 * Nothing is sent before MPI_Start. Arguments are checked once, here. MPI_Wait and its kin
 * complete what was started and leave the request, which MPI_Request_free frees.
 *
 * request: inactive request, to be started by MPI_Start
 *
 * MPI-5.0 3.9
 */
int PMPI_Send_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    return create(send_of(buf, count, datatype, dest, tag, MPID_STANDARD), comm, request, __func__);
}

/*
 * Make a request that sends the same buffer again and again, in synchronous mode.
 *
 * As MPI_Send_init, with the mode of MPI_Ssend.
 *
 * request: inactive request, to be started by MPI_Start
 *
 * MPI-5.0 3.9
 */
int PMPI_Ssend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return create(send_of(buf, count, datatype, dest, tag, MPID_SYNC), comm, request, __func__);
}

/*
 * Make a request that sends the same buffer again and again, in ready mode.
 *
 * As MPI_Send_init, with the mode of MPI_Rsend.
 *
 * request: inactive request, to be started by MPI_Start
 *
 * MPI-5.0 3.9
 */
int PMPI_Rsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    return create(send_of(buf, count, datatype, dest, tag, MPID_STANDARD), comm, request, __func__);
}

/*
 * Make a request that sends the same buffer again and again, in buffered mode.
 *
 * As MPI_Send_init, with the mode of MPI_Bsend: each start needs room in the attached buffer.
 *
 * request: inactive request, to be started by MPI_Start
 *
 * MPI-5.0 3.9
 */
int PMPI_Bsend_init_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                      MPI_Comm comm, MPI_Request *request)
{
    struct persist_what what = send_of(buf, count, datatype, dest, tag, MPID_STANDARD);
    what.start = start_bsend;
    return create(what, comm, request, __func__);
}

/*
 * Make a request that receives into the same buffer again and again.
 *
 * Nothing is received before MPI_Start. Arguments are checked once, here. MPI_Wait and its kin
 * complete what was started and leave the request, which MPI_Request_free frees.
 *
 * buf: where to
 * count: number of elements that fit into buf, 0 or more
 * request: inactive request, to be started by MPI_Start
 *
 * MPI-5.0 3.9
 */
int PMPI_Recv_init_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                     MPI_Comm comm, MPI_Request *request)
{
    struct persist_what what = send_of(buf, count, datatype, source, tag, MPID_STANDARD);
    what.start = start_recv;
    what.receive = true;
    return create(what, comm, request, __func__);
}

static int start(MPI_Request handle, const char *function)
{
    struct request *r = request_from(handle);
    if (!r || !r->ops->start)
        return errh_comm(r ? r->comm : NULL, MPI_ERR_REQUEST, function,
                         "request: not a persistent request");
    if (!request_is_inactive(r))
        return errh_comm(r->comm, MPI_ERR_REQUEST, function,
                         "request: has been started and not been completed since");
    if (r->comm && atomic_load_explicit(&r->comm->revoked, memory_order_relaxed))
        return errh_bad_comm(comm_handle(r->comm), function);
    int rc = r->ops->start(r);
    if (!rc)
        return MPI_SUCCESS;
    return errh_comm(r->comm, rc, function,
                     rc == MPI_ERR_BUFFER ? "no room in the attached buffer for this message"
                                          : "the communication could not be started");
}

/*
 * Start what a persistent request was made for.
 *
 * The call returns at once; the buffer belongs to the request until MPI_Wait or one of its kin
 * has completed it.
 *
 * request (inout): persistent request that is not active; it is afterwards
 *
 * MPI_ERR_REQUEST: not a persistent request, or one that is active already.
 * MPI_ERR_BUFFER: of MPI_Bsend_init: the attached buffer has no room.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 3.9
 */
int PMPI_Start(MPI_Request *request)
{
    if (!request)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "request is NULL");
    return start(*request, __func__);
}

/*
 * Start what several persistent requests were made for.
 *
 * As MPI_Start of each, in order; if one fails, those after it are not started.
 *
 * count: number of requests, 0 or more
 * array_of_requests (inout): persistent requests that are not active
 *
 * MPI_ERR_REQUEST: not a persistent request, or one that is active already.
 * MPI_ERR_BUFFER: of MPI_Bsend_init: the attached buffer has no room.
 * MPI_ERR_NO_MEM: out of memory.
 *
 * MPI-5.0 3.9
 */
int PMPI_Startall(int count, MPI_Request array_of_requests[])
{
    if (count < 0)
        return errh_comm(NULL, MPI_ERR_COUNT, __func__, "count %d: must be 0 or more", count);
    if (count && !array_of_requests)
        return errh_comm(NULL, MPI_ERR_ARG, __func__, "array_of_requests is NULL");
    for (int i = 0; i < count; i++) {
        int rc = start(array_of_requests[i], __func__);
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

#include "persist.gen.h"
