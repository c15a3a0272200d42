/* SPDX-License-Identifier: BSD-3-Clause */

/* Completion of requests (MPI-5.0 3.7 and 3.8.4): wait, test, status, free, cancel. */
#include <mpi.h>

#include "include/mpid.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/request/attach.h"
#include "mpi/request/request.h"
#include "mpi/request/status.h"

/* ---- one request ---- */

static __attribute__((cold, noinline)) int bad_request(const char *function)
{
    return errh_comm(NULL, MPI_ERR_REQUEST, function,
                     "request: not a request, or one that is complete and freed already");
}

static __attribute__((cold, noinline)) int no_pointer(const char *which, const char *function)
{
    return errh_comm(NULL, MPI_ERR_ARG, function, "%s is NULL", which);
}

/* Finish a complete request, and tell of its failure. */
static int finish(struct request *r, MPI_Request *handle, MPI_Status *status, const char *function)
{
    bool calls_user = r->ops->calls_user;
    if (r->ops->raises)
        return request_finish(r, status, handle);
    struct comm *comm = r->comm;
    MPI_Status own;
    bool ignored = status == MPI_STATUS_IGNORE;
    if (comm)
        object_ref(&comm->object);
    int rc = request_finish(r, ignored ? &own : status, handle);
    if (__builtin_expect(rc, 0))
        rc = calls_user ? errh_callback(rc, function)
                        : request_raise(comm, rc, function, ignored ? &own : status);
    if (comm)
        comm_unref(comm);
    return rc;
}

/* handle: that of no request */
static __attribute__((noinline)) int wait_for_nothing(MPI_Request handle, MPI_Status *status,
                                                      const char *function)
{
    if (handle != MPI_REQUEST_NULL)
        return bad_request(function);
    status_set_empty(status);
    return MPI_SUCCESS;
}

static __attribute__((noinline)) int wait_slow(MPI_Request *request, MPI_Status *status,
                                               const char *function)
{
    struct request *r = (struct request *)*request;
    if (!request_is_complete(r)) {
        request_await(r);
        request_wait(r);
    }
    return finish(r, request, status, function);
}

/*
 * Wait until a request is complete.
 *
 * Then the request is freed, or, if it is persistent, made inactive. For MPI_REQUEST_NULL and
 * inactive requests the call returns at once, with an empty status. Other requests go on
 * meanwhile.
 *
 * request (inout): the request; then MPI_REQUEST_NULL, unless it is persistent
 * status: describes the message received or, for sends, tells only of a cancellation; or
 *   MPI_STATUS_IGNORE
 *
 * MPI_ERR_ARG: a pointer is NULL.
 * MPI_ERR_REQUEST: not a request, or one that was freed.
 * MPI_ERR_TRUNCATE, MPI_ERR_PROC_ABORTED, MPI_ERR_OTHER, MPI_ERR_NO_MEM: what went wrong with
 *   it; see the call that started it.
 *
 * MPI-5.0 3.7.3
 */
int PMPI_Wait(MPI_Request *request, MPI_Status *status)
{
    if (__builtin_expect(!request, 0))
        return no_pointer("request", __func__);
    struct request *r = (struct request *)*request;
    if (r == &request_done) {
        *request = MPI_REQUEST_NULL;
        status_set_empty(status);
        return MPI_SUCCESS;
    }
    if (__builtin_expect(handle_is_constant(r) || !handle_leads_to(r, OBJECT_REQUEST), 0))
        return wait_for_nothing(*request, status, __func__);
    /* Sends and receives that are complete are finished here: nothing of them is special. */
    if (__builtin_expect(r->ops != &request_recv_ops || !mpid_is_complete(&r->dev) || r->dev.error, 0))
        return wait_slow(request, status, __func__);
    status_set(status, r->dev.place.env.rank, r->dev.place.env.tag, (int64_t)r->dev.count,
               r->dev.cancelled);
    *request = MPI_REQUEST_NULL;
    request_free(r);
    return MPI_SUCCESS;
}

/*
 * Look whether a request is complete.
 *
 * As MPI_Wait, but the call returns at once.
 *
 * request (inout): the request; where flag is 1, then MPI_REQUEST_NULL, unless it is persistent
 * flag: 1 if it is complete, 0 if not
 * status: set where flag is 1; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_ARG: a pointer is NULL.
 * MPI_ERR_REQUEST: not a request, or one that was freed.
 * MPI_ERR_TRUNCATE, MPI_ERR_PROC_ABORTED, MPI_ERR_OTHER, MPI_ERR_NO_MEM: what went wrong with
 *   it; see the call that started it.
 *
 * MPI-5.0 3.7.3
 */
int PMPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    if (__builtin_expect(!request || !flag, 0))
        return no_pointer(request ? "flag" : "request", __func__);
    *flag = 1;
    if (*request == MPI_REQUEST_NULL) {
        status_set_empty(status);
        return MPI_SUCCESS;
    }
    struct request *r = request_from(*request);
    if (__builtin_expect(!r, 0))
        return bad_request(__func__);
    if (!request_is_complete(r))
        (void)mpid_poll();
    bool complete = request_is_complete(r);
    *flag = complete && !request_is_doubted(r);
    return complete ? finish(r, request, status, __func__) : MPI_SUCCESS;
}

/* Fill in the status of a complete request, which stays. The call that completes it will tell
 * of a failure; the error of a user's callback is told here. */
static int look(const struct request *r, MPI_Status *status)
{
    int rc = request_outcome(r, status);
    return r->ops->calls_user ? rc : MPI_SUCCESS;
}

/*
 * Look whether a request is complete, and leave it.
 *
 * As MPI_Test, but the request is not freed; what went wrong with it is told by the call that
 * frees it.
 *
 * flag: 1 if it is complete, 0 if not
 * status: set where flag is 1; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_ARG: a pointer is NULL.
 * MPI_ERR_REQUEST: not a request, or one that was freed.
 *
 * MPI-5.0 3.7.6
 */
int PMPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    if (__builtin_expect(!flag, 0))
        return no_pointer("flag", __func__);
    *flag = 1;
    if (request == MPI_REQUEST_NULL) {
        status_set_empty(status);
        return MPI_SUCCESS;
    }
    struct request *r = request_from(request);
    if (!r)
        return bad_request(__func__);
    if (!request_is_complete(r))
        (void)mpid_poll();
    *flag = request_is_complete(r) && !request_is_doubted(r);
    int rc = *flag ? look(r, status) : MPI_SUCCESS;
    return rc ? errh_callback(rc, __func__) : MPI_SUCCESS;
}

/*
 * Give a request up.
 *
 * What it has started is completed all the same, but cannot be waited for; a buffer must be left
 * alone until it is known from something else that it was sent or filled. Returns at once.
 *
 * request (inout): the request; then MPI_REQUEST_NULL
 *
 * MPI_ERR_ARG: a pointer is NULL.
 * MPI_ERR_REQUEST: not a request, one that was freed, or that of an active collective.
 *
 * MPI-5.0 3.7.3
 */
int PMPI_Request_free(MPI_Request *request)
{
    if (__builtin_expect(!request, 0))
        return no_pointer("request", __func__);
    struct request *r = request_from(*request);
    if (!r)
        return bad_request(__func__);
    bool calls_user = r->ops->calls_user;
    int rc = request_abandon(r);
    if (rc && !calls_user)
        return errh_comm(r->comm, rc, __func__,
                         "the request is of a collective that is not complete; MPI_Wait or MPI_Test "
                         "completes it");
    *request = MPI_REQUEST_NULL;
    return rc ? errh_callback(rc, __func__) : MPI_SUCCESS;
}

/*
 * Ask that a send or receive be cancelled.
 *
 * Returns at once. The request must be completed by MPI_Wait or one of its kin, or freed;
 * MPI_Test_cancelled tells whether it was cancelled, or was too far and went on as usual. Of a
 * generalized request, its cancel_fn is called.
 *
 * request (in): an active send or receive, or a generalized request
 *
 * MPI_ERR_ARG: a pointer is NULL.
 * MPI_ERR_REQUEST: not a request, or neither of these.
 *
 * MPI-5.0 3.8.4
 */
int PMPI_Cancel(MPI_Request *request)
{
    if (__builtin_expect(!request, 0))
        return no_pointer("request", __func__);
    struct request *r = request_from(*request);
    if (!r)
        return bad_request(__func__);
    int rc = request_cancel(r);
    if (rc && r->ops->calls_user)
        return errh_callback(rc, __func__);
    return rc ? errh_comm(r->comm, rc, __func__,
                          "request: only active sends and receives can be cancelled")
              : MPI_SUCCESS;
}

/* ---- arrays of requests ---- */

/* An array, checked; what waiting for it needs. */
struct set {
    int count;
    MPI_Request *handles;
    int active; /* found by the last look: neither null nor inactive */
    int first;  /* found complete, or -1 */
};

static bool is_active(MPI_Request handle)
{
    return handle != MPI_REQUEST_NULL && !request_is_inactive((struct request *)handle);
}

static int check_set(int count, MPI_Request handles[], const char *function)
{
    if (count < 0)
        return errh_comm(NULL, MPI_ERR_COUNT, function, "count %d: must be 0 or more", count);
    if (count && !handles)
        return no_pointer("array_of_requests", function);
    for (int i = 0; i < count; i++)
        if (handles[i] != MPI_REQUEST_NULL && !request_from(handles[i]))
            return errh_comm(NULL, MPI_ERR_REQUEST, function,
                             "array_of_requests[%d]: not a request, or one that is freed", i);
    return MPI_SUCCESS;
}

static int check_some(int count, MPI_Request handles[], const int *outcount, const int *indices,
                      const char *function)
{
    if (!outcount || (count > 0 && !indices))
        return no_pointer(outcount ? "array_of_indices" : "outcount", function);
    return check_set(count, handles, function);
}

/* Look for the first complete request. */
static bool any_complete(void *arg)
{
    struct set *set = arg;
    set->active = 0;
    set->first = -1;
    for (int i = 0; i < set->count && set->first < 0; i++) {
        if (!is_active(set->handles[i]))
            continue;
        set->active++;
        if (request_is_complete((struct request *)set->handles[i]))
            set->first = i;
    }
    return set->first >= 0 || !set->active;
}

static bool all_complete(void *arg)
{
    struct set *set = arg;
    for (; set->first < set->count; set->first++)
        if (set->handles[set->first] != MPI_REQUEST_NULL &&
            !request_is_complete((struct request *)set->handles[set->first]))
            return false;
    return true;
}

static void await_all(const struct set *set)
{
    for (int i = set->first; i < set->count; i++)
        if (is_active(set->handles[i]) && !request_is_complete((struct request *)set->handles[i]))
            request_await((struct request *)set->handles[i]);
}

static void watch_all(void *arg, struct sleeper *sleeper)
{
    const struct set *set = arg;
    for (int i = 0; i < set->count; i++)
        if (is_active(set->handles[i]))
            request_watch((const struct request *)set->handles[i], sleeper);
}

static void watch_any(void *arg, struct sleeper *sleeper)
{
    mpid_watch_any(sleeper);
    watch_all(arg, sleeper);
}

static void tell_all(void *arg, struct mpid_wait_report *report)
{
    const struct set *set = arg;
    for (int i = 0; i < set->count; i++)
        if (is_active(set->handles[i]))
            request_tell((const struct request *)set->handles[i], report);
}

static void tell_any(void *arg, struct mpid_wait_report *report)
{
    mpid_tell_any(report);
    tell_all(arg, report);
}

static const struct mpid_condition all_of_set = {all_complete, watch_all, tell_all};
static const struct mpid_condition any_of_set = {any_complete, watch_any, tell_any};

/* Tell the error, or success, of one status. If none has failed nothing is told of any: so the
 * first error tells of those before it. */
static void tell_error(MPI_Status statuses[], int k, int rc, int result)
{
    for (int i = 0; i < k && !result; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
    statuses[k].MPI_ERROR = rc;
}

/* Failures among several requests. */
struct failed {
    struct comm *comm; /* of the first that has one, referenced; or NULL */
    bool untold;       /* no error handler has been told of one of them */
};

/* Finish each of count complete requests, whose statuses may be ignored. Returns MPI_SUCCESS or
 * MPI_ERR_IN_STATUS. */
static int finish_each(int count, MPI_Request handles[], MPI_Status statuses[], int picked[],
                       struct failed *failed)
{
    int result = MPI_SUCCESS;
    *failed = (struct failed){0};
    for (int k = 0; k < count; k++) {
        int i = picked ? picked[k] : k;
        MPI_Status own, *status = statuses == MPI_STATUSES_IGNORE ? &own : &statuses[k];
        struct request *r = (struct request *)handles[i];
        if (handles[i] == MPI_REQUEST_NULL) {
            status_set_empty(status);
            continue;
        }
        struct comm *comm = r->comm;
        bool raises = r->ops->raises;
        int rc = request_outcome(r, status);
        if (rc && comm && !failed->comm) {
            object_ref(&comm->object);
            failed->comm = comm;
        }
        rc = request_end(r, rc, &handles[i]);
        failed->untold |= rc && !raises;
        if ((rc || result) && statuses != MPI_STATUSES_IGNORE)
            tell_error(statuses, k, rc, result);
        if (rc)
            result = MPI_ERR_IN_STATUS;
    }
    return result;
}

/* With statuses ignored nobody could find the error in them: it is told in words. */
static int raise_in_status(const struct failed *failed, const char *function)
{
    int rc = MPI_ERR_IN_STATUS;
    if (failed->untold)
        rc = errh_comm(failed->comm, rc, function,
                       "at least one request failed: see MPI_ERROR in the statuses");
    if (failed->comm)
        comm_unref(failed->comm);
    return rc;
}

static int finish_all(int count, MPI_Request handles[], MPI_Status statuses[], const char *function)
{
    struct failed failed;
    int rc = finish_each(count, handles, statuses, NULL, &failed);
    return rc ? raise_in_status(&failed, function) : MPI_SUCCESS;
}

/*
 * Wait until all of several requests are complete.
 *
 * As MPI_Wait of each.
 *
 * count: number of requests, 0 or more
 * array_of_requests (inout): requests; any may be MPI_REQUEST_NULL; then
 *   MPI_REQUEST_NULL, unless they are persistent
 * array_of_statuses: a status for each; or MPI_STATUSES_IGNORE
 *
 * MPI_ERR_IN_STATUS: at least one has failed: MPI_ERROR of each status has its code, or
 *   MPI_SUCCESS.
 * MPI_ERR_REQUEST: one is not a request.
 * MPI_ERR_ARG: array_of_requests is NULL, and count is not 0.
 *
 * MPI-5.0 3.7.5
 */
int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[])
{
    int rc = check_set(count, array_of_requests, __func__);
    if (rc)
        return rc;
    struct set set = {.count = count, .handles = array_of_requests};
    if (!all_complete(&set)) {
        await_all(&set);
        mpid_wait_condition(&all_of_set, &set);
    }
    return finish_all(count, array_of_requests, array_of_statuses, __func__);
}

/*
 * Look whether all of several requests are complete.
 *
 * As MPI_Waitall, but the call returns at once. Unless all are complete, none is changed.
 *
 * count: number of requests, 0 or more
 * array_of_requests (inout): as of MPI_Waitall
 * flag: 1 if all are complete, 0 if not
 * array_of_statuses: a status for each, set where flag is 1; or MPI_STATUSES_IGNORE
 *
 * MPI_ERR_IN_STATUS: at least one has failed: MPI_ERROR of each status has its code, or
 *   MPI_SUCCESS.
 * MPI_ERR_REQUEST: one is not a request.
 * MPI_ERR_ARG: array_of_requests is NULL, and count is not 0; or another pointer is NULL.
 *
 * MPI-5.0 3.7.5
 */
int PMPI_Testall(int count, MPI_Request array_of_requests[], int *flag,
                 MPI_Status array_of_statuses[])
{
    if (__builtin_expect(!flag, 0))
        return no_pointer("flag", __func__);
    int rc = check_set(count, array_of_requests, __func__);
    if (rc)
        return rc;
    struct set set = {.count = count, .handles = array_of_requests};
    if (!all_complete(&set))
        (void)mpid_poll();
    *flag = all_complete(&set);
    return *flag ? finish_all(count, array_of_requests, array_of_statuses, __func__) : MPI_SUCCESS;
}

/* Finish the one that a look found, if any. */
static int finish_any(struct set *set, int *index, MPI_Status *status, const char *function)
{
    if (set->first < 0) {
        *index = MPI_UNDEFINED;
        status_set_empty(status);
        return MPI_SUCCESS;
    }
    *index = set->first;
    MPI_Request *handle = &set->handles[set->first];
    return finish((struct request *)*handle, handle, status, function);
}

/*
 * Wait until one of several requests is complete.
 *
 * As MPI_Wait of that one; of several, the first in the array is taken. If none is active,
 * the call returns at once.
 *
 * count: number of requests, 0 or more
 * array_of_requests (inout): requests; any may be MPI_REQUEST_NULL; the one that indx
 *   tells is then MPI_REQUEST_NULL, unless it is persistent
 * indx: which one, from 0 on; MPI_UNDEFINED if none is active
 * status: of that one; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_REQUEST: one is not a request.
 * MPI_ERR_ARG: array_of_requests is NULL, and count is not 0; or another pointer is NULL.
 * MPI_ERR_TRUNCATE, MPI_ERR_PROC_ABORTED, MPI_ERR_OTHER, MPI_ERR_NO_MEM: what went wrong with
 *   it; see the call that started it.
 *
 * MPI-5.0 3.7.5
 */
int PMPI_Waitany(int count, MPI_Request array_of_requests[], int *index, MPI_Status *status)
{
    if (__builtin_expect(!index, 0))
        return no_pointer("indx", __func__);
    int rc = check_set(count, array_of_requests, __func__);
    if (rc)
        return rc;
    struct set set = {.count = count, .handles = array_of_requests};
    if (!any_complete(&set))
        mpid_wait_condition(&any_of_set, &set);
    return finish_any(&set, index, status, __func__);
}

/*
 * Look whether one of several requests is complete.
 *
 * As MPI_Waitany, but the call returns at once.
 *
 * count: number of requests, 0 or more
 * array_of_requests (inout): as of MPI_Waitany
 * indx: which one is complete, from 0 on; MPI_UNDEFINED if none is
 * flag: 1 if one is complete, or none is active; 0 if not
 * status: of that one, set where flag is 1; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_REQUEST: one is not a request.
 * MPI_ERR_ARG: array_of_requests is NULL, and count is not 0; or another pointer is NULL.
 * MPI_ERR_TRUNCATE, MPI_ERR_PROC_ABORTED, MPI_ERR_OTHER, MPI_ERR_NO_MEM: what went wrong with
 *   it; see the call that started it.
 *
 * MPI-5.0 3.7.5
 */
int PMPI_Testany(int count, MPI_Request array_of_requests[], int *index, int *flag,
                 MPI_Status *status)
{
    if (__builtin_expect(!index || !flag, 0))
        return no_pointer(index ? "flag" : "indx", __func__);
    int rc = check_set(count, array_of_requests, __func__);
    if (rc)
        return rc;
    struct set set = {.count = count, .handles = array_of_requests};
    *flag = any_complete(&set);
    if (!*flag) {
        (void)mpid_poll();
        *flag = any_complete(&set);
    }
    if (!*flag) {
        *index = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    return finish_any(&set, index, status, __func__);
}

/* Finish all that are complete now. */
static int finish_some(struct set *set, int *outcount, int indices[], MPI_Status statuses[],
                       const char *function)
{
    int n = 0;
    struct failed failed;
    if (!set->active) {
        *outcount = MPI_UNDEFINED;
        return MPI_SUCCESS;
    }
    for (int i = 0; i < set->count; i++)
        if (is_active(set->handles[i]) && request_is_complete((struct request *)set->handles[i]))
            indices[n++] = i;
    *outcount = n;
    int rc = finish_each(n, set->handles, statuses, indices, &failed);
    return rc ? raise_in_status(&failed, function) : MPI_SUCCESS;
}

/*
 * Wait until at least one of several requests is complete, and complete all that are.
 *
 * As MPI_Wait of each that is complete by then. If none is active, the call returns at once.
 *
 * incount: number of requests, 0 or more
 * array_of_requests (inout): requests; any may be MPI_REQUEST_NULL; those that were
 *   completed are then MPI_REQUEST_NULL, unless they are persistent
 * outcount: how many were completed; MPI_UNDEFINED if none is active
 * array_of_indices: which ones, from 0 on, outcount of them; room for incount
 * array_of_statuses: their statuses, in the order of array_of_indices; or MPI_STATUSES_IGNORE
 *
 * MPI_ERR_IN_STATUS: at least one has failed: MPI_ERROR of each status has its code, or
 *   MPI_SUCCESS.
 * MPI_ERR_REQUEST: one is not a request.
 * MPI_ERR_ARG: array_of_requests is NULL, and incount is not 0; or another pointer is NULL.
 *
 * MPI-5.0 3.7.5
 */
int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int *outcount,
                  int array_of_indices[], MPI_Status array_of_statuses[])
{
    int rc = check_some(incount, array_of_requests, outcount, array_of_indices, __func__);
    if (rc)
        return rc;
    struct set set = {.count = incount, .handles = array_of_requests};
    if (!any_complete(&set))
        mpid_wait_condition(&any_of_set, &set);
    return finish_some(&set, outcount, array_of_indices, array_of_statuses, __func__);
}

/*
 * Complete all of several requests that can be completed now.
 *
 * As MPI_Waitsome, but the call returns at once.
 *
 * incount: number of requests, 0 or more
 * array_of_requests (inout): as of MPI_Waitsome
 * outcount: how many were completed, maybe 0; MPI_UNDEFINED if none is active
 * array_of_indices: which ones, from 0 on, outcount of them; room for incount
 * array_of_statuses: their statuses, in the order of array_of_indices; or MPI_STATUSES_IGNORE
 *
 * MPI_ERR_IN_STATUS: at least one has failed: MPI_ERROR of each status has its code, or
 *   MPI_SUCCESS.
 * MPI_ERR_REQUEST: one is not a request.
 * MPI_ERR_ARG: array_of_requests is NULL, and incount is not 0; or another pointer is NULL.
 *
 * MPI-5.0 3.7.5
 */
int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int *outcount,
                  int array_of_indices[], MPI_Status array_of_statuses[])
{
    int rc = check_some(incount, array_of_requests, outcount, array_of_indices, __func__);
    if (rc)
        return rc;
    struct set set = {.count = incount, .handles = array_of_requests};
    if (!any_complete(&set)) {
        (void)mpid_poll();
        (void)any_complete(&set);
    }
    return finish_some(&set, outcount, array_of_indices, array_of_statuses, __func__);
}

/* ---- statuses of arrays, without finishing ---- */

/* One of them; *failed is the error of the last callback that failed. */
static void look_at(MPI_Request handle, MPI_Status *status, int *failed)
{
    int rc = MPI_SUCCESS;
    if (handle == MPI_REQUEST_NULL)
        status_set_empty(status);
    else
        rc = look((struct request *)handle, status);
    if (rc)
        *failed = rc;
}

/*
 * Look whether all of several requests are complete, and leave them.
 *
 * As MPI_Request_get_status of each.
 *
 * count: number of requests, 0 or more
 * array_of_requests: requests; any may be MPI_REQUEST_NULL
 * flag: 1 if all are complete, 0 if not
 * array_of_statuses: a status for each, set where flag is 1; or MPI_STATUSES_IGNORE
 *
 * MPI_ERR_REQUEST: one is not a request.
 * MPI_ERR_ARG: array_of_requests is NULL, and count is not 0; or another pointer is NULL.
 *
 * MPI-5.0 3.7.6
 */
int PMPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag,
                                MPI_Status array_of_statuses[])
{
    if (__builtin_expect(!flag, 0))
        return no_pointer("flag", __func__);
    MPI_Request *handles = (MPI_Request *)(uintptr_t)array_of_requests;
    int rc = check_set(count, handles, __func__);
    if (rc)
        return rc;
    struct set set = {.count = count, .handles = handles};
    if (!all_complete(&set))
        (void)mpid_poll();
    *flag = all_complete(&set);
    if (*flag && array_of_statuses != MPI_STATUSES_IGNORE)
        for (int i = 0; i < count; i++)
            look_at(handles[i], &array_of_statuses[i], &rc);
    return rc ? errh_callback(rc, __func__) : MPI_SUCCESS;
}

/*
 * Look whether one of several requests is complete, and leave it.
 *
 * As MPI_Request_get_status of the first that is complete.
 *
 * count: number of requests, 0 or more
 * array_of_requests: requests; any may be MPI_REQUEST_NULL
 * indx: which one is complete, from 0 on; MPI_UNDEFINED if none is
 * flag: 1 if one is complete, or none is active; 0 if not
 * status: of that one, set where flag is 1; or MPI_STATUS_IGNORE
 *
 * MPI_ERR_REQUEST: one is not a request.
 * MPI_ERR_ARG: array_of_requests is NULL, and count is not 0; or another pointer is NULL.
 *
 * MPI-5.0 3.7.6
 */
int PMPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int *index,
                                int *flag, MPI_Status *status)
{
    if (__builtin_expect(!index || !flag, 0))
        return no_pointer(index ? "flag" : "indx", __func__);
    MPI_Request *handles = (MPI_Request *)(uintptr_t)array_of_requests;
    int rc = check_set(count, handles, __func__);
    if (rc)
        return rc;
    struct set set = {.count = count, .handles = handles};
    if (!any_complete(&set)) {
        (void)mpid_poll();
        (void)any_complete(&set);
    }
    *flag = set.first >= 0 || !set.active;
    *index = set.first >= 0 ? set.first : MPI_UNDEFINED;
    if (*flag)
        look_at(set.first >= 0 ? handles[set.first] : MPI_REQUEST_NULL, status, &rc);
    return rc ? errh_callback(rc, __func__) : MPI_SUCCESS;
}

/*
 * Tell which of several requests are complete, and leave them.
 *
 * As MPI_Request_get_status of each that is complete.
 *
 * incount: number of requests, 0 or more
 * array_of_requests: requests; any may be MPI_REQUEST_NULL
 * outcount: how many are complete, maybe 0; MPI_UNDEFINED if none is active
 * array_of_indices: which ones, from 0 on, outcount of them; room for incount
 * array_of_statuses: their statuses, in the order of array_of_indices; or MPI_STATUSES_IGNORE
 *
 * MPI_ERR_REQUEST: one is not a request.
 * MPI_ERR_ARG: array_of_requests is NULL, and incount is not 0; or another pointer is NULL.
 *
 * MPI-5.0 3.7.6
 */
int PMPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int *outcount,
                                 int array_of_indices[], MPI_Status array_of_statuses[])
{
    MPI_Request *handles = (MPI_Request *)(uintptr_t)array_of_requests;
    int rc = check_some(incount, handles, outcount, array_of_indices, __func__), n = 0;
    if (rc)
        return rc;
    struct set set = {.count = incount, .handles = handles};
    if (!any_complete(&set)) {
        (void)mpid_poll();
        (void)any_complete(&set);
    }
    for (int i = 0; i < incount; i++) {
        if (!is_active(handles[i]) || !request_is_complete((struct request *)handles[i]))
            continue;
        if (array_of_statuses != MPI_STATUSES_IGNORE)
            look_at(handles[i], &array_of_statuses[n], &rc);
        array_of_indices[n++] = i;
    }
    *outcount = set.active ? n : MPI_UNDEFINED;
    return rc ? errh_callback(rc, __func__) : MPI_SUCCESS;
}

/*
 * Have a function called when a request ends.
 *
 * Beyond the standard, for bindings of other languages: one that has given a call a copy of a
 * buffer copies it back when the request is complete. The function is called in the thread whose
 * call brings the event about, and must not call MPI. A request has one such function at most. That
 * of a persistent request which is freed while it is active is told nothing more.
 *
 * request (in): what a call that began something has just given
 * function: void fn(int event, void *extra_state); event is MPIX_REQUEST_STARTS before a
 *   persistent request starts, MPIX_REQUEST_COMPLETE once it is complete and before the program
 *   sees that, MPIX_REQUEST_FREED last
 * extra_state: what function gets
 *
 * MPI_ERR_REQUEST: not a request.
 * MPI_ERR_ARG: function is NULL.
 *
 * MPI-5.0 3.7
 */
int PMPIX_Request_attach(MPI_Request *request, MPIX_Request_function *function, void *extra_state)
{
    struct request *found = request ? request_from(*request) : NULL;
    if (!found)
        return errh_comm(NULL, MPI_ERR_REQUEST, __func__, "request is none, or was freed");
    if (!function)
        return errh_comm(found->comm, MPI_ERR_ARG, __func__, "function is NULL");
    int rc = attach_to(found, function, extra_state);
    return rc ? errh_comm(found->comm, rc, __func__, "out of memory") : MPI_SUCCESS;
}

#include "request.gen.h"
