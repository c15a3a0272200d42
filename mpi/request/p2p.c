/* SPDX-License-Identifier: BSD-3-Clause */

/* Point-to-point for the MPI layer; see p2p.h. */
#include "mpi/request/p2p.h"

#include "mpi/comm/comm.h"
#include "mpi/request/request.h"
#include "mpi/request/status.h"
#include "mpi/type/type.h"

/* ---- sending ---- */

struct outgoing {
    struct vc *vc;
    struct mpid_envelope env;
    struct mpid_bytes bytes;
    struct type *used;
};

static inline int prepare(struct outgoing *out, const struct p2p_side *to, const void *buf,
                          MPI_Count count, MPI_Datatype type)
{
    out->env = (struct mpid_envelope){to->context, to->comm->rank, to->tag};
    out->vc = comm_vc(to->comm, to->peer);
    if (__builtin_expect(!out->vc, 0))
        return MPI_ERR_NO_MEM;
    return type_place(type, buf, count, &out->bytes, &out->used);
}

/* A send that could not be complete at once. */
static __attribute__((noinline)) int start(const struct outgoing *out, struct comm *comm,
                                           unsigned mode, struct request **request)
{
    struct request *made = request_create(&request_send_ops, comm);
    if (!made)
        return MPI_ERR_NO_MEM;
    if (out->used) {
        type_ref(out->used);
        made->type = out->used;
    }
    if (mpid_send(out->vc, &out->env, &out->bytes, mode, &made->dev) == 0) {
        request_free(made);
        made = &request_done;
    }
    *request = made;
    return MPI_SUCCESS;
}

int p2p_isend_mode(const struct p2p_side *to, const void *buf, MPI_Count count,
                   MPI_Datatype type, unsigned mode, struct request **request)
{
    struct outgoing out;
    if (__builtin_expect(to->peer == MPI_PROC_NULL, 0)) {
        *request = &request_done;
        return MPI_SUCCESS;
    }
    int rc = prepare(&out, to, buf, count, type);
    if (__builtin_expect(rc, 0))
        return rc;
    if (__builtin_expect(mpid_send(out.vc, &out.env, &out.bytes, mode, NULL) == 0, 1)) {
        *request = &request_done;
        return MPI_SUCCESS;
    }
    return start(&out, to->comm, mode, request);
}

int p2p_isend(const struct p2p_side *to, const void *buf, MPI_Count count, MPI_Datatype type,
              struct request **request)
{
    return p2p_isend_mode(to, buf, count, type, MPID_MORE, request);
}

int p2p_send_mode(const struct p2p_side *to, const void *buf, MPI_Count count,
                  MPI_Datatype type, unsigned mode)
{
    struct request *request;
    int rc = p2p_isend_mode(to, buf, count, type, mode, &request);
    if (__builtin_expect(rc || request == &request_done, 1))
        return rc;
    return p2p_finish(request, MPI_STATUS_IGNORE);
}

/* ---- receiving ---- */

static int recv_from_nobody(struct comm *comm, struct request **request)
{
    *request = request_create_received(comm);
    return *request ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static inline int start_recv(const struct p2p_side *from, void *buf, MPI_Count count,
                             MPI_Datatype type, struct comm *owner, struct request **request)
{
    struct mpid_bytes bytes;
    struct type *used;
    struct vc *source = NULL;
    if (from->peer != MPI_ANY_SOURCE && !(source = comm_vc(from->comm, from->peer)))
        return MPI_ERR_NO_MEM;
    int rc = type_place(type, buf, count, &bytes, &used);
    if (__builtin_expect(rc, 0))
        return rc;
    bool any = !source && from->context == from->comm->context;
    struct request *made = any ? request_create(&request_any_ops, from->comm)
                               : request_create(&request_recv_ops, owner);
    if (!made)
        return MPI_ERR_NO_MEM;
    if (used) {
        type_ref(used);
        made->type = used;
    }
    struct mpid_envelope want = p2p_want(from);
    *request = made;
    mpid_recv(&made->dev, source, &want, &bytes);
    return MPI_SUCCESS;
}

int p2p_irecv(const struct p2p_side *from, void *buf, MPI_Count count, MPI_Datatype type,
              struct request **request)
{
    if (__builtin_expect(from->peer == MPI_PROC_NULL, 0))
        return recv_from_nobody(from->comm, request);
    return start_recv(from, buf, count, type, from->comm, request);
}

/* A call that leaves no request behind takes back a receive whose message might never come. */
static __attribute__((cold, noinline)) int take_back(struct request *request, MPI_Status *status)
{
    MPI_Request handle;
    mpid_cancel(&request->dev);
    mpid_wait(&request->dev);
    bool none = request->dev.cancelled;
    int rc = request_finish(request, status, &handle);
    return none ? MPIX_ERR_PROC_FAILED : rc;
}

int p2p_finish(struct request *request, MPI_Status *status)
{
    MPI_Request handle;
    if (!request_is_complete(request)) {
        mpid_await(&request->dev);
        request_wait(request);
    }
    int rc = request_finish(request, status, &handle);
    return __builtin_expect(rc == MPIX_ERR_PROC_FAILED_PENDING, 0) ? take_back(request, status) : rc;
}

int p2p_end(struct request *request)
{
    int rc = __builtin_expect(request->dev.error, 0) ? request_class(&request->dev) : MPI_SUCCESS;
    request_free(request);
    return rc;
}

/* The caller keeps the communicator alive, so the request need not. */
int p2p_recv(const struct p2p_side *from, void *buf, MPI_Count count, MPI_Datatype type,
             MPI_Status *status)
{
    struct request *request;
    if (__builtin_expect(from->peer == MPI_PROC_NULL, 0)) {
        status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
        return MPI_SUCCESS;
    }
    int rc = start_recv(from, buf, count, type, NULL, &request);
    return __builtin_expect(rc, 0) ? rc : p2p_finish(request, status);
}
