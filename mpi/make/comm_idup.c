/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Copying a communicator in the background. The copy is made at once except for its context, which
 * is agreed on step by step (mpi/comm/context.h), all in one schedule: a maximum over the members,
 * and a call that may append the next step. In an intercommunicator the maximum is that over the
 * local group; then the ranks 0 exchange theirs, and tell their groups.
 *
 * Two members exchange the same messages in the same order, so those of several rounds are not
 * mixed up, though they have one tag.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/calls/coll_request.h"
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/comm_attr.h"
#include "mpi/comm/comm_list.h"
#include "mpi/comm/context.h"
#include "mpi/comm/topo.h"
#include "mpi/make/comm_make.h"
#include "mpi/request/request.h"
#include "mpi/request/status.h"
#include "mpi/type/op.h"

struct idup {
    struct sched sched;
    struct request *request;
    struct comm *comm, *copy;
    struct context_deal deal;
    int number;      /* of its messages' tags */
    bool voting;     /* on a context that this process has considered */
    MPI_Count count; /* of values */
    uint64_t values[CONTEXT_VALUES], others[CONTEXT_VALUES];
};

static int take_others(struct sched *s, void *arg)
{
    struct idup *d = arg;
    for (int i = 0; i < d->count; i++)
        if (d->others[i] > d->values[i])
            d->values[i] = d->others[i];
    return MPI_SUCCESS;
}

/* Take the maximum over all members; then next is called. */
static void append_maximum(struct idup *d, MPI_Count count, sched_fn next)
{
    struct sched *s = &d->sched;
    struct comm *comm = d->comm, *local = comm->local ? comm->local : comm;
    struct coll c = {.rank = local->rank,
                     .size = local->size,
                     .op = s->op,
                     .send = {.buf = MPI_IN_PLACE},
                     .recv = {.buf = d->values, .count = count, .type = MPI_UINT64_T}};
    d->count = count;
    sched_over(s, local);
    coll_allreduce_doubling(s, &c);
    sched_wait(s);
    if (comm->remote) {
        sched_over(s, comm);
        if (comm->rank == 0) {
            sched_send(s, 0, d->values, count, MPI_UINT64_T);
            sched_recv(s, 0, d->others, count, MPI_UINT64_T);
            sched_wait(s);
            sched_call(s, take_others, d);
        }
        sched_over(s, local);
        coll_bcast_tree(s, &c);
        sched_wait(s);
    }
    sched_call(s, next, d);
}

static int decide(struct sched *s, void *arg);

static void append_bids(struct idup *d)
{
    struct context_bid mine;
    context_offer(&d->deal, &mine);
    memcpy(d->values, mine.value, sizeof(mine.value));
    append_maximum(d, CONTEXT_VALUES, decide);
}

/* All have voted: the context is taken, or all bid again. */
static int count_votes(struct sched *s, void *arg)
{
    struct idup *d = arg;
    d->voting = false;
    bool taken = context_conclude(&d->deal, d->values[0] || s->error);
    if (!taken && !s->error)
        append_bids(d);
    return MPI_SUCCESS;
}

/* All know the highest bid: vote on it. */
static int decide(struct sched *s, void *arg)
{
    struct idup *d = arg;
    struct context_bid best;
    if (s->error)
        return MPI_SUCCESS;
    memcpy(best.value, d->values, sizeof(best.value));
    int rc = context_consider(&d->deal, &best, &d->values[0]);
    if (!rc) {
        d->voting = true;
        append_maximum(d, 1, count_votes);
    }
    return rc;
}

static void finish(struct sched *s)
{
    struct idup *d = (struct idup *)s;
    struct comm *copy = d->copy;
    int rc = sched_end(s);
    if (d->voting)
        (void)context_conclude(&d->deal, true);
    context_end(&d->deal);
    if (!rc) {
        copy->context = d->deal.context;
        if (copy->local)
            copy->local->context = d->deal.context + CONTEXT_LOCAL;
        comm_list_check(copy);
    }
    request_complete(d->request, rc);
    if (rc) {
        (void)attr_delete_all(comm_attr_of(copy)); /* the first error is the one to tell */
        comm_unref(copy);
    }
    comm_unref(d->comm);
    free(d);
}

static void tell(const struct request *request, struct mpid_wait_report *report)
{
    const struct idup *d = request->state;
    if (!mpid_is_complete(&request->dev)) /* until then d is there */
        coll_request_tell(&d->sched, d->number, report);
}

static int outcome(const struct request *request, MPI_Status *status)
{
    status_set_empty(status);
    return request_class(&request->dev);
}

static const struct request_ops ops = {.tell = tell, .outcome = outcome};

/* The copy, still without its context. */
static int prepare(struct comm *comm, const struct info *info, struct comm **copy)
{
    int rc = comm_create_like(comm, comm->group, comm->remote, CONTEXT_NONE, copy);
    if (rc)
        return rc;
    (*copy)->topo = topo_ref(comm->topo);
    rc = attr_copy(comm_attr_of(comm), comm_attr_of(*copy));
    if (!rc && info)
        rc = comm_set_hints(*copy, info);
    return rc;
}

int comm_idup(struct comm *comm, const struct info *info, struct comm **copy,
              struct request **request)
{
    struct idup *d = calloc(1, sizeof(*d));
    *copy = NULL;
    int rc = d ? prepare(comm, info, copy) : MPI_ERR_NO_MEM;
    if (!rc && !(d->request = request_begin(comm)))
        rc = MPI_ERR_NO_MEM;
    if (rc) {
        if (*copy) {
            (void)attr_delete_all(comm_attr_of(*copy));
            comm_unref(*copy);
        }
        free(d);
        return rc;
    }
    d->request->ops = &ops;
    d->request->state = d;
    *request = d->request;
    object_ref(&comm->object);
    d->comm = comm;
    d->copy = *copy;
    coll_note_as(comm, NOTED_COPY, false, -1);
    sched_init(&d->sched, comm, op_from(MPI_MAX));
    d->number = d->sched.place.tag;
    context_start(&d->deal);
    append_bids(d);
    sched_start(&d->sched, finish);
    return MPI_SUCCESS;
}
