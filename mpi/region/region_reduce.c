/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reductions through a region: reduce, allreduce, reduce_scatter, scan, exscan. Operands are taken
 * in the order of ranks at every member, so the bits of a result depend on nothing else.
 *
 * Of long vectors each member reduces its share of every chunk, and gives the result in an
 * operation of its own. While results of one chunk are under way the input of the next one is
 * given.
 */
#include <mpi.h>
#include <string.h>

#include "mpi/region/region.h"

enum {
    WHOLE = 4096,   /* bytes up to which each of few members reduces all that it is to get */
    AT_ROOT = 65536, /* bytes up to which the root reduces all */
    AT_ROOT_CROWDED = 524288 /* the same where ranks outnumber processors: nobody waits for the root */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void put(unsigned char *part, const char *from, size_t len)
{
    struct mpid_bytes bytes = {.base = (void *)(uintptr_t)from, .len = len};
    if (len <= REGION_SMALL)
        memcpy(part, from, len);
    else
        region_put(part, &bytes, 0, len);
}

/* Elements are dense; at most so many bytes of them go in one operation. */
static void begin(struct region_run *run, const struct region_form *form, size_t most)
{
    const struct coll *c = run->c;
    run->result = c->recv.buf;
    run->input = c->send.buf == MPI_IN_PLACE ? c->recv.buf : c->send.buf;
    run->element = (size_t)coll_size(c->recv.type);
    region_set_cycle(run, form, run->bytes, most / run->element * run->element);
}

static int apply(const struct region_run *run, const void *from, void *to, size_t len)
{
    return op_apply(run->c->op, from, to, (MPI_Count)(len / run->element), run->c->recv.type);
}

/* ---- each operation is reduced as its parts come, from the last member to the first ---- */

static void give_input(struct region_run *run, unsigned char *part)
{
    put(part, run->input + run->at, run->len);
}

/* This member's own operand stands in its part, if it gives one. */
static void fold(struct region_run *run, int member)
{
    const struct region *r = run->r;
    size_t piece = run->pieces > 1 ? run->len * (size_t)r->rank : 0;
    const void *from = region_part(r, member, run->number, run->part_len) + piece;
    void *to = run->result + run->at;
    if (member == r->rank && !run->gives)
        from = run->input + run->at;
    if (run->taken == 0 && from != to)
        memcpy(to, from, run->len);
    else if (run->taken && !run->failed)
        run->failed = apply(run, from, to, run->len);
}

static const struct region_form inputs = {give_input, fold, NULL};

static void fold_down(struct region_run *run)
{
    run->takes = run->r->size;
    run->from = run->takes - 1;
    run->way = -1;
}

/* A part has a piece for each member. */
static void give_pieces(struct region_run *run, unsigned char *part)
{
    const char *block = run->input;
    for (int i = 0; i < run->r->size; i++, block += run->end)
        put(part + run->len * (size_t)i, block + run->at, run->len);
}

void region_reduce_scatter(struct region_run *run)
{
    static const struct region_form form = {give_pieces, fold, NULL};
    begin(run, &form, run->r->chunk / (size_t)run->r->size);
    fold_down(run);
    run->pieces = (size_t)run->r->size;
    region_set_meeting(run);
}

/* The root's input is put into its part where the result is to come over it. */
static void reduce_at_root(struct region_run *run)
{
    const struct region *r = run->r;
    bool is_root = r->rank == run->c->root;
    fold_down(run);
    run->gives = !is_root || (run->input == run->result && r->rank != r->size - 1);
    run->collects = is_root;
    if (!is_root)
        run->takes = 0;
}

/* ---- scans: along a chain, each member takes the part of the one before ---- */

/* The operand of this member stands in its part, for the one behind. */
static void pass_on(struct region_run *run, int before)
{
    const struct region *r = run->r;
    unsigned char *mine = region_part(r, r->rank, run->number, run->len);
    const unsigned char *theirs = r->rank ? region_part(r, before, run->number, run->len) : NULL;
    if (theirs && !run->failed)
        run->failed = apply(run, theirs, mine, run->len);
    region_publish(run->r, run->number);
    const unsigned char *result = run->c->kind == COLL_SCAN ? mine : theirs;
    if (result)
        memcpy(run->result + run->at, result, run->len);
}

/* The last member gives nothing. */
static void end_chain(struct region_run *run, int before)
{
    const unsigned char *theirs = region_part(run->r, before, run->number, run->len);
    const char *input = run->input + run->at;
    char *to = run->result + run->at;
    bool is_scan = run->c->kind == COLL_SCAN;
    if (!is_scan)
        memcpy(to, theirs, run->len);
    else if (input != to)
        memcpy(to, input, run->len);
    if (is_scan && !run->failed)
        run->failed = apply(run, theirs, to, run->len);
}

void region_scan(struct region_run *run)
{
    static const struct region_form links = {give_input, pass_on, NULL}, last = {NULL, end_chain, NULL};
    const struct region *r = run->r;
    bool is_last = r->rank + 1 == r->size;
    begin(run, is_last ? &last : &links, r->chunk);
    run->gives = !is_last;
    run->chains = true;
    run->from = r->rank ? r->rank - 1 : 0;
    run->takes = 1;
}

/* ---- each member reduces a share ---- */

enum { SHARE_GRAIN = 16 }; /* elements */

/* Where a member's share of a chunk of so many bytes begins. */
static size_t share(const struct region_run *run, size_t len, int member)
{
    size_t size = (size_t)run->r->size, count = len / run->element;
    return (size_t)member == size
               ? len
               : count * (size_t)member / size / SHARE_GRAIN * SHARE_GRAIN * run->element;
}

static struct region_flying *chunk_at(struct region_run *run, size_t i)
{
    return &run->flying[i % 4];
}

static size_t chunks(const struct region_run *run)
{
    return (run->end + run->step - 1) / run->step;
}

static int begin_chunk(struct region_run *run)
{
    struct region_flying *k = chunk_at(run, run->turn);
    if (run->turn >= chunks(run))
        return MPI_SUCCESS;
    k->at = run->turn * run->step;
    k->len = least(run->step, run->end - k->at);
    k->input = run->number = ++run->r->number;
    return MPI_SUCCESS;
}

/* All but the own share, which nobody else reads. */
static int give_chunk(struct region_run *run)
{
    struct region *r = run->r;
    const struct region_flying *k = chunk_at(run, run->turn);
    if (run->turn >= chunks(run))
        return MPI_SUCCESS;
    int rc = region_room(run, k->len, k->input);
    if (rc)
        return rc;
    const char *from = run->input + k->at;
    size_t begin = share(run, k->len, r->rank), end = share(run, k->len, r->rank + 1);
    unsigned char *part = region_part(r, r->rank, k->input, k->len);
    put(part, from, begin);
    put(part + end, from + end, k->len - end);
    region_publish(r, k->input);
    return MPI_SUCCESS;
}

/* The chunk before this turn's. */
static struct region_flying *chunk_to_reduce(struct region_run *run)
{
    return run->turn >= 1 && run->turn <= chunks(run) ? chunk_at(run, run->turn - 1) : NULL;
}

static int begin_result(struct region_run *run)
{
    struct region_flying *k = chunk_to_reduce(run);
    if (k)
        k->result = run->number = ++run->r->number;
    return MPI_SUCCESS;
}

/* The operands of this member's share, of len bytes from byte at of the chunk on, to its part. */
static void reduce_share(struct region_run *run, const struct region_flying *k, size_t at, size_t len,
                         unsigned char *to)
{
    const struct region *r = run->r;
    for (int i = r->size - 1; i >= 0 && !run->failed; i--) {
        const void *from = i == r->rank ? (const void *)(run->input + k->at + at)
                                        : region_part(r, i, k->input, k->len) + at;
        if (i == r->size - 1)
            memcpy(to, from, len);
        else
            run->failed = apply(run, from, to, len);
    }
}

static int give_result(struct region_run *run)
{
    struct region *r = run->r;
    const struct region_flying *k = chunk_to_reduce(run);
    if (!k)
        return MPI_SUCCESS;
    size_t at = share(run, k->len, r->rank), len = share(run, k->len, r->rank + 1) - at;
    int rc = region_room(run, len, k->result);
    for (; run->taken < r->size && !rc; run->taken += !rc)
        if (run->taken != r->rank)
            rc = region_await(run, run->taken, k->input);
    if (rc)
        return rc;
    unsigned char *part = region_part(r, r->rank, k->result, len);
    if (len)
        reduce_share(run, k, at, len, part);
    region_publish(r, k->result);
    if (run->result)
        memcpy(run->result + k->at + at, part, len);
    return MPI_SUCCESS;
}

/* Of the chunk before that one. */
static int take_results(struct region_run *run)
{
    struct region *r = run->r;
    if (run->turn < 2)
        return MPI_SUCCESS;
    const struct region_flying *k = chunk_at(run, run->turn - 2);
    for (; run->result && run->taken < r->size - 1; run->taken++) {
        int from = coll_around(r->rank, run->taken + 1, r->size);
        size_t begin = share(run, k->len, from), end = share(run, k->len, from + 1);
        int rc = region_await(run, from, k->result);
        if (rc)
            return rc;
        memcpy(run->result + k->at + begin, region_part(r, from, k->result, end - begin),
               end - begin);
    }
    region_done(r, k->result, r->chunk);
    return MPI_SUCCESS;
}

static int reduce_by_shares(struct region_run *run)
{
    static int (*const stages[])(struct region_run *run) = {begin_chunk, give_chunk, begin_result,
                                                            give_result, take_results};
    enum { STAGES = sizeof(stages) / sizeof(*stages) };
    while (run->turn < chunks(run) + 2) {
        int rc = stages[run->stage](run);
        if (rc)
            return rc;
        run->taken = 0;
        run->stage = run->stage + 1 < STAGES ? run->stage + 1 : 0;
        run->turn += run->stage == 0;
    }
    return run->failed;
}

/* ---- those that choose ---- */

static void by_shares(struct region_run *run)
{
    run->go = reduce_by_shares;
    run->turn = 0;
}

void region_reduce(struct region_run *run)
{
    begin(run, &inputs, run->r->chunk);
    if (run->r->rank != run->c->root) {
        run->input = run->c->send.buf;
        run->result = NULL;
    }
    if (run->r->size > 3 && run->end > (size_t)(run->r->crowded ? AT_ROOT_CROWDED : AT_ROOT))
        by_shares(run);
    else
        reduce_at_root(run);
}

void region_allreduce(struct region_run *run)
{
    const struct region *r = run->r;
    size_t most = r->counts ? REGION_RESULT : WHOLE;
    if (run->bytes <= REGION_SMALL || (run->bytes <= most && run->bytes <= r->chunk)) {
        region_meet(run);
        return;
    }
    begin(run, &inputs, r->chunk);
    by_shares(run);
}
