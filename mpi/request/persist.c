/* SPDX-License-Identifier: BSD-3-Clause */

/* Persistent requests; see persist.h. */
#include "mpi/request/persist.h"

#include <stdlib.h>
#include <utlist.h>

#include "include/mpid.h"
#include "mpi/comm/comm.h"
#include "mpi/request/request.h"
#include "mpi/request/status.h"
#include "mpi/type/type.h"
#include "os/lock.h"

/* The state of a request, and what it owns. */
struct persist {
    struct persist_what what;
    struct request *request;     /* whose it is */
    struct persist *next, *prev; /* in the list of all */
};

static struct {
    struct os_lock lock; /* guards the list */
    struct persist *first;
} all = {.lock = OS_LOCK_INIT};

static struct mpid_idle_view view_of(const struct persist_what *what)
{
    return (struct mpid_idle_view){
        .sends = !what->receive,
        .context = what->comm->context,
        .rank = what->peer == MPI_ANY_SOURCE ? -1 : what->peer,
        .tag = what->receive && what->tag == MPI_ANY_TAG ? -1 : what->tag,
    };
}

/* All that are not started, for whoever asks why the job hangs. One may just be starting. */
static void each_idle(bool (*take)(void *arg, const struct mpid_idle_view *view), void *arg)
{
    bool enough = false;
    os_lock(&all.lock);
    for (struct persist *p = all.first; p && !enough; p = p->next) {
        struct mpid_idle_view view = view_of(&p->what);
        enough = !p->request->inner && p->what.peer != MPI_PROC_NULL && take(arg, &view);
    }
    os_unlock(&all.lock);
}

void persist_init(void)
{
    mpid_set_idle(each_idle);
}

static bool is_complete(struct request *request)
{
    return !request->inner || request_is_complete(request->inner);
}

static bool is_inactive(const struct request *request)
{
    return !request->inner;
}

static void watch(const struct request *request, struct sleeper *sleeper)
{
    if (request->inner)
        request_watch(request->inner, sleeper);
}

static void tell(const struct request *request, struct mpid_wait_report *report)
{
    if (request->inner)
        request_tell(request->inner, report);
}

static int outcome(const struct request *request, MPI_Status *status)
{
    if (request->inner)
        return request_outcome(request->inner, status);
    status_set_empty(status);
    return MPI_SUCCESS;
}

static int end(struct request *request, int error, MPI_Request *handle)
{
    if (error == MPIX_ERR_PROC_FAILED_PENDING)
        return error;
    if (request->inner)
        request_free(request->inner);
    request->inner = NULL;
    return error;
}

/* The buffer is the user's: nothing of the request must stay. */
static int abandon(struct request *request)
{
    struct request *inner = request->inner;
    request_free(request);
    return inner ? request_abandon(inner) : MPI_SUCCESS;
}

static int cancel(struct request *request)
{
    return request->inner ? request_cancel(request->inner) : MPI_ERR_REQUEST;
}

static int start(struct request *request)
{
    const struct persist *p = request->state;
    int rc = p->what.start(&p->what, &request->inner);
    if (rc)
        request->inner = NULL;
    return rc;
}

static void release(struct request *request)
{
    struct persist *p = request->state;
    os_lock(&all.lock);
    DL_DELETE(all.first, p);
    os_unlock(&all.lock);
    free(p);
}

static const struct request_ops ops = {
    .is_complete = is_complete,
    .is_inactive = is_inactive,
    .watch = watch,
    .tell = tell,
    .outcome = outcome,
    .end = end,
    .abandon = abandon,
    .cancel = cancel,
    .start = start,
    .release = release,
};

struct request *persist_create(const struct persist_what *what)
{
    struct persist *p = malloc(sizeof(*p));
    struct request *request = p ? request_create(&ops, what->comm) : NULL;
    if (!request) {
        free(p);
        return NULL;
    }
    request->type = type_placed(what->type); /* each start asks it again, freed or not */
    type_ref(request->type);
    *p = (struct persist){.what = *what, .request = request};
    request->owned = request->state = p;
    os_lock(&all.lock);
    DL_PREPEND(all.first, p);
    os_unlock(&all.lock);
    return request;
}
