/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives after which all members know of each other, and that carry little: barrier, and
 * allreduce of what fits beside a word; see region.h. Few members look at each other's words, and
 * each computes the result for itself; many are counted, and the last one computes it for all.
 * Operands are taken in the order of ranks in either case, so the result is the same bits at all
 * members.
 */
#include <mpi.h>
#include <string.h>

#include "mpi/coll/region.h"

/* Wait for all others' parts. */
static int await_all(struct region *r, uint32_t number)
{
    for (int i = r->rank + 1; i < r->size; i++) {
        int rc = region_await(r, i, number);
        if (rc)
            return rc;
    }
    for (int i = 0; i < r->rank; i++) {
        int rc = region_await(r, i, number);
        if (rc)
            return rc;
    }
    return MPI_SUCCESS;
}

int region_barrier(struct region *r, const struct coll *c)
{
    uint32_t number;
    (void)c;
    int rc = region_open(r, 0, &number);
    if (rc)
        return rc;
    if (r->counts) {
        rc = region_meet(r, NULL, NULL);
    } else {
        region_publish(r, number);
        rc = await_all(r, number);
    }
    region_met(r, number);
    return rc;
}

/* ---- allreduce ---- */

struct reduction {
    struct region *r;
    const struct coll *c;
    uint32_t number;
    size_t len;
    int rc;
};

/* All members' parts, into to. */
static int reduce(const struct reduction *a, void *to)
{
    const struct region *r = a->r;
    const struct coll_data *data = &a->c->recv;
    int last = r->size - 1, rc = MPI_SUCCESS;
    memcpy(to, region_part(r, last, a->number, a->len), a->len);
    for (int i = last - 1; i >= 0 && !rc; i--)
        rc = op_apply(a->c->op, region_part(r, i, a->number, a->len), to, data->count, data->type);
    return rc;
}

static void reduce_for_all(void *arg)
{
    struct reduction *a = arg;
    a->rc = reduce(a, a->r->head->result);
}

int region_allreduce_short(struct region *r, const struct coll *c)
{
    const void *input = c->send.buf == MPI_IN_PLACE ? c->recv.buf : c->send.buf;
    struct reduction a = {.r = r, .c = c};
    a.len = (size_t)type_constant_bytes(c->recv.type, c->recv.count);
    int rc = region_open(r, a.len, &a.number);
    if (rc)
        return rc;
    if (a.len)
        memcpy(region_part(r, r->rank, a.number, a.len), input, a.len);
    if (r->counts) {
        rc = region_meet(r, reduce_for_all, &a);
        if (!rc && a.len)
            memcpy(c->recv.buf, r->head->result, a.len);
    } else {
        region_publish(r, a.number);
        rc = await_all(r, a.number);
        if (!rc && a.len)
            rc = reduce(&a, c->recv.buf);
    }
    region_met(r, a.number);
    return rc ? rc : a.rc;
}
