/* SPDX-License-Identifier: BSD-3-Clause */

/* Barriers: all hear from each other in O(log n) rounds; or up a tree, and down. */
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"

/* Dissemination: after round k, each process has heard, directly or not, from the 2^k before it. */
void coll_barrier_dissemination(struct sched *s, const struct coll *c)
{
    int size = c->size, rank = c->rank;
    for (int64_t step = 1; step < size; step *= 2) {
        sched_signal(s, coll_around(rank, (int)step, size));
        sched_await(s, coll_around(rank, -(int)step, size));
        sched_wait(s);
    }
}

/* ---- tree: process i has the children 2i + 1 and 2i + 2 ---- */

enum { CHILDREN = 2 };

void coll_barrier_up(struct sched *s, const struct coll *c)
{
    for (int64_t i = 1; i <= CHILDREN; i++)
        if (CHILDREN * (int64_t)c->rank + i < c->size)
            sched_await(s, CHILDREN * c->rank + (int)i);
    sched_wait(s);
    if (c->rank > 0)
        sched_signal(s, (c->rank - 1) / CHILDREN);
}

void coll_barrier_down(struct sched *s, const struct coll *c)
{
    if (c->rank > 0)
        sched_await(s, (c->rank - 1) / CHILDREN);
    sched_wait(s);
    for (int64_t i = 1; i <= CHILDREN; i++)
        if (CHILDREN * (int64_t)c->rank + i < c->size)
            sched_signal(s, CHILDREN * c->rank + (int)i);
}

void coll_barrier_tree(struct sched *s, const struct coll *c)
{
    coll_barrier_up(s, c);
    coll_barrier_down(s, c);
}
