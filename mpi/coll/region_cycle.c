/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How most collectives go through a region: in each operation a member gives its part, where it has
 * one, and takes the parts that it needs, one after the other; see region.h.
 */
#include <mpi.h>

#include "mpi/coll/region.h"

/* Stages of an operation. */
enum { BEGIN, GIVE, TAKE };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline int give(struct region_run *run)
{
    struct region *r = run->r;
    int rc = run->chains && run->part_len <= REGION_SMALL
                 ? region_room_in_chain(run, run->number)
                 : region_room(run, run->part_len, run->number);
    if (__builtin_expect(rc, 0))
        return rc;
    run->form->give(run, region_part(r, r->rank, run->number, run->part_len));
    if (!run->chains)
        region_publish(r, run->number);
    return MPI_SUCCESS;
}

static inline int take_all(struct region_run *run)
{
    const struct region *r = run->r;
    for (; run->taken < run->takes; run->taken++) {
        int member = coll_around(run->from, run->way * run->taken, r->size);
        int rc = member == r->rank ? MPI_SUCCESS : region_await(run, member, run->number);
        if (rc)
            return rc;
        run->form->take(run, member);
    }
    return MPI_SUCCESS;
}

static int cycle(struct region_run *run)
{
    struct region *r = run->r;
    while (run->at < run->end) {
        int rc = MPI_SUCCESS;
        if (run->stage == BEGIN) {
            run->len = least(run->step, run->end - run->at);
            run->part_len = run->len * run->pieces;
            run->number = ++r->number;
            run->stage = GIVE;
        }
        if (run->stage == GIVE && run->gives)
            rc = give(run);
        if (rc)
            return rc;
        run->stage = TAKE;
        rc = take_all(run);
        if (rc)
            return rc;
        if (run->meets)
            region_met(r, run->number);
        else
            region_done(r, run->number, run->part_len);
        run->at += run->len;
        run->taken = 0;
        run->stage = BEGIN;
    }
    return run->failed;
}

void region_set_cycle(struct region_run *run, const struct region_form *form, size_t end, size_t step)
{
    int rank = run->r->rank;
    run->go = cycle;
    run->form = form;
    run->end = end;
    run->step = step;
    run->at = 0;
    run->pieces = 1;
    run->gives = run->meets = run->chains = false;
    run->from = rank + 1 < run->r->size ? rank + 1 : 0;
    run->way = 1;
    run->takes = 0;
}
