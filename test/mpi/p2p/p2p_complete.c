/* SPDX-License-Identifier: BSD-3-Clause */

/* The wait and test families, and the looks at status that finish nothing, over arrays of
 * null, inactive, persistent and ordinary requests. */
#include <string.h>

#include "pattern.h"

enum {
    N = 6,
    NULL_AT = 0,
    INACTIVE_AT = 3
};

/* Requests 1, 2, 4 and 5 receive tags 1, 2, 4, 5; 4 is persistent. 0 is null, 3 not started. */
struct set {
    MPI_Request requests[N];
    MPI_Status statuses[N];
    int got[N];
    int me;
};

static void open_set(struct set *set)
{
    set->me = check_rank(MPI_COMM_WORLD);
    set->requests[NULL_AT] = MPI_REQUEST_NULL;
    for (int i = 1; i < N; i++) {
        set->got[i] = -1;
        if (i == INACTIVE_AT || i == 4)
            OK(MPI_Recv_init(&set->got[i], 1, MPI_INT, set->me, i, MPI_COMM_WORLD,
                             &set->requests[i]));
        else
            OK(MPI_Irecv(&set->got[i], 1, MPI_INT, set->me, i, MPI_COMM_WORLD, &set->requests[i]));
    }
    OK(MPI_Start(&set->requests[4]));
    memset(set->statuses, 0x77, sizeof(set->statuses));
}

static void send_to(struct set *set, int i)
{
    OK(MPI_Send(&i, 1, MPI_INT, set->me, i, MPI_COMM_WORLD));
}

static int is_empty(const MPI_Status *status)
{
    int count = -1, cancelled = -1;
    OK(MPI_Get_count(status, MPI_INT, &count));
    OK(MPI_Test_cancelled(status, &cancelled));
    return status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && !count &&
           !cancelled;
}

static int is_of(struct set *set, const MPI_Status *status, int i)
{
    int count = -1;
    OK(MPI_Get_count(status, MPI_INT, &count));
    return status->MPI_SOURCE == set->me && status->MPI_TAG == i && count == 1 && set->got[i] == i;
}

static void close_set(struct set *set)
{
    for (int i = 1; i < N; i++)
        CHECK((set->requests[i] != MPI_REQUEST_NULL) == (i == INACTIVE_AT || i == 4));
    OK(MPI_Request_free(&set->requests[INACTIVE_AT]));
    OK(MPI_Request_free(&set->requests[4]));
}

static void check_all(struct set *set)
{
    for (int i = 0; i < N; i++)
        CHECK(i == NULL_AT || i == INACTIVE_AT ? is_empty(&set->statuses[i])
                                               : is_of(set, &set->statuses[i], i));
}

static void with_all(void)
{
    struct set set;
    int flag = -1;
    for (int test = 0; test < 2; test++) {
        open_set(&set);
        OK(MPI_Testall(N, set.requests, &flag, set.statuses));
        CHECK(!flag);
        for (int i = 1; i < N; i++)
            if (i != INACTIVE_AT)
                send_to(&set, i);
        flag = 0;
        while (!flag)
            OK(MPI_Request_get_status_all(N, set.requests, &flag, set.statuses));
        check_all(&set);
        memset(set.statuses, 0x77, sizeof(set.statuses));
        if (test) {
            OK(MPI_Testall(N, set.requests, &flag, set.statuses));
            CHECK(flag);
        } else {
            OK(MPI_Waitall(N, set.requests, set.statuses));
        }
        check_all(&set);
        close_set(&set);
    }
}

static void with_any(void)
{
    struct set set;
    MPI_Status status;
    int flag = -1, index = -1;
    for (int test = 0; test < 2; test++) {
        open_set(&set);
        OK(MPI_Testany(N, set.requests, &index, &flag, &status));
        CHECK(!flag && index == MPI_UNDEFINED);
        OK(MPI_Request_get_status_any(N, set.requests, &index, &flag, &status));
        CHECK(!flag);
        static const int order[] = {4, 2, 5, 1};
        for (int i = 0; i < 4; i++) {
            send_to(&set, order[i]);
            flag = 0;
            while (!flag)
                OK(MPI_Request_get_status_any(N, set.requests, &index, &flag, &status));
            CHECK(index == order[i] && is_of(&set, &status, index));
            index = -1;
            if (test)
                OK(MPI_Testany(N, set.requests, &index, &flag, &status));
            else
                OK(MPI_Waitany(N, set.requests, &index, &status));
            CHECK(flag && index == order[i] && is_of(&set, &status, index));
        }
        if (test)
            OK(MPI_Testany(N, set.requests, &index, &flag, &status));
        else
            OK(MPI_Waitany(N, set.requests, &index, &status));
        CHECK(flag && index == MPI_UNDEFINED && is_empty(&status));
        OK(MPI_Request_get_status_any(N, set.requests, &index, &flag, &status));
        CHECK(flag && index == MPI_UNDEFINED && is_empty(&status));
        close_set(&set);
    }
}

static void with_some(void)
{
    struct set set;
    int count = -1, indices[N];
    for (int test = 0; test < 2; test++) {
        open_set(&set);
        OK(MPI_Testsome(N, set.requests, &count, indices, set.statuses));
        CHECK(count == 0);
        OK(MPI_Request_get_status_some(N, set.requests, &count, indices, set.statuses));
        CHECK(count == 0);
        send_to(&set, 5);
        send_to(&set, 4);
        count = 0;
        while (count < 2)
            OK(MPI_Request_get_status_some(N, set.requests, &count, indices, set.statuses));
        CHECK(count == 2 && indices[0] + indices[1] == 9);
        OK((test ? MPI_Testsome : MPI_Waitsome)(N, set.requests, &count, indices, set.statuses));
        CHECK(count == 2 && indices[0] + indices[1] == 9);
        for (int i = 0; i < 2; i++)
            CHECK(is_of(&set, &set.statuses[i], indices[i]));
        send_to(&set, 1);
        send_to(&set, 2);
        for (int left = 2; left > 0; left -= count)
            OK((test ? MPI_Testsome : MPI_Waitsome)(N, set.requests, &count, indices,
                                                    MPI_STATUSES_IGNORE));
        OK((test ? MPI_Testsome : MPI_Waitsome)(N, set.requests, &count, indices, set.statuses));
        CHECK(count == MPI_UNDEFINED);
        OK(MPI_Request_get_status_some(N, set.requests, &count, indices, set.statuses));
        CHECK(count == MPI_UNDEFINED);
        close_set(&set);
    }
}

static void with_one(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int flag = 0, value = 1, got = 0, me = check_rank(MPI_COMM_WORLD);
    OK(MPI_Wait(&request, &status));
    CHECK(is_empty(&status) && status.MPI_ERROR == MPI_SUCCESS);
    OK(MPI_Test(&request, &flag, &status));
    CHECK(flag && is_empty(&status));
    OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(flag && is_empty(&status));
    OK(MPI_Irecv(&got, 1, MPI_INT, me, 0, MPI_COMM_WORLD, &request));
    OK(MPI_Test(&request, &flag, &status));
    CHECK(!flag);
    OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(!flag && request != MPI_REQUEST_NULL);
    OK(MPI_Send(&value, 1, MPI_INT, me, 0, MPI_COMM_WORLD));
    flag = 0;
    while (!flag)
        OK(MPI_Request_get_status(request, &flag, &status));
    CHECK(status.MPI_SOURCE == me && request != MPI_REQUEST_NULL);
    status.MPI_ERROR = 12345; /* calls that complete one request leave it alone */
    OK(MPI_Test(&request, &flag, &status));
    CHECK(flag && request == MPI_REQUEST_NULL && got == 1 && status.MPI_ERROR == 12345);
    OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    OK(MPI_Waitany(0, NULL, &flag, &status));
    CHECK(flag == MPI_UNDEFINED);
}

/* One of several fails: the statuses say which. */
static void with_error(void)
{
    MPI_Request requests[3];
    MPI_Status statuses[3];
    int got[3][2], value[2] = {1, 2}, me = check_rank(MPI_COMM_WORLD), count, indices[3];
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int some = 0; some < 2; some++) {
        for (int i = 0; i < 3; i++)
            OK(MPI_Irecv(got[i], i == 1 ? 1 : 2, MPI_INT, me, i, MPI_COMM_WORLD, &requests[i]));
        for (int i = 0; i < 3; i++)
            OK(MPI_Send(value, 2, MPI_INT, me, i, MPI_COMM_WORLD));
        int flag = 0;
        while (!flag)
            OK(MPI_Request_get_status_all(3, requests, &flag, MPI_STATUSES_IGNORE));
        if (some) {
            FAILS(MPI_ERR_IN_STATUS, MPI_Waitsome(3, requests, &count, indices, statuses));
            CHECK(count == 3);
        } else {
            FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(3, requests, statuses));
        }
        for (int i = 0; i < 3; i++) {
            CHECK(check_class(statuses[i].MPI_ERROR) == (i == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS));
            CHECK(requests[i] == MPI_REQUEST_NULL);
        }
    }
}

/* None fails: MPI_ERROR is left as it was (MPI-5.0 3.2.5). */
static void without_error(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int got[2], value = 3, me = check_rank(MPI_COMM_WORLD), count, indices[2];
    for (int how = 0; how < 3; how++) {
        for (int i = 0; i < 2; i++) {
            statuses[i].MPI_ERROR = 4711;
            OK(MPI_Irecv(&got[i], 1, MPI_INT, me, i, MPI_COMM_WORLD, &requests[i]));
            OK(MPI_Send(&value, 1, MPI_INT, me, i, MPI_COMM_WORLD));
        }
        int flag = 0;
        while (!flag)
            OK(MPI_Request_get_status_all(2, requests, &flag, MPI_STATUSES_IGNORE));
        if (how == 0)
            OK(MPI_Waitall(2, requests, statuses));
        else if (how == 1)
            OK(MPI_Testall(2, requests, &flag, statuses));
        else
            OK(MPI_Waitsome(2, requests, &count, indices, statuses));
        CHECK(statuses[0].MPI_ERROR == 4711 && statuses[1].MPI_ERROR == 4711);
        CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    }
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    with_one();
    with_all();
    with_any();
    with_some();
    with_error();
    without_error();
    OK(MPI_Finalize());
    return 0;
}
