/* SPDX-License-Identifier: BSD-3-Clause */

/* Generalized requests: every call that completes, looks at, cancels or frees one; what the
 * callbacks are told, how often they are called, and where their errors come out. */
#include <string.h>

#include "check.h"

struct work {
    int queries, frees, cancels, complete; /* calls; what cancel was told last */
    int count, cancelled;                  /* for the status */
    int query_rc, free_rc, cancel_rc;
};

static int query(void *state, MPI_Status *status)
{
    struct work *work = state;
    work->queries++;
    CHECK(status != MPI_STATUS_IGNORE);
    OK(MPI_Status_set_elements(status, MPI_INT, work->count));
    OK(MPI_Status_set_cancelled(status, work->cancelled));
    status->MPI_SOURCE = 100 + work->count;
    status->MPI_TAG = 200 + work->count;
    return work->query_rc;
}

static int end(void *state)
{
    struct work *work = state;
    work->frees++;
    return work->free_rc;
}

static int cancel(void *state, int complete)
{
    struct work *work = state;
    work->cancels++;
    work->complete = complete;
    return work->cancel_rc;
}

static MPI_Request start(struct work *work, int count)
{
    MPI_Request request = MPI_REQUEST_NULL;
    *work = (struct work){.count = count};
    OK(MPI_Grequest_start(query, end, cancel, work, &request));
    CHECK(request != MPI_REQUEST_NULL);
    return request;
}

static int is_of(const MPI_Status *status, const struct work *work)
{
    int count = -1, cancelled = -1;
    OK(MPI_Get_count(status, MPI_INT, &count));
    OK(MPI_Test_cancelled(status, &cancelled));
    return count == work->count && cancelled == work->cancelled &&
           status->MPI_SOURCE == 100 + count && status->MPI_TAG == 200 + count;
}

static void one(void)
{
    struct work work;
    MPI_Status status;
    int flag = -1;
    MPI_Request request = start(&work, 3);
    OK(MPI_Test(&request, &flag, &status));
    CHECK(!flag);
    OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(!flag && !work.queries && !work.frees);
    OK(MPI_Grequest_complete(request));
    FAILS(MPI_ERR_REQUEST, MPI_Grequest_complete(request));
    status.MPI_ERROR = 12345;
    for (int i = 1; i <= 2; i++) {
        OK(MPI_Request_get_status(request, &flag, &status));
        CHECK(flag && is_of(&status, &work) && work.queries == i && !work.frees);
    }
    OK(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL && is_of(&status, &work) && status.MPI_ERROR == 12345);
    CHECK(work.queries == 3 && work.frees == 1 && work.cancels == 0);

    request = start(&work, 4);
    OK(MPI_Grequest_complete(request));
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE)); /* the callbacks are called all the same */
    CHECK(flag && request == MPI_REQUEST_NULL && work.queries == 1 && work.frees == 1);
}

/* Among messages, null requests and others of its kind, in every call that takes several. */
static void several(void)
{
    enum {
        N = 4
    };
    struct work work[2];
    MPI_Request requests[N];
    MPI_Status statuses[N];
    int flag = -1, index = -1, count = -1, indices[N], got, me = check_rank(MPI_COMM_WORLD);
    for (int how = 0; how < 6; how++) {
        requests[0] = MPI_REQUEST_NULL;
        requests[1] = start(&work[0], 7);
        requests[2] = start(&work[1], 9);
        OK(MPI_Irecv(&got, 1, MPI_INT, me, 0, MPI_COMM_WORLD, &requests[3]));
        OK(MPI_Testany(N, requests, &index, &flag, statuses));
        CHECK(!flag);
        OK(MPI_Grequest_complete(requests[2]));
        OK(MPI_Request_get_status_any(N, requests, &index, &flag, statuses));
        CHECK(flag && index == 2 && is_of(statuses, &work[1]));
        OK(MPI_Request_get_status_some(N, requests, &count, indices, statuses));
        CHECK(count == 1 && indices[0] == 2 && is_of(statuses, &work[1]));
        OK(MPI_Request_get_status_all(N, requests, &flag, statuses));
        CHECK(!flag);
        if (how == 0)
            OK(MPI_Waitany(N, requests, &index, statuses));
        else if (how == 1)
            OK(MPI_Testany(N, requests, &index, &flag, statuses));
        else if (how == 2)
            OK(MPI_Waitsome(N, requests, &count, indices, statuses));
        else if (how == 3)
            OK(MPI_Testsome(N, requests, &count, indices, statuses));
        if (how == 0 || how == 1)
            CHECK(index == 2);
        if (how == 2 || how == 3)
            CHECK(count == 1 && indices[0] == 2);
        if (how < 4) {
            CHECK(requests[2] == MPI_REQUEST_NULL && is_of(statuses, &work[1]));
            CHECK(work[1].queries == 3 && work[1].frees == 1);
        }
        OK(MPI_Grequest_complete(requests[1]));
        OK(MPI_Send(&me, 1, MPI_INT, me, 0, MPI_COMM_WORLD));
        if (how % 2) {
            flag = 0;
            while (!flag)
                OK(MPI_Testall(N, requests, &flag, statuses));
        } else {
            OK(MPI_Waitall(N, requests, statuses));
        }
        CHECK(is_of(&statuses[1], &work[0]) && work[0].frees == 1 && got == me);
        CHECK(work[1].frees == 1 && (how < 4 || is_of(&statuses[2], &work[1])));
        for (int i = 0; i < N; i++)
            CHECK(requests[i] == MPI_REQUEST_NULL);
    }
}

static void cancelled(void)
{
    struct work work;
    MPI_Status status;
    MPI_Request request = start(&work, 1);
    OK(MPI_Cancel(&request));
    CHECK(work.cancels == 1 && !work.complete);
    work.cancelled = 1;
    OK(MPI_Grequest_complete(request));
    work.cancel_rc = MPI_ERR_OTHER;
    CHECK(MPI_Cancel(&request) == MPI_ERR_OTHER);
    CHECK(work.cancels == 2 && work.complete);
    OK(MPI_Wait(&request, &status));
    CHECK(is_of(&status, &work) && work.cancels == 2);
}

static void freed(void)
{
    struct work work;
    MPI_Request request = start(&work, 1), copy = request;
    OK(MPI_Request_free(&request)); /* before it is complete: it ends then */
    CHECK(request == MPI_REQUEST_NULL && !work.frees);
    work.free_rc = MPI_ERR_IO;
    CHECK(MPI_Grequest_complete(copy) == MPI_ERR_IO);
    CHECK(work.frees == 1 && !work.queries);

    request = start(&work, 1);
    OK(MPI_Grequest_complete(request));
    CHECK(!work.frees);
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL && work.frees == 1 && !work.queries);
}

/* Codes of the callbacks, the program's own among them, come out as they are. */
static void failing(void)
{
    struct work work, other;
    MPI_Status statuses[2];
    MPI_Request request, requests[2];
    int own, code, flag;
    OK(MPI_Add_error_class(&own));
    OK(MPI_Add_error_code(own, &code));
    request = start(&work, 1);
    OK(MPI_Grequest_complete(request));
    work.query_rc = code;
    CHECK(MPI_Request_get_status(request, &flag, &statuses[0]) == code && flag);
    CHECK(MPI_Wait(&request, &statuses[0]) == code);
    CHECK(work.frees == 1);

    request = start(&work, 1);
    OK(MPI_Grequest_complete(request));
    work.query_rc = code;
    work.free_rc = MPI_ERR_IO; /* of two codes free_fn's is the one that counts */
    CHECK(MPI_Wait(&request, &statuses[0]) == MPI_ERR_IO);
    CHECK(work.frees == 1);

    request = start(&work, 1);
    OK(MPI_Grequest_complete(request));
    work.free_rc = code;
    CHECK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE) == code);
    CHECK(flag && request == MPI_REQUEST_NULL && work.frees == 1);

    requests[0] = start(&work, 1);
    requests[1] = start(&other, 2);
    work.free_rc = code;
    OK(MPI_Grequest_complete(requests[0]));
    OK(MPI_Grequest_complete(requests[1]));
    FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(2, requests, statuses));
    CHECK(statuses[0].MPI_ERROR == code && statuses[1].MPI_ERROR == MPI_SUCCESS);
    CHECK(is_of(&statuses[0], &work) && is_of(&statuses[1], &other));
    CHECK(work.frees == 1 && work.queries == 1 && other.frees == 1);
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_class(own));
}

static void refused(void)
{
    struct work work = {0};
    MPI_Request request = MPI_REQUEST_NULL;
    int got, me = check_rank(MPI_COMM_WORLD);
    FAILS(MPI_ERR_ARG, MPI_Grequest_start(NULL, end, cancel, &work, &request));
    FAILS(MPI_ERR_ARG, MPI_Grequest_start(query, NULL, cancel, &work, &request));
    FAILS(MPI_ERR_ARG, MPI_Grequest_start(query, end, NULL, &work, &request));
    FAILS(MPI_ERR_ARG, MPI_Grequest_start(query, end, cancel, &work, NULL));
    FAILS(MPI_ERR_REQUEST, MPI_Grequest_complete(MPI_REQUEST_NULL));
    OK(MPI_Irecv(&got, 1, MPI_INT, me, 0, MPI_COMM_WORLD, &request));
    FAILS(MPI_ERR_REQUEST, MPI_Grequest_complete(request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    one();
    several();
    cancelled();
    freed();
    failing();
    refused();
    OK(MPI_Finalize());
    return 0;
}
