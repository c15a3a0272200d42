/* SPDX-License-Identifier: BSD-3-Clause */

/* Point-to-point communication (MPI-5.0 chapter 3): check, then one call. */
#include <mpi.h>
#include <stdlib.h>

#include "include/mpid.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/request/buffer.h"
#include "mpi/request/compared.h"
#include "mpi/request/p2p.h"
#include "mpi/request/request.h"
#include "mpi/request/status.h"
#include "mpi/store.h"
#include "mpi/type/type.h"

/* ---- checks ---- */

/* Why an argument was refused: say it, and return the code. */
static __attribute__((cold, noinline)) int refuse(const struct p2p_side *side, MPI_Count count,
                                                  bool receive, const char *function)
{
    struct comm *comm = side->comm;
    if (count < 0)
        return errh_comm(comm, MPI_ERR_COUNT, function, "count %lld: must be 0 or more",
                         (long long)count);
    if (side->tag < 0 && !(receive && side->tag == MPI_ANY_TAG))
        return errh_comm(comm, MPI_ERR_TAG, function, "tag %d: must be 0 to %d%s", side->tag,
                         INT32_MAX, receive ? ", or MPI_ANY_TAG" : "");
    return errh_comm(comm, MPI_ERR_RANK, function,
                     "rank %d: must be 0 to %d, or MPI_PROC_NULL%s", side->peer, comm->peers - 1,
                     receive ? ", or MPI_ANY_SOURCE" : "");
}

static inline bool is_good_send(const struct p2p_side *to, MPI_Count count)
{
    return ((unsigned)to->peer < (unsigned)to->comm->peers || to->peer == MPI_PROC_NULL) &&
           to->tag >= 0 && count >= 0;
}

static inline bool is_good_recv(const struct p2p_side *from, MPI_Count count)
{
    return ((unsigned)from->peer < (unsigned)from->comm->peers ||
            from->peer == MPI_ANY_SOURCE || from->peer == MPI_PROC_NULL) &&
           (from->tag >= 0 || from->tag == MPI_ANY_TAG) && count >= 0;
}

static __attribute__((cold, noinline)) int fail_of(struct comm *comm, int error, const char *which,
                                                   MPI_Datatype type, const char *function)
{
    switch (error) {
    case MPI_ERR_TYPE: return errh_bad_type(comm, type, which, function);
    case MPI_ERR_BUFFER: return errh_comm(comm, error, function, "buffer: NULL, but count is not 0");
    case MPI_ERR_COUNT: return errh_comm(comm, error, function, "count: too large");
    default: return request_raise(comm, error, function, MPI_STATUS_IGNORE);
    }
}

static __attribute__((cold, noinline)) int fail(struct comm *comm, int error, MPI_Datatype type,
                                                const char *function)
{
    return fail_of(comm, error, "datatype", type, function);
}

static __attribute__((cold, noinline)) int no_request(struct comm *comm, const char *function)
{
    return errh_comm(comm, MPI_ERR_ARG, function, "request is NULL");
}

static inline struct p2p_side side_of(struct comm *comm, int peer, int tag)
{
    return (struct p2p_side){comm, comm->context, peer, tag};
}

/* ---- sends ---- */

/* The common case: contiguous data of a predefined type to a known peer that takes them at
 * once. Everything else, bad arguments included, is for the slow path. */
static inline bool sent_at_once(const void *buf, MPI_Count count, MPI_Datatype type, int dest,
                                int tag, struct comm *comm, unsigned mode)
{
    if (__builtin_expect((unsigned)dest >= (unsigned)comm->peers || tag < 0 || !buf, 0))
        return false;
    int64_t len = type_quick_bytes(type, count);
    struct vc *vc = __atomic_load_n(&comm->vcs[dest], __ATOMIC_ACQUIRE);
    if (__builtin_expect(len < 0 || !vc, 0))
        return false;
    return mpid_send_now(vc, comm->context, mpid_sender(comm->rank, tag), buf, (size_t)len, mode);
}

static __attribute__((noinline)) int send_slow(const void *buf, MPI_Count count, MPI_Datatype type,
                                               const struct p2p_side *to, unsigned mode,
                                               const char *function)
{
    if (!is_good_send(to, count))
        return refuse(to, count, false, function);
    struct compared_data data = {buf, count, type, count, type};
    struct request *request;
    int rc = compared_isend_any(to, &data, mode, &request);
    if (!rc && request != &request_done)
        rc = p2p_finish(request, MPI_STATUS_IGNORE);
    return rc ? fail(to->comm, rc, type, function) : MPI_SUCCESS;
}

struct request_call {
    MPI_Request *request;
    const char *function;
};

static __attribute__((noinline)) int start_slow(const void *buf, MPI_Count count,
                                                MPI_Datatype type, const struct p2p_side *to,
                                                unsigned mode, struct request_call call)
{
    struct request *made;
    if (!is_good_send(to, count))
        return refuse(to, count, false, call.function);
    if (!call.request)
        return no_request(to->comm, call.function);
    struct compared_data data = {buf, count, type, count, type};
    int rc = compared_isend_any(to, &data, mode | MPID_MORE, &made);
    if (rc)
        return fail(to->comm, rc, type, call.function);
    *call.request = request_handle(made);
    return MPI_SUCCESS;
}

/*
 * Send a message, and return when its buffer may be changed again.
 *
 * The mode is standard: a short message is taken over, and the call returns at once; a long one
 * is sent when its receive is there, and the call waits for that. A program must rely on
 * neither. Messages from one process to another over one communicator are matched in the order
 * in which they were sent.
 *
 * MPI-5.0 3.2.1
 */
int PMPI_Send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                MPI_Comm comm)
{
    struct comm *c = comm_from(comm);
    if (__builtin_expect(!c, 0))
        return errh_bad_comm(comm, __func__);
    if (__builtin_expect(sent_at_once(buf, count, datatype, dest, tag, c, MPID_STANDARD), 1))
        return MPI_SUCCESS;
    struct p2p_side to = side_of(c, dest, tag);
    return send_slow(buf, count, datatype, &to, MPID_STANDARD, __func__);
}

/*
 * Send a message, and return when its receive has begun.
 *
 * The mode is synchronous: the call waits until a matching receive has taken the message,
 * however short it is.
 *
 * MPI-5.0 3.4
 */
int PMPI_Ssend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    struct comm *c = comm_from(comm);
    if (!c)
        return errh_bad_comm(comm, __func__);
    struct p2p_side to = side_of(c, dest, tag);
    return send_slow(buf, count, datatype, &to, MPID_SYNC, __func__);
}

/*
 * Send a message to a receive that waits for it already.
 *
 * The mode is ready: that the receive has been started is promised by the program, and not
 * checked. The message is sent as by MPI_Send.
 *
 * MPI-5.0 3.4
 */
int PMPI_Rsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    struct comm *c = comm_from(comm);
    if (!c)
        return errh_bad_comm(comm, __func__);
    if (__builtin_expect(sent_at_once(buf, count, datatype, dest, tag, c, MPID_STANDARD), 1))
        return MPI_SUCCESS;
    struct p2p_side to = side_of(c, dest, tag);
    return send_slow(buf, count, datatype, &to, MPID_STANDARD, __func__);
}

/*
 * Start to send a message.
 *
 * As MPI_Send, but the call returns at once, and buf must not be changed before the request is
 * complete. It is complete when the message is taken over; that says nothing of its receive.
 *
 * MPI-5.0 3.7.2
 */
int PMPI_Isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    struct comm *c = comm_from(comm);
    if (__builtin_expect(!c, 0))
        return errh_bad_comm(comm, __func__);
    if (__builtin_expect(!request, 0))
        return no_request(c, __func__);
    if (__builtin_expect(sent_at_once(buf, count, datatype, dest, tag, c, MPID_MORE), 1)) {
        *request = request_handle(&request_done);
        return MPI_SUCCESS;
    }
    struct p2p_side to = side_of(c, dest, tag);
    return start_slow(buf, count, datatype, &to, MPID_STANDARD,
                      (struct request_call){request, __func__});
}

/*
 * Start to send a message that is complete when its receive has begun.
 *
 * As MPI_Ssend, but the call returns at once, and buf must not be changed before the request is
 * complete.
 *
 * MPI-5.0 3.7.2
 */
int PMPI_Issend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    struct comm *c = comm_from(comm);
    if (!c)
        return errh_bad_comm(comm, __func__);
    struct p2p_side to = side_of(c, dest, tag);
    return start_slow(buf, count, datatype, &to, MPID_SYNC,
                      (struct request_call){request, __func__});
}

/*
 * Start to send a message to a receive that waits for it already.
 *
 * As MPI_Rsend, but the call returns at once, and buf must not be changed before the request is
 * complete.
 *
 * MPI-5.0 3.7.2
 */
int PMPI_Irsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    struct comm *c = comm_from(comm);
    if (!c)
        return errh_bad_comm(comm, __func__);
    if (__builtin_expect(!request, 0))
        return no_request(c, __func__);
    if (__builtin_expect(sent_at_once(buf, count, datatype, dest, tag, c, MPID_MORE), 1)) {
        *request = request_handle(&request_done);
        return MPI_SUCCESS;
    }
    struct p2p_side to = side_of(c, dest, tag);
    return start_slow(buf, count, datatype, &to, MPID_STANDARD,
                      (struct request_call){request, __func__});
}

static int send_buffered(const void *buf, MPI_Count count, MPI_Datatype type, struct p2p_side to,
                         const char *function)
{
    if (!is_good_send(&to, count))
        return refuse(&to, count, false, function);
    int rc = buffer_send(&to, buf, count, type);
    if (rc == MPI_ERR_BUFFER)
        return errh_comm(to.comm, rc, function,
                         "no room in the attached buffer for this message: attach a larger one "
                         "with MPI_Buffer_attach, or MPI_BUFFER_AUTOMATIC");
    return rc ? fail(to.comm, rc, type, function) : MPI_SUCCESS;
}

/*
 * Send a message from the attached buffer, and return at once.
 *
 * The message is copied into the buffer that is attached to the communicator; if it has none,
 * to the session that it comes from; if that has none either, to the process. There it takes
 * its packed size and at most MPI_BSEND_OVERHEAD bytes, until it is out. The call never waits for
 * the receiver.
 *
 * MPI_ERR_BUFFER: buf is NULL, and count is not 0; or no buffer is attached, or it has no room
 *   for this message.
 * MPI_ERR_PROC_ABORTED, MPI_ERR_OTHER: never, as nothing is waited for
 *
 * MPI-5.0 3.4
 */
int PMPI_Bsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                 MPI_Comm comm)
{
    struct comm *c = comm_from(comm);
    if (!c)
        return errh_bad_comm(comm, __func__);
    return send_buffered(buf, count, datatype, side_of(c, dest, tag), __func__);
}

/*
 * Start to send a message from the attached buffer.
 *
 * As MPI_Bsend: the message is copied before the call returns, and the request is complete then.
 *
 * MPI_ERR_BUFFER: buf is NULL, and count is not 0; or no buffer is attached, or it has no room
 *   for this message.
 * MPI_ERR_PROC_ABORTED, MPI_ERR_OTHER: never, as nothing is waited for
 *
 * MPI-5.0 3.7.2
 */
int PMPI_Ibsend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag,
                  MPI_Comm comm, MPI_Request *request)
{
    struct comm *c = comm_from(comm);
    if (!c)
        return errh_bad_comm(comm, __func__);
    if (!request)
        return no_request(c, __func__);
    int rc = send_buffered(buf, count, datatype, side_of(c, dest, tag), __func__);
    if (!rc)
        *request = request_handle(&request_done);
    return rc;
}

/* ---- receives ---- */

static __attribute__((noinline)) int recv_slow(void *buf, MPI_Count count, MPI_Datatype type,
                                               const struct p2p_side *from, MPI_Status *status,
                                               const char *function)
{
    if (!is_good_recv(from, count))
        return refuse(from, count, true, function);
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    int rc = compared_on ? compared_recv(from, buf, count, type, status)
                         : p2p_recv(from, buf, count, type, status);
    if (!rc)
        return MPI_SUCCESS;
    return rc == MPI_ERR_TRUNCATE ? request_raise(from->comm, rc, function, status)
                                  : fail(from->comm, rc, type, function);
}

/* The common case: one turn of progress brings the message, of a predefined type. */
static inline bool received_at_once(void *buf, MPI_Count count, MPI_Datatype type, int source,
                                    int tag, struct comm *comm, MPI_Status *status)
{
    struct mpid_wanted wanted;
    wanted.mask = ~(uint64_t)0;
    if ((unsigned)source >= (unsigned)comm->peers) {
        if (source != MPI_ANY_SOURCE)
            return false;
        source = 0;
        wanted.mask = ~MPID_ANY_RANK_BITS;
    }
    if (tag < 0) {
        if (tag != MPI_ANY_TAG)
            return false;
        tag = 0;
        wanted.mask &= ~MPID_ANY_TAG_BITS;
    }
    int64_t len = type_quick_bytes(type, count);
    if (__builtin_expect(len < 0 || !buf, 0))
        return false;
    wanted.sender = mpid_sender(source, tag);
    wanted.context = comm->context;
    wanted.base = buf;
    wanted.len = (size_t)len;
    if (!mpid_recv_now(&wanted))
        return false;
    status_set(status, (int)(uint32_t)wanted.from, (int)(wanted.from >> 32),
               (int64_t)wanted.count, false);
    return true;
}

/*
 * Receive a message, and return when it is in the buffer.
 *
 * Of the messages that match source, tag and comm, the one that was sent first is taken. It may
 * be shorter than the buffer; MPI_Get_count tells how many elements came.
 *
 * buf: where to; the rest of it stays as it was
 * count: number of elements that fit into buf, 0 or more
 *
 * MPI_ERR_TRUNCATE: the message is longer than the buffer; the buffer is filled.
 *
 * MPI-5.0 3.2.4
 */
int PMPI_Recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                MPI_Comm comm, MPI_Status *status)
{
    struct comm *c = comm_from(comm);
    if (__builtin_expect(!c, 0))
        return errh_bad_comm(comm, __func__);
    if (received_at_once(buf, count, datatype, source, tag, c, status))
        return MPI_SUCCESS;
    struct p2p_side from = side_of(c, source, tag);
    return recv_slow(buf, count, datatype, &from, status, __func__);
}

static __attribute__((noinline)) int start_recv_slow(void *buf, MPI_Count count,
                                                     MPI_Datatype type,
                                                     const struct p2p_side *from,
                                                     struct request_call call)
{
    struct request *made;
    if (!is_good_recv(from, count))
        return refuse(from, count, true, call.function);
    if (!call.request)
        return no_request(from->comm, call.function);
    int rc = compared_irecv_any(from, buf, count, type, &made);
    if (rc)
        return fail(from->comm, rc, type, call.function);
    *call.request = request_handle(made);
    return MPI_SUCCESS;
}

/*
 * Start to receive a message.
 *
 * As MPI_Recv, but the call returns at once, and buf must be left alone before the request is
 * complete.
 *
 * buf: where to; the rest of it stays as it was
 * count: number of elements that fit into buf, 0 or more
 *
 * MPI_ERR_TRUNCATE: told at completion: the message is longer than the buffer; the buffer is
 *   filled.
 *
 * MPI-5.0 3.7.2
 */
int PMPI_Irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                 MPI_Comm comm, MPI_Request *request)
{
    struct comm *c = comm_from(comm);
    if (__builtin_expect(!c, 0))
        return errh_bad_comm(comm, __func__);
    struct p2p_side from = side_of(c, source, tag);
    int64_t len = type_quick_bytes(datatype, count);
    struct request *made;
    struct vc *vc;
    if (__builtin_expect(!request || len < 0 || !buf || (unsigned)source >= (unsigned)c->peers ||
                             (tag < 0 && tag != MPI_ANY_TAG) || !(vc = comm_vc(c, source)) ||
                             !(made = request_create(&request_recv_ops, c)),
                         0))
        return start_recv_slow(buf, count, datatype, &from,
                               (struct request_call){request, __func__});
    struct mpid_envelope want = p2p_want(&from);
    struct mpid_bytes bytes = {.base = buf, .len = (size_t)len};
    *request = request_handle(made);
    mpid_recv(&made->dev, vc, &want, &bytes);
    return MPI_SUCCESS;
}

/* ---- both ---- */

struct sendrecv {
    struct p2p_side to, from;
    const void *sendbuf;
    MPI_Count sendcount;
    MPI_Datatype sendtype;
    MPI_Count named_count; /* what the program calls it that is sent: see struct compared_data */
    MPI_Datatype named_type;
    void *recvbuf;
    MPI_Count recvcount;
    MPI_Datatype recvtype;
};

static int check_exchange(const struct sendrecv *x, const char *function)
{
    if (!is_good_send(&x->to, x->sendcount))
        return refuse(&x->to, x->sendcount, false, function);
    if (!is_good_recv(&x->from, x->recvcount))
        return refuse(&x->from, x->recvcount, true, function);
    return MPI_SUCCESS;
}

/* Start both; on failure, which is raised, neither stays. */
static int start_exchange(const struct sendrecv *x, struct request **send, struct request **recv,
                          const char *function)
{
    struct compared_data data = {x->sendbuf, x->sendcount, x->sendtype, x->named_count,
                                 x->named_type};
    int rc = compared_irecv_any(&x->from, x->recvbuf, x->recvcount, x->recvtype, recv);
    if (rc)
        return fail_of(x->from.comm, rc, "recvtype", x->recvtype, function);
    rc = compared_isend_any(&x->to, &data, MPID_STANDARD, send);
    if (rc) {
        mpid_cancel(&(*recv)->dev);
        (void)p2p_finish(*recv, MPI_STATUS_IGNORE);
        return fail_of(x->to.comm, rc, "sendtype", x->sendtype, function);
    }
    return MPI_SUCCESS;
}

static void tell_pair(const struct request *pair, struct mpid_wait_report *report)
{
    mpid_tell_request(report, &pair->dev);
    request_tell(pair->inner, report);
}

static void free_pair(struct mpid_request *dev)
{
    struct request *pair = request_of(dev);
    request_free(pair->inner);
    request_free(pair);
}

static int end_pair(struct request *pair, int outcome, MPI_Request *handle)
{
    if (outcome == MPIX_ERR_PROC_FAILED_PENDING)
        return outcome;
    free_pair(&pair->dev);
    *handle = MPI_REQUEST_NULL;
    return outcome;
}

static int abandon_pair(struct request *pair)
{
    object_set_word(&pair->object, 0); /* its handles lead nowhere from here on */
    if (!mpid_when_done(&pair->dev, free_pair))
        free_pair(&pair->dev);
    return MPI_SUCCESS;
}

static int outcome_of_pair(const struct request *pair, MPI_Status *status)
{
    if (request_is_doubted(pair)) {
        status_set_empty(status);
        return MPIX_ERR_PROC_FAILED_PENDING;
    }
    return compared_outcome(pair, status);
}

static const struct request_ops pair_ops = {
    .tell = tell_pair,
    .outcome = outcome_of_pair,
    .end = end_pair,
    .abandon = abandon_pair,
    .release = compared_release,
};

/* The same with a receive from any rank. */
static const struct request_ops pair_any_ops = {
    .is_complete = request_is_complete_or_doubted,
    .tell = tell_pair,
    .outcome = outcome_of_pair,
    .end = end_pair,
    .abandon = abandon_pair,
    .release = compared_release,
};

/* The pair as one request: the receive, with the send as one more CAR. owned goes with it. */
static int start_pair(const struct sendrecv *x, void *owned, struct request **pair,
                      const char *function)
{
    struct request *send, *recv;
    int rc = check_exchange(x, function);
    if (!rc)
        rc = start_exchange(x, &send, &recv, function);
    if (rc) {
        free(owned);
        return rc;
    }
    recv->ops = x->from.peer == MPI_ANY_SOURCE ? &pair_any_ops : &pair_ops;
    recv->inner = send;
    compared_own(recv, owned);
    mpid_add_car(&recv->dev, &send->dev);
    *pair = recv;
    return MPI_SUCCESS;
}

static int run_exchange(const struct sendrecv *x, void *owned, MPI_Status *status,
                        const char *function)
{
    struct request *pair;
    int rc = start_pair(x, owned, &pair, function);
    if (rc)
        return rc;
    rc = p2p_finish(pair, status);
    return rc ? request_raise(x->from.comm, rc, function, status) : MPI_SUCCESS;
}

static int give_exchange(const struct sendrecv *x, void *owned, MPI_Request *request,
                         const char *function)
{
    struct request *pair;
    if (!request) {
        free(owned);
        return no_request(x->to.comm, function);
    }
    int rc = start_pair(x, owned, &pair, function);
    if (!rc)
        *request = request_handle(pair);
    return rc;
}

/*
 * Send one message and receive another.
 *
 * Both are under way at the same time, so that processes that all call this one, in a ring or in
 * pairs, do not wait for each other in vain. They may match those of any other calls. The call
 * returns when the buffer that is sent may be changed, and the other is filled. The two must not
 * share memory; MPI_Sendrecv_replace has one for both.
 *
 * recvbuf: where to
 * recvcount: number of elements that fit into recvbuf, 0 or more
 * status: of the message that was received, or MPI_STATUS_IGNORE
 *
 * MPI_ERR_TRUNCATE: the message is longer than recvbuf; the buffer is filled.
 *
 * MPI-5.0 3.10
 */
int PMPI_Sendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                    int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                    int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    struct comm *c = comm_from(comm);
    if (!c)
        return errh_bad_comm(comm, __func__);
    struct sendrecv x = {side_of(c, dest, sendtag), side_of(c, source, recvtag),
                         sendbuf, sendcount, sendtype, sendcount, sendtype, recvbuf, recvcount,
                         recvtype};
    return run_exchange(&x, NULL, status, __func__);
}

/*
 * Start to send one message and to receive another.
 *
 * As MPI_Sendrecv, but the call returns at once. The request is complete when both are; its
 * status is that of the receive.
 *
 * recvbuf: where to
 * recvcount: number of elements that fit into recvbuf, 0 or more
 *
 * MPI_ERR_TRUNCATE: told at completion: the message is longer than recvbuf; recvbuf is
 *   filled.
 *
 * MPI-5.0 3.10
 */
int PMPI_Isendrecv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                     int sendtag, void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                     int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    struct comm *c = comm_from(comm);
    if (!c)
        return errh_bad_comm(comm, __func__);
    struct sendrecv x = {side_of(c, dest, sendtag), side_of(c, source, recvtag),
                         sendbuf, sendcount, sendtype, sendcount, sendtype, recvbuf, recvcount,
                         recvtype};
    return give_exchange(&x, NULL, request, __func__);
}

/* Pack the data to send, so that the buffer is free to receive into. */
static int pack_aside(struct sendrecv *x, void **packed, const char *function)
{
    struct mpid_bytes bytes;
    struct type *used;
    *packed = NULL;
    int rc = check_exchange(x, function);
    if (rc)
        return rc;
    rc = type_place(x->sendtype, x->sendbuf, x->sendcount, &bytes, &used);
    if (!rc && type_may_be_misread(x->sendtype) && comm_misreads(x->to.comm, x->to.peer, x->sendtype))
        rc = MPI_ERR_TYPE;
    if (!rc) {
        *packed = malloc(bytes.len + 1);
        if (!*packed)
            rc = MPI_ERR_NO_MEM;
    }
    if (rc)
        return fail(x->to.comm, rc, x->sendtype, function);
    type_pack(&bytes, 0, *packed, bytes.len);
    x->sendbuf = *packed;
    x->sendcount = (MPI_Count)bytes.len;
    x->sendtype = MPI_BYTE;
    return MPI_SUCCESS;
}

/*
 * Send the data of a buffer, and receive another message into it.
 *
 * As MPI_Sendrecv; the data to send are packed aside first, in memory of their size.
 *
 * buf (inout): the data to send, then the data received
 * status: of the message that was received, or MPI_STATUS_IGNORE
 *
 * MPI_ERR_TRUNCATE: the message is longer than the buffer; the buffer is filled.
 * MPI_ERR_NO_MEM: no memory to pack the data.
 *
 * MPI-5.0 3.10
 */
int PMPI_Sendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                            int sendtag, int source, int recvtag, MPI_Comm comm,
                            MPI_Status *status)
{
    struct comm *c = comm_from(comm);
    void *packed;
    if (!c)
        return errh_bad_comm(comm, __func__);
    struct sendrecv x = {side_of(c, dest, sendtag), side_of(c, source, recvtag),
                         buf, count, datatype, count, datatype, buf, count, datatype};
    int rc = pack_aside(&x, &packed, __func__);
    return rc ? rc : run_exchange(&x, packed, status, __func__);
}

/*
 * Start to send the data of a buffer, and to receive another message into it.
 *
 * As MPI_Sendrecv_replace, but the call returns at once. The request is complete when both are;
 * its status is that of the receive.
 *
 * buf (inout): the data to send, then the data received
 *
 * MPI_ERR_TRUNCATE: told at completion: the message is longer than the buffer; the buffer is
 *   filled.
 * MPI_ERR_NO_MEM: no memory to pack the data.
 *
 * MPI-5.0 3.10
 */
int PMPI_Isendrecv_replace_c(void *buf, MPI_Count count, MPI_Datatype datatype, int dest,
                             int sendtag, int source, int recvtag, MPI_Comm comm,
                             MPI_Request *request)
{
    struct comm *c = comm_from(comm);
    void *packed;
    if (!c)
        return errh_bad_comm(comm, __func__);
    struct sendrecv x = {side_of(c, dest, sendtag), side_of(c, source, recvtag),
                         buf, count, datatype, count, datatype, buf, count, datatype};
    int rc = pack_aside(&x, &packed, __func__);
    return rc ? rc : give_exchange(&x, packed, request, __func__);
}

/* ---- probes ---- */

/* A message that a matching probe has taken. */
struct message {
    struct object object;
    struct comm *comm; /* referenced */
    struct mpid_message *taken;
};

static struct store messages = {.lock = OS_LOCK_INIT};

struct probe {
    struct mpid_probe dev;
    const struct comm *comm; /* of a probe of any rank; or NULL */
    int outcome; /* a wait may ask again: a message must not be taken twice */
};

/* Whether the message might be due from a rank that has failed. */
static bool is_doubted(const struct probe *probe)
{
    return probe->comm && atomic_load_explicit(&probe->comm->doubted, memory_order_relaxed);
}

static bool probe_once(void *arg)
{
    struct probe *probe = arg;
    if (!probe->outcome)
        probe->outcome = mpid_probe(&probe->dev);
    return probe->outcome || is_doubted(probe);
}

static void tell_probe(void *arg, struct mpid_wait_report *report)
{
    mpid_tell_probe(report, &((const struct probe *)arg)->dev.want);
}

static const struct mpid_condition probed = {.is_done = probe_once, .tell = tell_probe};

/* Look once, or until there is one; message: NULL, or take it. Returns MPI_SUCCESS or the code of an
 * error. */
static int look(const struct p2p_side *from, bool wait, struct mpid_message **message, int *flag,
                MPI_Status *status, const char *function)
{
    if (!is_good_recv(from, 0))
        return refuse(from, 0, true, function);
    if (!flag)
        return errh_comm(from->comm, MPI_ERR_ARG, function, "flag is NULL");
    if (from->peer == MPI_PROC_NULL) {
        *flag = 1;
        status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
        return MPI_SUCCESS;
    }
    struct probe probe = {.dev = {.want = p2p_want(from), .take = message != NULL}};
    const struct mpid_envelope *found = &probe.dev.found;
    if (from->peer != MPI_ANY_SOURCE && !(probe.dev.from = comm_vc(from->comm, from->peer)))
        return request_raise(from->comm, MPI_ERR_NO_MEM, function, MPI_STATUS_IGNORE);
    if (from->peer == MPI_ANY_SOURCE)
        probe.comm = from->comm;
    if (wait)
        mpid_wait_condition(&probed, &probe);
    else
        probe.outcome = mpid_iprobe(&probe.dev);
    if (probe.outcome == MPID_NONE_CAN_COME)
        return request_raise(from->comm, request_class_of(probe.dev.error), function,
                             MPI_STATUS_IGNORE);
    *flag = probe.outcome == MPID_FOUND;
    if (!*flag && is_doubted(&probe))
        return request_raise(from->comm, MPIX_ERR_PROC_FAILED, function, MPI_STATUS_IGNORE);
    if (*flag)
        status_set(status, found->rank, found->tag, compared_probed((int64_t)probe.dev.len),
                   false);
    if (*flag && message)
        *message = probe.dev.message;
    return MPI_SUCCESS;
}

/* The same, taking the message. */
static int look_and_take(const struct p2p_side *from, bool wait, MPI_Message *handle, int *flag,
                         MPI_Status *status, const char *function)
{
    if (!handle)
        return errh_comm(from->comm, MPI_ERR_ARG, function, "message is NULL");
    struct message *message = store_make(&messages, sizeof(*message), OBJECT_MESSAGE);
    if (!message)
        return errh_comm(from->comm, MPI_ERR_NO_MEM, function, "out of memory");
    int rc = look(from, wait, &message->taken, flag, status, function);
    if (rc || !message->taken) {
        store_free(&messages, message);
        if (!rc && *flag)
            *handle = MPI_MESSAGE_NO_PROC;
        else if (!rc)
            *handle = MPI_MESSAGE_NULL;
        return rc;
    }
    message->comm = from->comm;
    object_ref(&from->comm->object);
    *handle = (MPI_Message)message;
    return MPI_SUCCESS;
}

/*
 * Wait for a message without receiving it.
 *
 * Returns when there is one that a receive of the same source, tag and comm would take, so that
 * a buffer can be made for it. Another thread may receive it first; MPI_Mprobe keeps that from
 * happening. From MPI_PROC_NULL, it returns at once, with an empty message.
 *
 * MPI-5.0 3.8.1
 */
int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    struct comm *c = comm_from(comm);
    int flag;
    if (!c)
        return errh_bad_comm(comm, __func__);
    struct p2p_side from = side_of(c, source, tag);
    return look(&from, true, NULL, &flag, status, __func__);
}

/*
 * Look for a message without receiving it.
 *
 * As MPI_Probe, but the call returns at once.
 *
 * flag: 1 if there is a message, 0 if not
 * status: set where flag is 1; or MPI_STATUS_IGNORE
 *
 * MPI-5.0 3.8.1
 */
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    struct comm *c = comm_from(comm);
    if (!c)
        return errh_bad_comm(comm, __func__);
    struct p2p_side from = side_of(c, source, tag);
    return look(&from, false, NULL, flag, status, __func__);
}

/*
 * Wait for a message, and take it for MPI_Mrecv or MPI_Imrecv.
 *
 * As MPI_Probe, but no other receive or probe can match the message any more.
 *
 * message: the message; MPI_MESSAGE_NO_PROC where source is MPI_PROC_NULL. It must be received:
 *   nothing else frees it
 *
 * MPI-5.0 3.8.2
 */
int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    struct comm *c = comm_from(comm);
    int flag;
    if (!c)
        return errh_bad_comm(comm, __func__);
    struct p2p_side from = side_of(c, source, tag);
    return look_and_take(&from, true, message, &flag, status, __func__);
}

/*
 * Look for a message, and take it for MPI_Mrecv or MPI_Imrecv.
 *
 * As MPI_Mprobe, but the call returns at once.
 *
 * flag: 1 if there is a message, 0 if not
 * message: the message; MPI_MESSAGE_NO_PROC where source is MPI_PROC_NULL; MPI_MESSAGE_NULL
 *   where flag is 0
 * status: set where flag is 1; or MPI_STATUS_IGNORE
 *
 * MPI-5.0 3.8.2
 */
int PMPI_Improbe(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                 MPI_Status *status)
{
    struct comm *c = comm_from(comm);
    if (!c)
        return errh_bad_comm(comm, __func__);
    struct p2p_side from = side_of(c, source, tag);
    return look_and_take(&from, false, message, flag, status, __func__);
}

/* Receive a taken message; on success its handle is gone. */
static int receive_message(MPI_Message *handle, void *buf, MPI_Count count, MPI_Datatype type,
                           struct request **request, const char *function)
{
    struct mpid_bytes bytes;
    struct type *used;
    if (!handle)
        return errh_comm(NULL, MPI_ERR_ARG, function, "message: NULL");
    if (*handle == MPI_MESSAGE_NO_PROC) {
        *request = request_create_received(NULL);
        *handle = MPI_MESSAGE_NULL;
        return *request ? MPI_SUCCESS : errh_comm(NULL, MPI_ERR_NO_MEM, function, "out of memory");
    }
    if (handle_is_constant(*handle) || !handle_leads_to(*handle, OBJECT_MESSAGE))
        return errh_comm(NULL, MPI_ERR_REQUEST, function,
                         "message: not one that a matching probe has returned");
    struct message *message = (struct message *)*handle;
    struct comm *comm = message->comm;
    if (count < 0)
        return errh_comm(comm, MPI_ERR_COUNT, function, "count %lld: must be 0 or more",
                         (long long)count);
    int rc = type_place(type, buf, count, &bytes, &used);
    struct request *made = rc ? NULL : request_create(&request_recv_ops, comm);
    if (made && compared_on && compared_expect(made, &bytes, count, type)) {
        request_free(made);
        made = NULL;
    }
    if (!made)
        return fail(comm, rc ? rc : MPI_ERR_NO_MEM, type, function);
    if (used && !made->type) {
        type_ref(used);
        made->type = used;
    }
    mpid_recv_message(&made->dev, message->taken, &bytes);
    comm_unref(comm);
    store_free(&messages, message);
    *handle = MPI_MESSAGE_NULL;
    *request = made;
    return MPI_SUCCESS;
}

/*
 * Receive a message that a matching probe has taken.
 *
 * Returns when the message is in the buffer. Errors are raised on the communicator that was
 * probed.
 *
 * buf: where to; the rest of it stays as it was
 * count: number of elements that fit into buf, 0 or more
 * message (inout): what MPI_Mprobe or MPI_Improbe gave, once; then MPI_MESSAGE_NULL
 *
 * MPI_ERR_REQUEST: not a message of a matching probe.
 * MPI_ERR_TRUNCATE: the message is longer than the buffer; the buffer is filled.
 *
 * MPI-5.0 3.8.3
 */
int PMPI_Mrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                 MPI_Status *status)
{
    struct request *request;
    int rc = receive_message(message, buf, count, datatype, &request, __func__);
    if (rc)
        return rc;
    struct comm *comm = request->comm;
    if (comm)
        object_ref(&comm->object);
    rc = p2p_finish(request, status);
    if (rc)
        rc = request_raise(comm, rc, __func__, status);
    if (comm)
        comm_unref(comm);
    return rc;
}

/*
 * Start to receive a message that a matching probe has taken.
 *
 * As MPI_Mrecv, but the call returns at once, and buf must be left alone before the request is
 * complete.
 *
 * buf: where to; the rest of it stays as it was
 * count: number of elements that fit into buf, 0 or more
 * message (inout): what MPI_Mprobe or MPI_Improbe gave, once; then MPI_MESSAGE_NULL
 *
 * MPI_ERR_REQUEST: not a message of a matching probe.
 * MPI_ERR_TRUNCATE: told at completion: the message is longer than the buffer; the buffer is
 *   filled.
 *
 * MPI-5.0 3.8.3
 */
int PMPI_Imrecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message,
                  MPI_Request *request)
{
    struct request *made;
    if (!request)
        return no_request(NULL, __func__);
    int rc = receive_message(message, buf, count, datatype, &made, __func__);
    if (!rc)
        *request = request_handle(made);
    return rc;
}

#include "p2p.gen.h"
