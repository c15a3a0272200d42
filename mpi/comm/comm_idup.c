/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Copying a communicator in the background. The copy is made at once but for its context, which is
 * agreed on step by step (mpi/comm/context.h). Each maximum over the members is a schedule in the
 * local communicator; of an intercommunicator three: that, an exchange of the ranks 0 with each
 * other, and what the local rank 0 then knows to all.
 *
 * All schedules of one copy have the tag that was taken at its beginning, since other
 * collectives may begin meanwhile; two members exchange the same messages in the same order, so
 * those of several rounds are not mixed up.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/attr.h"
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/context.h"
#include "mpi/request/request.h"
#include "mpi/task.h"
#include "mpi/topo/topo.h"
#include "mpi/type/op.h"

/* The maximum of bids, then of votes, each in up to three parts. */
enum stage { BID, BID_ACROSS, BID_SPREAD, VOTE, VOTE_ACROSS, VOTE_SPREAD };

struct idup {
    struct task task;
    struct request *request;
    struct comm *comm, *local, *copy; /* local: comm itself where it is an intracommunicator */
    struct context_deal deal;
    enum stage stage;
    int tag;
    MPI_Count count; /* of values */
    uint64_t values[CONTEXT_VALUES], others[CONTEXT_VALUES];
    struct sched sched;
};

/* Write the schedule of the stage. */
static void plan(struct idup *d)
{
    struct sched *s = &d->sched;
    struct coll c = {.comm = d->local,
                     .op = op_from(MPI_MAX),
                     .send = {.buf = MPI_IN_PLACE},
                     .recv = {.buf = d->values, .count = d->count, .type = MPI_UINT64_T}};
    switch (d->stage) {
    case BID:
    case VOTE:
        sched_init_tag(s, d->local, c.op, d->tag);
        coll_allreduce_doubling(s, &c);
        break;
    case BID_ACROSS:
    case VOTE_ACROSS:
        sched_init_tag(s, d->comm, NULL, d->tag);
        if (d->comm->rank != 0)
            break;
        sched_send(s, 0, d->values, d->count, MPI_UINT64_T);
        sched_recv(s, 0, d->others, d->count, MPI_UINT64_T);
        break;
    case BID_SPREAD:
    case VOTE_SPREAD:
        sched_init_tag(s, d->local, NULL, d->tag);
        coll_bcast_tree(s, &c);
        break;
    }
}

static void take_others(struct idup *d)
{
    for (int i = 0; i < d->count; i++)
        if (d->others[i] > d->values[i])
            d->values[i] = d->others[i];
}

static void bid(struct idup *d)
{
    struct context_bid mine;
    context_offer(&d->deal, &mine);
    memcpy(d->values, mine.value, sizeof(mine.value));
    d->count = CONTEXT_VALUES;
    d->stage = BID;
}

/* All members have the maximum. Returns whether the context is agreed on. */
static bool decide(struct idup *d, int *rc)
{
    if (d->stage < VOTE) {
        struct context_bid best;
        memcpy(best.value, d->values, sizeof(best.value));
        *rc = context_consider(&d->deal, &best, &d->values[0]);
        d->count = 1;
        d->stage = VOTE;
        return false;
    }
    if (context_conclude(&d->deal, d->values[0]))
        return true;
    bid(d);
    return false;
}

/* The schedule of a stage is done: go to the next. Returns whether that was the last. */
static bool proceed(struct idup *d, int *rc)
{
    *rc = sched_end(&d->sched);
    if (*rc) {
        if (d->stage >= VOTE)
            (void)context_conclude(&d->deal, true);
        return true;
    }
    if (d->stage == BID_ACROSS || d->stage == VOTE_ACROSS)
        take_others(d);
    bool last_part = d->stage == BID_SPREAD || d->stage == VOTE_SPREAD || !d->comm->remote;
    if (last_part && (decide(d, rc) || *rc))
        return true;
    if (!last_part)
        d->stage++;
    plan(d);
    return false;
}

static void finish(struct idup *d, int rc)
{
    struct comm *copy = d->copy;
    context_end(&d->deal);
    if (!rc) {
        copy->context = d->deal.context;
        if (copy->local)
            copy->local->context = d->deal.context + CONTEXT_LOCAL;
    }
    request_complete(d->request, rc);
    if (rc) {
        (void)attr_delete_comm(copy); /* the first error is the one to tell */
        comm_unref(copy);
    }
    comm_unref(d->comm);
    free(d);
}

static bool advance(struct task *task)
{
    struct idup *d = (struct idup *)task;
    int rc = MPI_SUCCESS;
    do {
        if (!sched_advance(&d->sched))
            return false;
    } while (!proceed(d, &rc));
    finish(d, rc);
    return true;
}

/* The copy, but for its context. */
static int prepare(struct comm *comm, const struct info *info, struct comm **copy)
{
    int rc = comm_create_like(comm, comm->group, comm->remote, CONTEXT_NONE, copy);
    if (rc)
        return rc;
    (*copy)->topo = topo_ref(comm->topo);
    rc = attr_copy_comm(comm, *copy);
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
            (void)attr_delete_comm(*copy);
            comm_unref(*copy);
        }
        free(d);
        return rc;
    }
    *request = d->request;
    object_ref(&comm->object);
    d->task.advance = advance;
    d->comm = comm;
    d->local = comm->local ? comm->local : comm;
    d->copy = *copy;
    d->tag = sched_next_tag(comm);
    context_start(&d->deal);
    bid(d);
    plan(d);
    task_start(&d->task);
    return MPI_SUCCESS;
}
