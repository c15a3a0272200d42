/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives over intercommunicators: each side does its part in its local communicator, the
 * ranks 0 exchange what the sides have for each other, and tell their own.
 *
 * An error does not end the run: other processes count on the messages to come.
 */
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"

/* The ranks 0 exchange data; every process counts it as a collective of comm. */
static int exchange(struct comm *comm, const void *out, const struct coll_data *in)
{
    struct sched s;
    sched_init(&s, comm, NULL);
    if (comm->rank == 0 && in) {
        sched_recv(&s, 0, in->buf, in->count, in->type);
        sched_send(&s, 0, out, in->count, in->type);
    } else if (comm->rank == 0) {
        sched_await(&s, 0);
        sched_signal(&s, 0);
    }
    return sched_run(&s);
}

static int barrier(struct comm *comm)
{
    struct coll local = {.kind = COLL_BARRIER, .comm = comm->local};
    int before = coll_run(&local), across = exchange(comm, NULL, NULL), after = coll_run(&local);
    return before ? before : across ? across : after;
}

/* Each side gets what the other side's data come to. */
static int allreduce(const struct coll *c)
{
    struct sched memory;
    sched_init(&memory, c->comm->local, NULL);
    void *ours = sched_temp_of(&memory, c->recv.count, c->recv.type);
    struct coll reduce = {.kind = COLL_REDUCE, .comm = c->comm->local, .op = c->op};
    struct coll bcast = {.kind = COLL_BCAST, .comm = c->comm->local, .recv = c->recv};
    int rc = memory.broken ? MPI_ERR_NO_MEM : MPI_SUCCESS;
    if (!rc) {
        reduce.send = c->send;
        reduce.recv = c->recv;
        reduce.recv.buf = ours;
        int folded = coll_run(&reduce), across = exchange(c->comm, ours, &c->recv);
        int told = coll_run(&bcast);
        rc = folded ? folded : across ? across : told;
    }
    sched_fini(&memory);
    return rc;
}

bool coll_inter_can(enum coll_kind kind)
{
    return kind == COLL_BARRIER || kind == COLL_ALLREDUCE;
}

int coll_inter_run(const struct coll *c)
{
    return c->kind == COLL_BARRIER ? barrier(c->comm) : allreduce(c);
}
