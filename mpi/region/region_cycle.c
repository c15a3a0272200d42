/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How most collectives go through a region: in each operation a member gives its part, if any, and
 * takes the parts that it needs, one after the other. If all wait for each other, several
 * operations can go at once: a member gives all of its parts before it takes any; see region.h.
 */
#include <mpi.h>

#include "mpi/region/region.h"
#include "os/memory/cache.h"

/* Operations whose places are fetched before their turn. A member fetches few of its own: others
 * may not yet have read the previous parts of those further ahead. */
enum { OWN_AHEAD = 4, FETCH_AHEAD = 16, NEXT_AHEAD = 2 };

/* Stages of an operation. */
enum { BEGIN, GIVE, TAKE };

static int cycle(struct region_run *run);

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline int give(struct region_run *run)
{
    struct region *r = run->r;
    int rc = run->chains && run->part_len <= r->shelf
                 ? region_room_in_chain(run, run->number)
                 : region_room(run, run->part_len, run->number);
    if (__builtin_expect(rc, 0))
        return rc;
    if (run->part_len <= REGION_SMALL)
        os_cache_own(region_place(r, r->rank, run->number + OWN_AHEAD), 1);
    run->form->give(run, region_part(r, r->rank, run->number, run->part_len));
    if (!run->chains)
        region_publish(r, run->number);
    return MPI_SUCCESS;
}

/* The root's call has another length: have as many operations as it has, since it waits for nobody and all members
 * number them alike. Bytes behind this member's block are dropped. */
static __attribute__((noinline)) void follow(struct region_run *run, int root)
{
    const struct region *r = run->r;
    uint32_t call = region_place(r, root, run->number)->call;
    if (!run->form->follow || run->at || call == r->call || (call ^ r->call) >> REGION_CALL_KIND)
        return;
    run->bytes = call % (1u << REGION_CALL_KIND);
    run->form->follow(run);
    run->go = cycle;
    run->len = least(run->step, run->end);
    run->part_len = run->len * run->pieces;
}

static inline int take_all(struct region_run *run)
{
    const struct region *r = run->r;
    for (; run->taken < run->takes; run->taken++) {
        int member = coll_around(run->from, run->way * run->taken, r->size);
        int rc = member == r->rank ? MPI_SUCCESS : region_await(run, member, run->number);
        if (rc)
            return rc;
        if (__builtin_expect(r->stranger >= 0, 0))
            follow(run, member);
        /* Not if the member may be just writing there. */
        if ((r->crowded || run->collects) && run->part_len <= REGION_SMALL)
            os_cache_fetch(region_place(r, member, run->number + (r->crowded ? FETCH_AHEAD : NEXT_AHEAD)), 1);
        run->form->take(run, member);
    }
    return MPI_SUCCESS;
}

/* Begin as many operations as go at once. */
static void begin(struct region_run *run)
{
    struct region *r = run->r;
    run->count = 1;
    while (run->count < run->ahead && run->count * run->step < run->end - run->at)
        run->count++;
    run->begins = run->at;
    run->first = r->number + 1;
    r->number += run->count;
}

/* Go to operation i of these. */
static inline void go_to(struct region_run *run, uint32_t i)
{
    run->number = run->first + i;
    run->at = run->begins + i * run->step;
    run->len = least(run->step, run->end - run->at);
    run->part_len = run->len * run->pieces;
}

static inline int give_all(struct region_run *run)
{
    for (; run->turn < run->count; run->turn++) {
        go_to(run, run->turn);
        int rc = run->gives ? give(run) : MPI_SUCCESS;
        if (rc)
            return rc;
    }
    run->turn = 0;
    return MPI_SUCCESS;
}

/* Other members that have come to operations that go at once may be done with none of these. */
static inline void end(struct region_run *run)
{
    struct region *r = run->r;
    if (run->meets)
        region_met(r, run->first);
    if (!run->meets || run->count > 1)
        region_done(r, run->number, run->part_len);
    run->at += run->len;
}

static inline __attribute__((always_inline)) int give_once(struct region_run *run)
{
    int rc = MPI_SUCCESS;
    if (run->stage == BEGIN) {
        run->first = run->number = ++run->r->number;
        run->count = 1;
        run->len = run->end;
        run->part_len = run->end * run->pieces;
        run->stage = GIVE;
    }
    if (run->stage == GIVE && run->gives)
        rc = give(run);
    if (__builtin_expect(!rc, 1))
        run->stage = TAKE;
    return rc;
}

/* It has followed the root. */
static __attribute__((noinline)) int go_on_as_cycle(struct region_run *run)
{
    run->stage = BEGIN;
    run->taken = 0;
    return cycle(run);
}

/* All goes in one operation: most calls are short. */
static int once(struct region_run *run)
{
    int rc = give_once(run);
    if (__builtin_expect(rc, 0))
        return rc;
    rc = take_all(run);
    if (__builtin_expect(rc, 0))
        return rc;
    end(run);
    return __builtin_expect(run->go == once, 1) ? run->failed : go_on_as_cycle(run);
}

static int cycle(struct region_run *run)
{
    while (run->at < run->end) {
        int rc = MPI_SUCCESS;
        if (run->stage == BEGIN)
            begin(run);
        if (run->stage <= GIVE) {
            run->stage = GIVE;
            rc = give_all(run);
        }
        if (rc)
            return rc;
        run->stage = TAKE;
        for (; run->turn < run->count; run->turn++, run->taken = 0) {
            go_to(run, run->turn);
            rc = take_all(run);
            if (rc)
                return rc;
        }
        end(run);
        run->turn = 0;
        run->stage = BEGIN;
    }
    return run->failed;
}

void region_set_cycle(struct region_run *run, const struct region_form *form, size_t end, size_t step)
{
    int rank = run->r->rank;
    run->go = end <= step && (end || form->follow) ? once : cycle; /* a root tells even of no bytes */
    run->form = form;
    run->end = end;
    run->step = step;
    run->at = 0;
    run->pieces = 1;
    run->gives = run->meets = run->chains = false;
    run->from = rank + 1 < run->r->size ? rank + 1 : 0;
    run->way = 1;
    run->turn = 0;
    run->ahead = 1;
    run->takes = 0;
    run->collects = false;
}

/* With half the depth, none waits for room: all are done with the operations before those that went last. */
void region_set_meeting(struct region_run *run)
{
    run->gives = run->meets = true;
    run->ahead = run->r->counts ? REGION_DEPTH / 2 : 1;
}

static int give_ahead(struct region_run *run)
{
    return give_once(run);
}

region_give_fn *region_cycle_ahead(const struct region_run *run)
{
    return run->go == once && !run->chains ? give_ahead : NULL;
}
