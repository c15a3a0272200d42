/* SPDX-License-Identifier: BSD-3-Clause */

/* Reduction; each process gets its block of the result. */
#include "mpi/coll/coll.h"
#include "mpi/coll/fold.h"
#include "mpi/coll/sched.h"
#include "mpi/coll/vector.h"

/* The call as a reduction of the whole vector. */
static struct coll whole(const struct coll *c)
{
    struct coll all = *c;
    if (!c->recv.counts) {
        all.recv.count = c->recv.count * c->size;
        return all;
    }
    all.recv.count = 0;
    for (int i = 0; i < c->size; i++)
        all.recv.count += c->recv.counts[i];
    return all;
}

/* Short vectors: all reduce all of it. */
void coll_reduce_scatter_doubling(struct sched *s, const struct coll *c)
{
    struct coll all = whole(c);
    struct vector v;
    struct fold f;
    vector_init(&v, s, &all, NULL);
    fold_init(&f, s, v.in, MPI_IN_PLACE, all.recv.count, v.type);
    fold_all(&f, c->rank, c->size);
    if (s->broken)
        return;
    sched_copy(s, coll_at(f.value, v.start[v.rank], v.type), c->recv.buf,
               v.start[v.rank + 1] - v.start[v.rank], v.type);
}

void coll_reduce_scatter_halving(struct sched *s, const struct coll *c)
{
    struct coll all = whole(c);
    struct vector v;
    vector_init(&v, s, &all, sched_temp_of(s, all.recv.count, c->recv.type));
    vector_reduce_halving(&v);
    if (s->broken)
        return;
    sched_copy(s, coll_at(v.out, v.start[v.rank], v.type), c->recv.buf,
               v.start[v.rank + 1] - v.start[v.rank], v.type);
}

/* ---- pairs: each block goes straight to its owner ---- */

static void send_block(const struct vector *v, int to)
{
    sched_send(v->s, to, coll_at(v->in, v->start[to], v->type), v->start[to + 1] - v->start[to],
               v->type);
}

static void take_block(const struct vector *v, struct fold *f, int from, bool below)
{
    int step = sched_recv(v->s, from, fold_room(f, below), f->count, f->type);
    sched_wait_for(v->s, step);
    fold_take(f, below);
}

/* Blocks come in any order: each process starts with its neighbours. */
static void in_turn(const struct vector *v, struct fold *f)
{
    for (int i = 1; i < v->size; i++) {
        send_block(v, coll_around(v->rank, i, v->size));
        take_block(v, f, coll_around(v->rank, -i, v->size), f->at == 0);
        sched_wait(v->s);
    }
}

/* In order: first those of lower ranks, downwards, then those of higher ranks. */
static void in_order(const struct vector *v, struct fold *f)
{
    for (int i = 1; i < v->size; i++)
        send_block(v, coll_around(v->rank, i, v->size));
    for (int i = v->rank - 1; i >= 0; i--)
        take_block(v, f, i, true);
    for (int i = v->rank + 1; i < v->size; i++)
        take_block(v, f, i, false);
}

void coll_reduce_scatter_pairwise(struct sched *s, const struct coll *c)
{
    struct coll all = whole(c);
    bool in_place = c->send.buf == MPI_IN_PLACE;
    struct vector v;
    struct fold f;
    vector_init(&v, s, &all, NULL);
    if (s->broken)
        return;
    fold_init(&f, s, coll_at(v.in, v.start[v.rank], v.type),
              in_place ? MPI_IN_PLACE : c->recv.buf, v.start[v.rank + 1] - v.start[v.rank],
              v.type);
    if (c->op->commutative)
        in_turn(&v, &f);
    else
        in_order(&v, &f);
    sched_wait(s);
    fold_end(&f);
    if (in_place)
        sched_copy(s, f.value, c->recv.buf, f.count, f.type);
}
