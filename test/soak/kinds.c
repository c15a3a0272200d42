/* SPDX-License-Identifier: BSD-3-Clause */

/* The kinds that need no more than a few calls of MPI: sends, receives, completing them. */
#include "kinds.h"

#include <sched.h>
#include <stdlib.h>

#include "dice.h"
#include "pair.h"
#include "pause.h"

#define COUNT_OF(rows) (sizeof(rows) / sizeof(*(rows)))

/* ---- sends ---- */

const struct send_row send_rows[] = {
    {.name = "MPI_Send", .now = MPI_Send},
    {.name = "MPI_Ssend", .now = MPI_Ssend},
    {.name = "MPI_Bsend", SEND_STARTS, .now = MPI_Bsend},
    {.name = "MPI_Rsend", SEND_READY, .now = MPI_Rsend},
    {.name = "MPI_Isend", SEND_STARTS, .start = MPI_Isend},
    {.name = "MPI_Issend", SEND_STARTS, .start = MPI_Issend},
    {.name = "MPI_Ibsend", SEND_STARTS, .start = MPI_Ibsend},
    {.name = "MPI_Irsend", SEND_STARTS | SEND_READY, .start = MPI_Irsend},
    {.name = "MPI_Send_init", SEND_STARTS | SEND_PERSISTENT, .start = MPI_Send_init},
    {.name = "MPI_Ssend_init", SEND_STARTS | SEND_PERSISTENT, .start = MPI_Ssend_init},
    {.name = "MPI_Bsend_init", SEND_STARTS | SEND_PERSISTENT, .start = MPI_Bsend_init},
    {.name = "MPI_Rsend_init", SEND_STARTS | SEND_READY | SEND_PERSISTENT, .start = MPI_Rsend_init},
    {.name = "rounds", SEND_PAIRED, .send = pair_rounds_send, .recv = pair_rounds_recv},
    {.name = "partitioned", SEND_PAIRED, .send = pair_part_send, .recv = pair_part_recv},
    {.name = "cancelled", SEND_PAIRED, .send = pair_cancel_send, .recv = pair_cancel_recv},
    {.name = "exchange", SEND_PAIRED, .send = pair_exchange_lead, .recv = pair_exchange_follow},
};
const int send_row_count = COUNT_OF(send_rows);

/* ---- receives ---- */

static void recv_now(struct actor *a, struct actor_receipt *to)
{
    MPI_Status status;
    ACTOR_OK(a, MPI_Recv(to->area.bytes, (int)to->area.len, actor_type(a, &to->area), to->source,
                         to->tag, a->comm, &status));
    actor_received(a, to, &status);
}

static void recv_started(struct actor *a, struct actor_receipt *to)
{
    struct actor_pending pending = {.receipt = to};
    ACTOR_OK(a, MPI_Irecv(to->area.bytes, (int)to->area.len, actor_type(a, &to->area), to->source,
                          to->tag, a->comm, &pending.request));
    actor_started(a, pending);
}

static void recv_persistent(struct actor *a, struct actor_receipt *to)
{
    struct actor_pending pending = {.receipt = to, .persistent = true};
    ACTOR_OK(a, MPI_Recv_init(to->area.bytes, (int)to->area.len, actor_type(a, &to->area),
                              to->source, to->tag, a->comm, &pending.request));
    ACTOR_OK(a, MPI_Start(&pending.request));
    actor_started(a, pending);
}

/* What was probed is what is received. */
static void recv_as_probed(struct actor *a, struct actor_receipt *to, const MPI_Status *probed)
{
    int count = -1;
    MPI_Datatype type = actor_type(a, &to->area);
    ACTOR_OK(a, MPI_Get_count(probed, type, &count));
    if (count < 0 || (size_t)count > to->area.len)
        actor_fail(a, "a probe finds %d bytes; %zu is the most that was sent", count, to->area.len);
    MPI_Status status;
    ACTOR_OK(a, MPI_Recv(to->area.bytes, count, type, probed->MPI_SOURCE, probed->MPI_TAG, a->comm,
                         &status));
    actor_received(a, to, &status);
    if (to->got_len != (size_t)count)
        actor_fail(a, "a probe finds %d bytes, the receive after it %zu", count, to->got_len);
}

static void recv_probed(struct actor *a, struct actor_receipt *to)
{
    MPI_Status probed;
    ACTOR_OK(a, MPI_Probe(to->source, to->tag, a->comm, &probed));
    recv_as_probed(a, to, &probed);
}

static void recv_iprobed(struct actor *a, struct actor_receipt *to)
{
    MPI_Status probed;
    int flag = 0;
    while (!flag) {
        ACTOR_OK(a, MPI_Iprobe(to->source, to->tag, a->comm, &flag, &probed));
        if (!flag)
            sched_yield();
    }
    recv_as_probed(a, to, &probed);
}

static void recv_mprobed(struct actor *a, struct actor_receipt *to)
{
    MPI_Status probed, status;
    MPI_Message message;
    ACTOR_OK(a, MPI_Mprobe(to->source, to->tag, a->comm, &message, &probed));
    ACTOR_OK(a, MPI_Mrecv(to->area.bytes, (int)to->area.len, actor_type(a, &to->area), &message,
                          &status));
    actor_received(a, to, &status);
}

static void recv_improbed(struct actor *a, struct actor_receipt *to)
{
    struct actor_pending pending = {.receipt = to};
    MPI_Message message;
    int flag = 0;
    while (!flag) {
        ACTOR_OK(a, MPI_Improbe(to->source, to->tag, a->comm, &flag, &message, MPI_STATUS_IGNORE));
        if (!flag)
            sched_yield();
    }
    ACTOR_OK(a, MPI_Imrecv(to->area.bytes, (int)to->area.len, actor_type(a, &to->area), &message,
                           &pending.request));
    actor_started(a, pending);
}

/* Taken back where that succeeds, and received all the same. */
static void recv_cancelled(struct actor *a, struct actor_receipt *to)
{
    MPI_Request request;
    MPI_Status status;
    int cancelled = -1;
    ACTOR_OK(a, MPI_Irecv(to->area.bytes, (int)to->area.len, actor_type(a, &to->area), to->source,
                          to->tag, a->comm, &request));
    ACTOR_OK(a, MPI_Cancel(&request));
    ACTOR_OK(a, MPI_Wait(&request, &status));
    ACTOR_OK(a, MPI_Test_cancelled(&status, &cancelled));
    if (cancelled)
        recv_now(a, to);
    else
        actor_received(a, to, &status);
}

const struct recv_row recv_rows[] = {
    {"MPI_Recv", 0, recv_now},
    {"MPI_Irecv", RECV_STARTS, recv_started},
    {"MPI_Recv_init", RECV_STARTS, recv_persistent},
    {"MPI_Probe", 0, recv_probed},
    {"MPI_Iprobe", 0, recv_iprobed},
    {"MPI_Mprobe", 0, recv_mprobed},
    {"MPI_Improbe", 0, recv_improbed},
    {"MPI_Cancel", 0, recv_cancelled},
};
const int recv_row_count = COUNT_OF(recv_rows);

/* ---- completing ---- */

/* A copy of the requests under way; free() it. */
static MPI_Request *requests_of(struct actor *a)
{
    MPI_Request *requests = malloc((size_t)a->pending_count * sizeof(MPI_Request));
    if (!requests)
        actor_fail(a, "no memory for requests");
    for (int i = 0; i < a->pending_count; i++)
        requests[i] = a->pending[i].request;
    return requests;
}

static void settle(struct actor *a, MPI_Request *requests, int at, const MPI_Status *status)
{
    if (at < 0 || at >= a->pending_count)
        actor_fail(a, "index %d of %d requests completes", at, a->pending_count);
    actor_completed(a, at, status);
    requests[at] = MPI_REQUEST_NULL;
}

static MPI_Status *statuses_of(struct actor *a, int **indices)
{
    MPI_Status *statuses = malloc((size_t)a->pending_count * sizeof(MPI_Status));
    *indices = malloc((size_t)a->pending_count * sizeof(int));
    if (!statuses || !*indices)
        actor_fail(a, "no memory for statuses");
    return statuses;
}

typedef int finish_all(struct actor *, MPI_Request *, MPI_Status *);
typedef int finish_some(int, MPI_Request *, int *, int *, MPI_Status *);

static void finish_together(struct actor *a, finish_all *call)
{
    int *unused;
    MPI_Request *requests = requests_of(a);
    MPI_Status *statuses = statuses_of(a, &unused);
    ACTOR_OK(a, call(a, requests, statuses));
    for (int i = 0; i < a->pending_count; i++) { /* persistent ones are still there */
        a->pending[i].request = requests[i];
        settle(a, requests, i, &statuses[i]);
    }
    free(statuses);
    free(unused);
    free(requests);
}

static int call_waitall(struct actor *a, MPI_Request *requests, MPI_Status *statuses)
{
    return MPI_Waitall(a->pending_count, requests, statuses);
}

static int call_testall(struct actor *a, MPI_Request *requests, MPI_Status *statuses)
{
    int flag = 0, rc = MPI_SUCCESS;
    while (!rc && !flag) {
        rc = MPI_Testall(a->pending_count, requests, &flag, statuses);
        if (!flag)
            sched_yield();
    }
    return rc;
}

static void finish_in_groups(struct actor *a, finish_some *call)
{
    int *indices, count = 0;
    MPI_Request *requests = requests_of(a);
    MPI_Status *statuses = statuses_of(a, &indices);
    for (int left = a->pending_count; left; left -= count) {
        ACTOR_OK(a, call(a->pending_count, requests, &count, indices, statuses));
        if (count == MPI_UNDEFINED)
            actor_fail(a, "%d requests are left, and no call knows of them", left);
        for (int i = 0; i < count; i++)
            settle(a, requests, indices[i], &statuses[i]);
        if (!count)
            sched_yield();
    }
    free(statuses);
    free(indices);
    free(requests);
}

static int call_waitany(int n, MPI_Request *requests, int *count, int *index, MPI_Status *status)
{
    int rc = MPI_Waitany(n, requests, index, status);
    *count = *index == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
    return rc;
}

static int call_testany(int n, MPI_Request *requests, int *count, int *index, MPI_Status *status)
{
    int flag = 0, rc = MPI_Testany(n, requests, index, &flag, status);
    *count = flag ? *index == MPI_UNDEFINED ? MPI_UNDEFINED : 1 : 0;
    return rc;
}

/* ---- one by one, in an order of its own ---- */

typedef int finish_one(MPI_Request *, MPI_Status *);

static void finish_singly(struct actor *a, finish_one *call)
{
    MPI_Request *requests = requests_of(a);
    int first = dice_below(&a->dice, a->pending_count), n = a->pending_count;
    bool back = dice_chance(&a->dice, 50);
    for (int i = 0; i < n; i++) {
        MPI_Status status;
        int at = back ? (first + n - i) % n : (first + i) % n;
        ACTOR_OK(a, call(&requests[at], &status));
        settle(a, requests, at, &status);
    }
    free(requests);
}

static int call_test(MPI_Request *request, MPI_Status *status)
{
    int flag = 0, rc = MPI_SUCCESS;
    while (!rc && !flag) {
        rc = MPI_Test(request, &flag, status);
        if (!flag)
            sched_yield();
    }
    return rc;
}

static int call_get_status(MPI_Request *request, MPI_Status *status)
{
    int flag = 0, rc = MPI_SUCCESS;
    while (!rc && !flag) {
        rc = MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE);
        if (!flag)
            sched_yield();
    }
    return rc ? rc : MPI_Wait(request, status);
}

static void finish_waitall(struct actor *a)
{
    finish_together(a, call_waitall);
}

static void finish_testall(struct actor *a)
{
    finish_together(a, call_testall);
}

static void finish_waitany(struct actor *a)
{
    finish_in_groups(a, call_waitany);
}

static void finish_testany(struct actor *a)
{
    finish_in_groups(a, call_testany);
}

static void finish_waitsome(struct actor *a)
{
    finish_in_groups(a, MPI_Waitsome);
}

static void finish_testsome(struct actor *a)
{
    finish_in_groups(a, MPI_Testsome);
}

static void finish_wait(struct actor *a)
{
    finish_singly(a, MPI_Wait);
}

static void finish_test(struct actor *a)
{
    finish_singly(a, call_test);
}

static void finish_get_status(struct actor *a)
{
    finish_singly(a, call_get_status);
}

const struct finish_row finish_rows[] = {
    {"MPI_Waitall", finish_waitall},
    {"MPI_Testall", finish_testall},
    {"MPI_Waitany", finish_waitany},
    {"MPI_Testany", finish_testany},
    {"MPI_Waitsome", finish_waitsome},
    {"MPI_Testsome", finish_testsome},
    {"MPI_Wait", finish_wait},
    {"MPI_Test", finish_test},
    {"MPI_Request_get_status", finish_get_status},
};
const int finish_row_count = COUNT_OF(finish_rows);

const struct pause_row pause_rows[] = {
    {"asleep", pause_asleep},
    {"computing", pause_computing},
    {"stopped", pause_stopped},
    {"fork", pause_fork},
};
const int pause_row_count = COUNT_OF(pause_rows);
