/* SPDX-License-Identifier: BSD-3-Clause */

/* Requests: made, awaited, taken down; and those of sends and receives. See request.h. */
#include "mpi/request/request.h"

#include <stdlib.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/request/status.h"
#include "mpi/type/type.h"
#include "os/lock.h"
#include "os/memory/pool.h"

struct request request_done = {.object = {OBJECT_REQUEST, 1}, .ops = &request_send_ops};

struct request_store request_store;

void request_init(void)
{
    request_store.lock = (struct os_lock)OS_LOCK_INIT;
    os_pool_init_known(&request_store.pool, offsetof(struct request, dev) + mpid_space_seal(MPID_SPACE_REQUEST),
                       16);
}

void request_fini(void)
{
    os_pool_fini(&request_store.pool);
}

void request_release(struct request *request)
{
    type_unref(request->type);
    if (request->ops->release)
        request->ops->release(request);
    else
        free(request->owned);
}

static void release(struct mpid_request *dev)
{
    request_free(request_of(dev));
}

void request_let_go(struct request *request)
{
    if (request == &request_done)
        return;
    object_set_word(&request->object, 0); /* its handles lead nowhere from here on */
    if (!mpid_when_done(&request->dev, release))
        request_free(request);
}

int request_abandon(struct request *request)
{
    left_freed(request);
    if (request->ops->abandon)
        return request->ops->abandon(request);
    request_let_go(request);
    return MPI_SUCCESS;
}

/* ---- completion ---- */

bool request_is_inactive(const struct request *request)
{
    return request->ops->is_inactive && request->ops->is_inactive(request);
}

void request_watch(const struct request *request, struct sleeper *sleeper)
{
    if (request->ops->watch)
        request->ops->watch(request, sleeper);
    else
        mpid_watch_request(sleeper, &request->dev);
}

void request_tell(const struct request *request, struct mpid_wait_report *report)
{
    if (request->ops->tell)
        request->ops->tell(request, report);
    else
        mpid_tell_request(report, &request->dev);
}

void request_tell_nothing(const struct request *request, struct mpid_wait_report *report)
{
    (void)request, (void)report;
}

static void watch(void *request, struct sleeper *sleeper)
{
    request_watch(request, sleeper);
}

static void tell(void *request, struct mpid_wait_report *report)
{
    request_tell(request, report);
}

static bool is_complete(void *request)
{
    return request_is_complete(request);
}

void request_await(struct request *request)
{
    if (request->ops->start && request->inner)
        request = request->inner;
    if (request->ops == &request_recv_ops)
        mpid_await(&request->dev);
}

void request_wait(struct request *request)
{
    static const struct mpid_condition condition = {is_complete, watch, tell};
    if (request->ops->tell)
        mpid_wait_condition(&condition, request);
    else
        mpid_wait(&request->dev);
}

int request_class_of(enum mpid_error error)
{
    switch (error) {
    case MPID_OK: return MPI_SUCCESS;
    case MPID_TRUNCATED: return MPI_ERR_TRUNCATE;
    case MPID_LOST: return MPI_ERR_PROC_ABORTED;
    case MPID_NO_MEMORY: return MPI_ERR_NO_MEM;
    case MPID_REVOKED: return MPIX_ERR_REVOKED;
    default: return MPI_ERR_OTHER;
    }
}

/* ---- receives from any rank ---- */

bool request_is_doubted(const struct request *request)
{
    if (request->inner && request->ops->start) /* a persistent one */
        return request_is_doubted(request->inner);
    return request->ops->is_complete == request_is_complete_or_doubted && !mpid_is_complete(&request->dev);
}

bool request_is_complete_or_doubted(struct request *request)
{
    return mpid_is_complete(&request->dev) ||
           atomic_load_explicit(&request->comm->doubted, memory_order_relaxed);
}

void request_tell_message(const struct request *request, struct mpid_wait_report *report)
{
    mpid_tell_request(report, &request->dev);
}

int request_class(const struct mpid_request *dev)
{
    return __builtin_expect(dev->error, 0) ? request_class_of(mpid_why(dev)) : MPI_SUCCESS;
}

int request_outcome(const struct request *request, MPI_Status *status)
{
    if (__builtin_expect(os_lock_enabled, 0))
        mpid_order_completion();
    return request->ops->outcome(request, status);
}

int request_end(struct request *request, int outcome, MPI_Request *handle)
{
    if (request->ops->end)
        return request->ops->end(request, outcome, handle);
    request_free(request);
    *handle = MPI_REQUEST_NULL;
    return outcome;
}

int request_finish(struct request *request, MPI_Status *status, MPI_Request *handle)
{
    return request_end(request, request_outcome(request, status), handle);
}

int request_cancel(struct request *request)
{
    return request->ops->cancel ? request->ops->cancel(request) : MPI_ERR_REQUEST;
}

/* ---- sends and receives ---- */

static int outcome_of_send(const struct request *request, MPI_Status *status)
{
    status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, request->dev.cancelled);
    return request_class(&request->dev);
}

static int outcome_of_recv(const struct request *request, MPI_Status *status)
{
    const struct mpid_request *dev = &request->dev;
    status_set(status, dev->place.env.rank, dev->place.env.tag, (int64_t)dev->count,
               dev->cancelled);
    return request_class(dev);
}

static int outcome_of_any(const struct request *request, MPI_Status *status)
{
    if (mpid_is_complete(&request->dev))
        return outcome_of_recv(request, status);
    status_set_empty(status);
    return MPIX_ERR_PROC_FAILED_PENDING;
}

static int end_any(struct request *request, int outcome, MPI_Request *handle)
{
    if (outcome == MPIX_ERR_PROC_FAILED_PENDING)
        return outcome;
    request_free(request);
    *handle = MPI_REQUEST_NULL;
    return outcome;
}

static int cancel_message(struct request *request)
{
    mpid_cancel(&request->dev);
    return MPI_SUCCESS;
}

const struct request_ops request_send_ops = {.outcome = outcome_of_send, .cancel = cancel_message};
const struct request_ops request_recv_ops = {.outcome = outcome_of_recv, .cancel = cancel_message};
const struct request_ops request_any_ops = {
    .is_complete = request_is_complete_or_doubted,
    .tell = request_tell_message,
    .outcome = outcome_of_any,
    .end = end_any,
    .cancel = cancel_message,
};

struct request *request_create_received(struct comm *comm)
{
    struct request *request = request_create(&request_recv_ops, comm);
    if (request)
        request->dev = (struct mpid_request){.place.env = {0, MPI_PROC_NULL, MPI_ANY_TAG}};
    return request;
}

/* ---- work of this process ---- */

static int outcome_of_own(const struct request *request, MPI_Status *status)
{
    status_set_empty(status);
    return request->dev.error && request->dev.count ? (int)request->dev.count
                                                    : request_class(&request->dev);
}

struct request *request_begin(struct comm *comm)
{
    static const struct request_ops ops = {.tell = request_tell_nothing, .outcome = outcome_of_own};
    struct request *request = request_create(&ops, comm);
    if (request)
        mpid_begin(&request->dev);
    return request;
}

void request_complete(struct request *request, int error_class)
{
    enum mpid_error error = MPID_UNREACHABLE;
    switch (error_class) {
    case MPI_SUCCESS: error = MPID_OK; break;
    case MPI_ERR_PROC_ABORTED: error = MPID_LOST; break;
    case MPI_ERR_NO_MEM: error = MPID_NO_MEMORY; break;
    case MPIX_ERR_REVOKED: error = MPID_REVOKED; break;
    default: break;
    }
    request->dev.count = (size_t)error_class; /* no bytes are counted */
    mpid_complete(&request->dev, error);
}

int request_raise(struct comm *comm, int error_class, const char *function,
                  const MPI_Status *status)
{
    switch (error_class) {
    case MPI_ERR_TRUNCATE:
        if (status == MPI_STATUS_IGNORE)
            break;
        return errh_comm(comm, error_class, function,
                         "the message from rank %d with tag %d is longer than the receive "
                         "buffer, of which all %lld bytes are filled",
                         status->MPI_SOURCE, status->MPI_TAG, (long long)status_bytes(status));
    case MPI_ERR_PROC_ABORTED:
        return errh_comm(comm, error_class, function,
                         "the other process has ended, or has called MPI_Finalize");
    case MPIX_ERR_PROC_FAILED_PENDING:
        return errh_comm(comm, error_class, function,
                         "a rank that could have sent has failed; the receive from any rank still "
                         "waits: MPIX_Comm_ack_failed says that this may be");
    case MPIX_ERR_REVOKED:
        return errh_comm(comm, error_class, function,
                         "a member has called MPIX_Comm_revoke: only MPIX_Comm_shrink, "
                         "MPIX_Comm_agree and local functions work");
    case MPI_ERR_NO_MEM: return errh_comm(comm, error_class, function, "out of memory");
    case MPI_ERR_RMA_RANGE:
        return errh_comm(comm, error_class, function,
                         "the operation named bytes that the target does not have in the window");
    default: break;
    }
    return errh_comm(comm, error_class, function,
                     error_class == MPI_ERR_TRUNCATE
                         ? "the message is longer than the receive buffer"
                         : "no channel leads to the other process");
}
