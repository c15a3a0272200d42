/* SPDX-License-Identifier: BSD-3-Clause */

/* Dissemination: after round k, each process has heard, directly or not, from the 2^k before it. */
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"

void coll_barrier(struct sched *s, const struct coll *c)
{
    int size = c->comm->size, rank = c->comm->rank;
    for (int64_t step = 1; step < size; step *= 2) {
        sched_signal(s, coll_around(rank, (int)step, size));
        sched_await(s, coll_around(rank, -(int)step, size));
        sched_wait(s);
    }
}
