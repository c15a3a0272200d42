/* SPDX-License-Identifier: BSD-3-Clause */

/* Running collectives; see coll.h. */
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
