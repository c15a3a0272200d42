/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives after which all members know of each other, and that carry little: barrier, and
 * allreduce of data that fit into one part; see region.h. Few members look at each other's words,
 * and each computes the result for itself; many are counted, and the last one computes it for all.
 * Operands are taken in the order of ranks in either case, so the result is the same bits at all
 * members.
 */
#include <mpi.h>
#include <string.h>

#include "mpi/region/region.h"

enum { BEGIN, GIVE, MEET };

/* Take in the operand of one of the members, from the last to the first. */
static inline void fold(struct region_run *run, int member, void *to)
{
    const struct region *r = run->r;
    const struct coll *c = run->c;
    const void *from = region_part(r, member, run->number, run->bytes);
    if (member == r->size - 1)
        memcpy(to, from, run->bytes);
    else if (!run->failed)
        run->failed = op_apply(c->op, from, to, c->recv.count, c->recv.type);
}

/* Begin the operation, and write this member's part of so many bytes. */
static inline __attribute__((always_inline)) int give(struct region_run *run, size_t len)
{
    struct region *r = run->r;
    const struct coll *c = run->c;
    if (run->stage == BEGIN)
        run->number = ++r->number;
    run->stage = GIVE;
    int rc = region_room(run, len, run->number);
    if (__builtin_expect(rc, 0))
        return rc;
    if (len)
        memcpy(region_part(r, r->rank, run->number, len),
               c->send.buf == MPI_IN_PLACE ? c->recv.buf : c->send.buf, len);
    run->stage = MEET;
    return MPI_SUCCESS;
}

static inline __attribute__((always_inline)) int give_where_all_look(struct region_run *run, size_t len)
{
    int rc = MPI_SUCCESS;
    if (run->stage < MEET) {
        rc = give(run, len);
        if (__builtin_expect(!rc, 1))
            region_publish(run->r, run->number);
    }
    return rc;
}

/* The barrier of few. */
static int hear_each(struct region_run *run)
{
    struct region *r = run->r;
    int rc = give_where_all_look(run, 0);
    if (__builtin_expect(rc, 0))
        return rc;
    for (; run->taken < r->size; run->taken++) {
        rc = run->taken == r->rank ? MPI_SUCCESS : region_await(run, run->taken, run->number);
        if (rc)
            return rc;
    }
    region_met(r, run->number);
    return MPI_SUCCESS;
}

/* The allreduce of few. */
static int look_at_each(struct region_run *run)
{
    struct region *r = run->r;
    int rc = give_where_all_look(run, run->bytes);
    if (__builtin_expect(rc, 0))
        return rc;
    for (; run->taken < r->size; run->taken++) {
        int member = r->size - 1 - run->taken;
        rc = member == r->rank ? MPI_SUCCESS : region_await(run, member, run->number);
        if (rc)
            return rc;
        fold(run, member, run->c->recv.buf);
    }
    region_met(r, run->number);
    return run->failed;
}

static int give_and_count(struct region_run *run)
{
    struct region *r = run->r;
    if (run->stage == MEET)
        return MPI_SUCCESS;
    int rc = give(run, run->bytes);
    if (rc)
        return rc;
    if (region_arrive(r)) {
        for (int i = r->size - 1; run->bytes && r->stranger < 0 && i >= 0; i--)
            fold(run, i, r->sync->result);
        region_release(r);
    }
    return MPI_SUCCESS;
}

static int count(struct region_run *run)
{
    struct region *r = run->r;
    int rc = give_and_count(run);
    if (!rc)
        rc = region_released(run);
    if (rc)
        return rc;
    if (run->bytes)
        memcpy(run->c->recv.buf, r->sync->result, run->bytes);
    region_met(r, run->number);
    return run->failed;
}

void region_meet(struct region_run *run)
{
    run->go = run->r->counts ? count : run->bytes ? look_at_each : hear_each;
}

static int give_for_all(struct region_run *run)
{
    return give_where_all_look(run, run->bytes);
}

region_give_fn *region_meet_ahead(const struct region_run *run)
{
    return run->go == count ? give_and_count : run->go == hear_each || run->go == look_at_each ? give_for_all : NULL;
}
