/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Functions attached to requests; see attach.h. The request gets a table of operations of its own: a
 * copy of its kind's, with those replaced at which the function is called.
 */
#include "mpi/request/attach.h"

#include <stdlib.h>

#include "mpi/request/request.h"

struct attached {
    struct request_ops ops;            /* first: the request's ops lead here */
    const struct request_ops *kind;    /* as they were */
    void *owned;                       /* likewise */
    MPIX_Request_function *function;
    void *extra_state;
    bool told; /* that it is complete, since it was started */
};

static struct attached *attached_of(const struct request *request)
{
    return (struct attached *)(uintptr_t)request->ops;
}

static void tell_complete(struct attached *a)
{
    if (!a->told)
        a->function(MPIX_REQUEST_COMPLETE, a->extra_state);
    a->told = true;
}

static int outcome(const struct request *request, MPI_Status *status)
{
    struct attached *a = attached_of(request);
    int rc = a->kind->outcome(request, status);
    if (!request_is_inactive(request))
        tell_complete(a);
    return rc;
}

static int start(struct request *request)
{
    struct attached *a = attached_of(request);
    a->function(MPIX_REQUEST_STARTS, a->extra_state);
    a->told = false;
    return a->kind->start(request);
}

static void give_back(struct request *request, struct attached *a)
{
    request->ops = a->kind;
    request->owned = a->owned;
}

static void release(struct request *request)
{
    struct attached *a = attached_of(request);
    give_back(request, a);
    if (request->ops->release)
        request->ops->release(request);
    else
        free(request->owned);
    tell_complete(a);
    a->function(MPIX_REQUEST_FREED, a->extra_state);
    free(a);
}

/* What is freed before it is complete, and whose kind does that by itself, is not followed further:
 * the function's state stays, since the communication may still use it. */
static int abandon(struct request *request)
{
    struct attached *a = attached_of(request);
    const struct request_ops *kind = a->kind;
    if (!request_is_inactive(request) && !request_is_complete(request)) {
        give_back(request, a);
        free(a);
    }
    return kind->abandon(request);
}

int attach_to(struct request *request, MPIX_Request_function *function, void *extra_state)
{
    if (request == &request_done) {
        function(MPIX_REQUEST_COMPLETE, extra_state);
        function(MPIX_REQUEST_FREED, extra_state);
        return MPI_SUCCESS;
    }
    struct attached *a = malloc(sizeof(*a));
    if (!a)
        return MPI_ERR_NO_MEM;
    *a = (struct attached){.ops = *request->ops,
                           .kind = request->ops,
                           .owned = request->owned,
                           .function = function,
                           .extra_state = extra_state,
                           .told = request_is_inactive(request)};
    a->ops.outcome = outcome;
    a->ops.release = release;
    if (a->ops.start)
        a->ops.start = start;
    if (a->ops.abandon)
        a->ops.abandon = abandon;
    if (!request->owned)
        request->owned = a; /* so that release is called */
    request->ops = &a->ops;
    return MPI_SUCCESS;
}
