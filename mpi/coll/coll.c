/* SPDX-License-Identifier: BSD-3-Clause */

/* Running collectives, and the simplest one, the barrier; see coll.h. */
#include "mpi/coll/coll.h"

#include "mpi/coll/sched.h"

int coll_run(const struct coll *c)
{
    struct sched s;
    sched_init(&s, c->comm, c->op);
    coll_choose(c)(&s, c);
    return sched_run(&s);
}

struct coll_block coll_block(const struct coll_data *data, int rank)
{
    struct coll_block block = {data->buf, data->count, data->type};
    if (data->types)
        block.type = data->types[rank];
    if (data->counts)
        block.count = data->counts[rank];
    if (data->types)
        block.buf = (void *)((uintptr_t)data->buf + (uintptr_t)data->displs[rank]);
    else
        block.buf = coll_at(data->buf, data->displs ? data->displs[rank] : data->count * rank,
                            data->type);
    return block;
}

/* Dissemination: after round k, each process has heard, directly or not, from the 2^k before it. */
void coll_barrier(struct sched *s, const struct coll *c)
{
    int size = c->comm->size, rank = c->comm->rank;
    for (int64_t step = 1; step < size; step *= 2) {
        sched_signal(s, coll_around(rank, (int)step, size));
        sched_await(s, coll_around(rank, -(int)step, size));
        sched_wait(s);
    }
}
