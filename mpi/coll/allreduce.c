/* SPDX-License-Identifier: BSD-3-Clause */

/* Reduction to all: of short vectors whole, of long ones block by block. */
#include "mpi/coll/coll.h"
#include "mpi/coll/fold.h"
#include "mpi/coll/sched.h"
#include "mpi/coll/vector.h"

void coll_allreduce_doubling(struct sched *s, const struct coll *c)
{
    struct fold f;
    fold_init(&f, s, c->send.buf, c->recv.buf, c->recv.count, c->recv.type);
    fold_all(&f, c->rank, c->size);
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
