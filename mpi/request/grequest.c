/* SPDX-License-Identifier: BSD-3-Clause */

/* Generalized requests; see grequest.h. */
#include "mpi/request/grequest.h"

#include <stdlib.h>

#include "include/mpid.h"
#include "mpi/request/request.h"
#include "mpi/request/status.h"

/* Values of pending. */
enum { COMPLETE = 0, ACTIVE = 1, FREED_EARLY = 2 };

static const struct grequest *of(const struct request *request)
{
    return request->owned;
}

/* Nobody else knows of it any more. */
static int end(struct request *request)
{
    int rc = of(request)->free(of(request)->extra_state);
    request_free(request);
    return rc;
}

/* Have the user fill in a status (MPI_STATUS_IGNORE: one that nobody sees), but for MPI_ERROR. */
static int query(const struct request *request, MPI_Status *status)
{
    MPI_Status own;
    if (status == MPI_STATUS_IGNORE)
        status = &own;
    int error = status == &own ? MPI_SUCCESS : status->MPI_ERROR;
    status_set_empty(status);
    int rc = of(request)->query(of(request)->extra_state, status);
    status->MPI_ERROR = error;
    return rc;
}

/* Free it, now or once it is complete. */
static int abandon(struct request *request)
{
    int32_t was = ACTIVE;
    if (atomic_compare_exchange_strong(&request->dev.pending, &was, FREED_EARLY))
        return MPI_SUCCESS;
    return end(request);
}

static int cancel(struct request *request)
{
    return of(request)->cancel(of(request)->extra_state, mpid_is_complete(&request->dev));
}

static int end_awaited(struct request *request, int outcome, MPI_Request *handle)
{
    int rc = abandon(request);
    *handle = MPI_REQUEST_NULL;
    return rc ? rc : outcome;
}

/* The program completes it. */
static void watch(const struct request *request, struct sleeper *sleeper)
{
    mpid_watch_request(sleeper, NULL);
}

static const struct request_ops ops = {
    .calls_user = true,
    .watch = watch,
    .tell = request_tell_nothing,
    .outcome = query,
    .end = end_awaited,
    .abandon = abandon,
    .cancel = cancel,
};

struct request *grequest_create(const struct grequest *what)
{
    struct grequest *own = malloc(sizeof(*own));
    struct request *request = own ? request_create(&ops, NULL) : NULL;
    if (!request) {
        free(own);
        return NULL;
    }
    *own = *what;
    request->owned = own;
    atomic_store_explicit(&request->dev.pending, ACTIVE, memory_order_relaxed);
    return request;
}

bool grequest_is(const struct request *request)
{
    return request->ops == &ops;
}

/* Once it is complete, another thread may free it at once. */
bool grequest_complete(struct request *request, int *rc)
{
    int32_t was = ACTIVE;
    *rc = MPI_SUCCESS;
    if (atomic_compare_exchange_strong(&request->dev.pending, &was, COMPLETE))
        mpid_wake();
    else if (was == FREED_EARLY)
        *rc = end(request);
    return was != COMPLETE;
}
