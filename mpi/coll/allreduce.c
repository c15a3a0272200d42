/* SPDX-License-Identifier: BSD-3-Clause */

/* Reduction to all: of short vectors whole, of long ones block by block. */
#include "mpi/coll/allreduce.h"

#include "mpi/coll/coll.h"
#include "mpi/coll/fold.h"
#include "mpi/coll/sched.h"
#include "mpi/coll/vector.h"

static void send_value(const struct fold *f, int peer)
{
    sched_send(f->s, peer, f->value, f->count, f->type);
}

static void recv_value(struct fold *f, int peer, bool below)
{
    sched_recv(f->s, peer, fold_room(f, below), f->count, f->type);
}

/* Let another speak for me. */
static void stay_out(struct fold *f, int speaker)
{
    send_value(f, speaker);
    sched_wait(f->s);
    sched_recv(f->s, speaker, fold_replace(f), f->count, f->type);
    sched_wait(f->s);
}

/*
 * Recursive doubling among 2^k processes. Of the first 2 * extra, the odd ones speak for the ones
 * below them. In each round the ranges of ranks that two have folded are next to each other.
 */
void allreduce_fold(struct fold *f, const struct comm *comm)
{
    int rank = comm->rank, power = 1;
    while (power <= comm->size / 2)
        power *= 2;
    int extra = comm->size - power;
    bool speaks = rank < 2 * extra;
    if (speaks && rank % 2 == 0) {
        stay_out(f, rank + 1);
        return;
    }
    if (speaks) {
        recv_value(f, rank - 1, true);
        sched_wait(f->s);
        fold_take(f, true);
    }
    int index = speaks ? rank / 2 : rank - extra;
    for (int bit = 1; bit < power; bit *= 2) {
        int other = index ^ bit, peer = other < extra ? 2 * other + 1 : other + extra;
        send_value(f, peer);
        recv_value(f, peer, peer < rank);
        sched_wait(f->s);
        fold_take(f, peer < rank);
    }
    if (speaks)
        send_value(f, rank - 1);
}

void coll_allreduce_doubling(struct sched *s, const struct coll *c)
{
    struct fold f;
    fold_init(&f, s, c->send.buf, c->recv.buf, c->recv.count, c->recv.type);
    allreduce_fold(&f, c->comm);
    fold_end(&f);
}

void coll_allreduce_halving(struct sched *s, const struct coll *c)
{
    struct vector v;
    vector_init(&v, s, c, c->recv.buf);
    vector_reduce_halving(&v);
    vector_gather_doubling(&v);
}

void coll_allreduce_ring(struct sched *s, const struct coll *c)
{
    struct vector v;
    vector_init(&v, s, c, c->recv.buf);
    vector_reduce_ring(&v);
    vector_gather_ring(&v);
}
