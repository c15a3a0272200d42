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

struct request *grequest_create(const struct grequest *what)
{
    struct grequest *own = malloc(sizeof(*own));
    struct request *request = own ? request_create(REQUEST_GENERAL, NULL) : NULL;
    if (!request) {
        free(own);
        return NULL;
    }
    *own = *what;
    request->owned = own;
    atomic_store_explicit(&request->dev.pending, ACTIVE, memory_order_relaxed);
    return request;
}

/* Nobody else knows of it any more. */
static int end(struct request *request)
{
    int rc = of(request)->free(of(request)->extra_state);
    request_free(request);
    return rc;
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

int grequest_query(const struct request *request, MPI_Status *status)
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

int grequest_cancel(struct request *request)
{
    return of(request)->cancel(of(request)->extra_state, mpid_is_complete(&request->dev));
}

int grequest_free(struct request *request)
{
    int32_t was = ACTIVE;
    if (atomic_compare_exchange_strong(&request->dev.pending, &was, FREED_EARLY))
        return MPI_SUCCESS;
    return end(request);
}
