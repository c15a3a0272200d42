/* SPDX-License-Identifier: BSD-3-Clause */

/* Requests: made, awaited, taken down; see request.h. */
#include "mpi/request/request.h"

#include <stdlib.h>
#include <utlist.h>

#include "mpi/comm/comm.h"
#include "mpi/errh.h"
#include "mpi/request/buffer.h"
#include "mpi/request/grequest.h"
#include "mpi/request/part.h"
#include "mpi/request/status.h"
#include "mpi/type/type.h"
#include "os/lock.h"
#include "os/pool.h"

struct request request_done = {.object = {OBJECT_REQUEST, 1}, .kind = REQUEST_SEND};

struct request_store request_store;

/* What all persistent requests do. */
static struct {
    struct os_lock lock; /* guards the list */
    struct request_start *first;
} starts = {.lock = OS_LOCK_INIT};

void request_set_start(struct request *request, struct request_start *start)
{
    request->owned = request->start = start;
    start->request = request;
    os_lock(&starts.lock);
    DL_PREPEND(starts.first, start);
    os_unlock(&starts.lock);
}

static void unlist(struct request_start *start)
{
    os_lock(&starts.lock);
    DL_DELETE(starts.first, start);
    os_unlock(&starts.lock);
}

static struct mpid_idle_view view_of(const struct request_start *start)
{
    return (struct mpid_idle_view){
        .sends = !start->receive,
        .context = start->comm->context,
        .rank = start->peer == MPI_ANY_SOURCE ? -1 : start->peer,
        .tag = start->receive && start->tag == MPI_ANY_TAG ? -1 : start->tag,
    };
}

/* All that are not started, for whoever asks why the job hangs. One may just be starting. */
static void each_idle(bool (*take)(void *arg, const struct mpid_idle_view *view), void *arg)
{
    bool enough = false;
    os_lock(&starts.lock);
    for (struct request_start *s = starts.first; s && !enough; s = s->next) {
        struct mpid_idle_view view = view_of(s);
        enough = !s->request->inner && s->peer != MPI_PROC_NULL && take(arg, &view);
    }
    os_unlock(&starts.lock);
}

void request_init(void)
{
    request_store.lock = (struct os_lock)OS_LOCK_INIT;
    os_pool_init(&request_store.pool, sizeof(struct request) + mpid_request_tail(), 16);
    mpid_set_idle(each_idle);
}

void request_fini(void)
{
    os_pool_fini(&request_store.pool);
}

void request_release(struct request *request)
{
    if (request->kind == REQUEST_PERSISTENT)
        unlist(request->start);
    type_unref(request->type);
    if (request->kind == REQUEST_FLUSH)
        buffer_unref(request->buffer);
    else
        free(request->owned);
}

static struct request *of_dev(struct mpid_request *dev)
{
    return (struct request *)((char *)dev - offsetof(struct request, dev));
}

static void release(struct mpid_request *dev)
{
    request_free(of_dev(dev));
}

/* Release it, or have it released when its communication is over. */
static void let_go(struct request *request)
{
    if (request == &request_done)
        return;
    request->object.word = 0; /* its handles lead nowhere from here on */
    if (!mpid_when_done(&request->dev, release))
        request_free(request);
}

int request_abandon(struct request *request)
{
    struct request *inner = request->inner;
    switch (request->kind) {
    case REQUEST_GENERAL: return grequest_free(request);
    case REQUEST_PERSISTENT: /* its buffer is the user's: nothing of it must stay */
        request_free(request);
        return inner ? request_abandon(inner) : MPI_SUCCESS;
    case REQUEST_PART: part_free(request->part); request_free(request); return MPI_SUCCESS;
    case REQUEST_FLUSH:
    case REQUEST_NO_PROC: request_free(request); return MPI_SUCCESS;
    case REQUEST_PAIR:
        if (inner != &request_done) { /* it may still be read from */
            inner->owned = request->owned;
            request->owned = NULL;
        }
        let_go(inner);
        break;
    default: break;
    }
    let_go(request);
    return MPI_SUCCESS;
}

struct request *request_begin(enum request_kind kind, struct comm *comm)
{
    struct request *request = request_create(kind, comm);
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
    default: break;
    }
    mpid_complete(&request->dev, error);
}

/* ---- completion ---- */

/* Once its send has failed a pair does not wait for a message that may never come. */
static bool pair_is_complete(struct request *pair)
{
    bool sent = request_is_complete(pair->inner);
    if (!mpid_is_complete(&pair->dev) && sent && request_class(&pair->inner->dev))
        mpid_cancel(&pair->dev);
    return sent && mpid_is_complete(&pair->dev);
}

bool request_is_complete_slow(struct request *request)
{
    switch (request->kind) {
    case REQUEST_PERSISTENT: return !request->inner || request_is_complete(request->inner);
    case REQUEST_PAIR: return pair_is_complete(request);
    case REQUEST_PART: return part_is_complete(request->part);
    case REQUEST_FLUSH: return buffer_is_empty(request->buffer);
    case REQUEST_NO_PROC: return true;
    default: return mpid_is_complete(&request->dev);
    }
}

bool request_is_inactive(const struct request *request)
{
    if (request->kind == REQUEST_PART)
        return !part_is_active(request->part);
    return request->kind == REQUEST_PERSISTENT && !request->inner;
}

void request_tell(const struct request *request, struct mpid_tale *tale)
{
    switch (request->kind) {
    case REQUEST_PAIR: mpid_tell_request(tale, &request->dev); /* fall through */
    case REQUEST_PERSISTENT:
        if (request->inner)
            request_tell(request->inner, tale);
        break;
    case REQUEST_SEND:
    case REQUEST_RECV: mpid_tell_request(tale, &request->dev); break;
    case REQUEST_PART: part_tell(request->part, tale); break;
    case REQUEST_FLUSH: mpid_tell_sends(NULL, tale); break;
    case REQUEST_TASK: mpid_tell_own(tale, &request->dev); break;
    default: mpid_tell_own(tale, NULL);
    }
}

static void tell(void *request, struct mpid_tale *tale)
{
    request_tell(request, tale);
}

static bool is_complete(void *request)
{
    return request_is_complete(request);
}

void request_wait(struct request *request)
{
    if (request->kind <= REQUEST_RECV)
        mpid_wait(&request->dev);
    else
        mpid_wait_telling(is_complete, request, tell);
}

int request_class(const struct mpid_request *dev)
{
    switch (dev->error) {
    case MPID_OK: return MPI_SUCCESS;
    case MPID_TRUNCATED: return MPI_ERR_TRUNCATE;
    case MPID_LOST: return MPI_ERR_PROC_ABORTED;
    case MPID_NO_MEMORY: return MPI_ERR_NO_MEM;
    default: return MPI_ERR_OTHER;
    }
}

int request_outcome(const struct request *request, MPI_Status *status)
{
    const struct mpid_request *dev = &request->dev;
    int error;
    switch (request->kind) {
    case REQUEST_PERSISTENT:
        if (request->inner)
            return request_outcome(request->inner, status);
        status_set_empty(status);
        return MPI_SUCCESS;
    case REQUEST_GENERAL: return grequest_query(request, status);
    case REQUEST_PART: return part_outcome(request->part, status);
    case REQUEST_FLUSH: status_set_empty(status); return MPI_SUCCESS;
    case REQUEST_TASK: status_set_empty(status); return request_class(dev);
    case REQUEST_NO_PROC: status_set(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false); return 0;
    case REQUEST_SEND:
        if (status != MPI_STATUS_IGNORE) {
            status_set(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, dev->cancelled);
        }
        return request_class(dev);
    case REQUEST_PAIR: error = request_outcome(request->inner, MPI_STATUS_IGNORE); break;
    default: error = MPI_SUCCESS;
    }
    status_set(status, dev->place.env.rank, dev->place.env.tag, (int64_t)dev->count,
               dev->cancelled);
    return error ? error : request_class(dev);
}

int request_end(struct request *request, int outcome, MPI_Request *handle)
{
    switch (request->kind) {
    case REQUEST_PERSISTENT:
        if (request->inner)
            request_free(request->inner);
        request->inner = NULL;
        return outcome;
    case REQUEST_PART: part_stop(request->part); return outcome;
    case REQUEST_GENERAL: outcome = grequest_free(request); break;
    case REQUEST_PAIR: request_free(request->inner); request_free(request); break;
    default: request_free(request);
    }
    *handle = MPI_REQUEST_NULL;
    return outcome;
}

int request_finish(struct request *request, MPI_Status *status, MPI_Request *handle)
{
    return request_end(request, request_outcome(request, status), handle);
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
    case MPI_ERR_NO_MEM: return errh_comm(comm, error_class, function, "out of memory");
    default: break;
    }
    return errh_comm(comm, error_class, function,
                     error_class == MPI_ERR_TRUNCATE
                         ? "the message is longer than the receive buffer"
                         : "no channel leads to the other process");
}
