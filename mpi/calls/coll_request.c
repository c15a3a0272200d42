/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Requests of collectives; see coll_request.h. The request owns all; the schedule's end completes
 * it, and touches nothing after that, for then the request may be freed.
 */
#include "mpi/calls/coll_request.h"

#include <stdlib.h>
#include <string.h>

#include "include/mpid.h"
#include "mpi/calls/call.h"
#include "mpi/coll/choose.h"
#include "mpi/coll/sched.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"
#include "mpi/comm/errh.h"
#include "mpi/info.h"
#include "mpi/region/region_task.h"
#include "mpi/request/request.h"
#include "mpi/request/status.h"

struct coll_request {
    struct sched sched;
    struct request *request;
    const char *function; /* that has made it */
    bool persistent, active;
    int number; /* of its messages' tags */
    int error; /* error class of the last run */
    bool in_region;             /* the schedule is one task */
    struct region_task task;
    struct region *region;      /* that the request has for itself; or NULL */
};

static void finish(struct sched *s)
{
    struct coll_request *r = (struct coll_request *)s;
    r->error = sched_again(s);
    request_complete(r->request, r->error);
}

static void start(struct coll_request *r)
{
    r->active = true;
    if (r->in_region && !r->sched.broken) { /* else it has no copy of its arrays, and ends without memory */
        r->error = region_task_try(&r->task, &r->sched.misfit);
        if (r->error != SCHED_WAITS && r->task.root_bytes < 0)
            return; /* it is over, and the device's part of the request was not begun */
    }
    mpid_begin(&r->request->dev);
    sched_start(&r->sched, finish);
}

static void release(struct request *request)
{
    struct coll_request *r = request->state;
    sched_fini(&r->sched);
    if (r->in_region)
        region_task_fini(&r->task);
    region_destroy(r->region);
    free(r);
}

/* ---- the request ---- */

static bool is_complete(struct request *request)
{
    const struct coll_request *r = request->state;
    return !r->active || mpid_is_complete(&request->dev);
}

static bool is_inactive(const struct request *request)
{
    const struct coll_request *r = request->state;
    return !r->active;
}

void coll_request_tell(const struct sched *s, int number, struct mpid_wait_report *report)
{
    uint64_t awaited = atomic_load_explicit(&s->awaits, memory_order_relaxed);
    mpid_tell_receive(report, &(struct mpid_envelope){(uint32_t)(awaited >> 32), (int32_t)awaited, number});
}

static void tell(const struct request *request, struct mpid_wait_report *report)
{
    const struct coll_request *r = request->state;
    if (!mpid_is_complete(&request->dev))
        coll_request_tell(&r->sched, r->number, report);
}

static int outcome(const struct request *request, MPI_Status *status)
{
    const struct coll_request *r = request->state;
    status_set_empty(status);
    return r->active ? r->error : MPI_SUCCESS;
}

/* Only the function that has made the request knows the possible errors. */
static int end(struct request *request, int error, MPI_Request *handle)
{
    struct coll_request *r = request->state;
    int rc = error ? coll_call_raise(request->comm, error, r->function, &r->sched.misfit)
                   : MPI_SUCCESS;
    r->active = false;
    if (r->persistent)
        return rc;
    request_free(request);
    *handle = MPI_REQUEST_NULL;
    return rc;
}

/* MPI-5.0 6.12: one that is not complete may not be freed. */
static int abandon(struct request *request)
{
    const struct coll_request *r = request->state;
    if (r->active && !mpid_is_complete(&request->dev))
        return MPI_ERR_REQUEST;
    request_free(request);
    return MPI_SUCCESS;
}

static int start_again(struct request *request)
{
    start(request->state);
    return MPI_SUCCESS;
}

static const struct request_ops once = {
    .raises = true,
    .tell = tell,
    .outcome = outcome,
    .end = end,
    .abandon = abandon,
    .release = release,
};

static const struct request_ops again = {
    .raises = true,
    .is_complete = is_complete,
    .is_inactive = is_inactive,
    .tell = tell,
    .outcome = outcome,
    .end = end,
    .abandon = abandon,
    .start = start_again,
    .release = release,
};

/* ---- through memory that is shared ---- */

/* That of the communicator; NULL: the call goes by messages. All members find alike. */
static struct region *usual_region(const struct coll *c)
{
    return region_may_run(c) && !choose_is_forced(c) ? region_of_nonblocking(c->comm) : NULL;
}

/* A copy of size words, which lives as long as the schedule; NULL of NULL. */
static void *keep(struct sched *s, const void *words, int size)
{
    size_t len = (size_t)size * sizeof(MPI_Count);
    void *kept = words ? sched_temp(s, (MPI_Count)len) : NULL;
    if (kept && !s->broken)
        memcpy(kept, words, len);
    return kept;
}

static void keep_arrays(struct sched *s, struct coll_data *data, int size)
{
    if (data->buf == MPI_IN_PLACE)
        return;
    data->counts = keep(s, data->counts, size);
    data->displs = keep(s, data->displs, size);
    data->types = keep(s, data->types, size);
}

/* Arrays are the caller's only while the call is made, and may be NULL if they do not matter. */
static bool keep_call(struct sched *s, struct coll *c)
{
    bool is_root = c->rank == c->root;
    if (c->kind == COLL_ALLTOALL || (c->kind == COLL_SCATTER && is_root))
        keep_arrays(s, &c->send, c->size);
    if (c->kind == COLL_ALLTOALL || c->kind == COLL_ALLGATHER || (c->kind == COLL_GATHER && is_root))
        keep_arrays(s, &c->recv, c->size);
    return !s->broken;
}
_Static_assert(sizeof(MPI_Count) == sizeof(MPI_Aint) && sizeof(MPI_Count) == sizeof(MPI_Datatype),
               "all arrays have the same length");

/* The root has said that its call does so. */
static int go_by_messages(struct sched *s, void *arg)
{
    const struct region_task *task = arg;
    if (task->root_bytes >= 0)
        choose_begin_as(s, &task->c, task->root_bytes);
    return MPI_SUCCESS;
}

static void append_task(struct coll_request *r)
{
    sched_task(&r->sched, &r->task.task);
    if (!r->task.alone && (r->task.c.kind == COLL_BCAST || r->task.c.kind == COLL_SCATTER))
        sched_call(&r->sched, go_by_messages, &r->task);
}

/* A schedule of one task, or, without a region, of messages. */
static void append(struct coll_request *r, const struct coll *c, struct region *region)
{
    r->in_region = region && region_task_init(&r->task, c, region, region == r->region);
    if (r->in_region) { /* which start() may leave as it is */
        mpid_begin(&r->request->dev);
        mpid_complete(&r->request->dev, MPID_OK);
    }
    if (!r->in_region)
        (c->unlike ? choose_begin_unlike : choose_begin)(&r->sched, c);
    else if (keep_call(&r->sched, &r->task.c))
        append_task(r);
}

static struct coll_request *create(const struct coll_call *call, bool persistent,
                                   struct region *region)
{
    const struct coll *c = &call->c;
    struct coll_request *r = malloc(sizeof(*r));
    struct request *request = r ? request_create(persistent ? &again : &once, c->comm) : NULL;
    if (!request) {
        free(r);
        return NULL;
    }
    r->request = request;
    r->function = call->function;
    r->persistent = persistent;
    r->active = false;
    r->error = MPI_SUCCESS;
    request->owned = request->state = r;
    r->region = region;
    (persistent ? sched_init_kept : sched_init)(&r->sched, c->comm, c->op);
    r->number = r->sched.place.tag;
    atomic_init(&r->sched.awaits, sched_awaits(c->comm->context + CONTEXT_COLL, -1));
    append(r, c, persistent ? region : usual_region(c));
    sched_hold(&r->sched);
    return r;
}

static int check(struct coll_call *call, const MPI_Request *request)
{
    int rc = coll_call_check(call);
    if (!rc && !request)
        rc = errh_comm(call->c.comm, MPI_ERR_ARG, call->function, "request is NULL");
    return rc;
}

int coll_request_start(struct coll_call *call, MPI_Request *request)
{
    int rc = check(call, request);
    if (rc)
        return rc;
    coll_note(&call->c);
    struct coll_request *r = create(call, false, NULL);
    if (!r)
        return coll_call_raise(call->c.comm, MPI_ERR_NO_MEM, call->function, NULL);
    *request = request_handle(r->request);
    start(r);
    return MPI_SUCCESS;
}

int coll_request_create(struct coll_call *call, MPI_Info info, MPI_Request *request)
{
    int rc = check(call, request);
    if (rc)
        return rc;
    coll_forget(&call->c);
    if (!info_from(info) && info != MPI_INFO_NULL)
        return errh_comm(call->c.comm, MPI_ERR_INFO, call->function,
                         "info %s is no info object, or was freed", errh_name(info).text);
    struct region *region = NULL;
    rc = choose_is_forced(&call->c) ? MPI_SUCCESS : region_create(&call->c, &region);
    if (rc)
        return coll_call_raise(call->c.comm, rc, call->function, NULL);
    struct coll_request *r = create(call, true, region);
    if (!r)
        return coll_call_raise(call->c.comm, MPI_ERR_NO_MEM, call->function, NULL);
    *request = request_handle(r->request);
    return MPI_SUCCESS;
}
