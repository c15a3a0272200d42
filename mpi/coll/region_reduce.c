/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reductions through a region: reduce, allreduce, reduce_scatter, scan, exscan. Operands are taken
 * in the order of ranks, whoever computes, so the bits of a result depend on nothing else.
 *
 * Of long vectors each member reduces its share of every chunk, and gives the result in an
 * operation of its own. While results of one chunk are under way the input of the next one is
 * given.
 */
#include <mpi.h>
#include <string.h>

#include "mpi/coll/region.h"

enum {
    WHOLE = 4096,   /* bytes up to which each of few members reduces all that it is to get */
    AT_ROOT = 65536 /* bytes up to which the root reduces all */
};

/* A reduction of dense elements, which are taken chunk by chunk. */
struct reducing {
    struct region *r;
    const struct coll *c;
    const char *input;
    char *result; /* NULL: not at this member */
    size_t size;  /* bytes of an element */
    MPI_Count count, step; /* elements: in all, of a chunk */
};

static void begin(struct reducing *a, struct region *r, const struct coll *c)
{
    a->r = r;
    a->c = c;
    a->result = c->recv.buf;
    a->input = c->send.buf == MPI_IN_PLACE ? c->recv.buf : c->send.buf;
    a->size = (size_t)coll_size(c->recv.type);
    a->count = c->recv.count;
    a->step = (MPI_Count)(r->chunk / a->size);
}

static MPI_Count least(MPI_Count a, MPI_Count b)
{
    return a < b ? a : b;
}

static void put(unsigned char *part, const char *from, size_t len)
{
    struct mpid_bytes bytes = {.base = (void *)(uintptr_t)from, .len = len};
    region_put(part, &bytes, 0, len);
}

/* Open an operation, and copy len bytes into this member's part, or leave it as it is (NULL). */
static int open_with(const struct reducing *a, const char *from, size_t len, uint32_t *number)
{
    int rc = region_open(a->r, len, number);
    if (!rc && from)
        put(region_part(a->r, a->r->rank, *number, len), from, len);
    return rc;
}

/* Where the operands of a piece of a chunk are: in the members' parts, which have the whole length
 * len, from byte offset on; this member's own stand at own. */
struct operands {
    uint32_t number;
    size_t len, offset;
    const char *own;
    MPI_Count count;
};

static const void *operand(const struct reducing *a, const struct operands *o, int member)
{
    if (member == a->r->rank)
        return o->own;
    return region_part(a->r, member, o->number, o->len) + o->offset;
}

/* The operands of the members from first to last into to, which may be where this member's own
 * stand, where it is the last. All have been given. */
static int fold(const struct reducing *a, const struct operands *o, int first, int last, void *to)
{
    const struct coll *c = a->c;
    const void *from = operand(a, o, last);
    int rc = MPI_SUCCESS;
    if (from != to)
        memcpy(to, from, (size_t)o->count * a->size);
    for (int i = last - 1; i >= first && !rc; i--)
        rc = op_apply(c->op, operand(a, o, i), to, o->count, c->recv.type);
    return rc;
}

static int await_members(struct region *r, int first, int last, uint32_t number)
{
    int rc = MPI_SUCCESS;
    for (int i = first; i <= last && !rc; i++)
        if (i != r->rank)
            rc = region_await(r, i, number);
    return rc;
}

/* ---- one member reduces all ---- */

/* Into the result, by way of this member's own part where its input stands there. */
static int fold_result(const struct reducing *a, const struct operands *o, char *to)
{
    struct region *r = a->r;
    int last = r->size - 1;
    void *through = to;
    if (o->own == to && r->rank != last)
        through = region_part(r, r->rank, o->number, o->len);
    int rc = fold(a, o, 0, last, through);
    if (through != to)
        memcpy(to, through, (size_t)o->count * a->size);
    return rc;
}

static int reduce_at_root(struct reducing *a)
{
    struct region *r = a->r;
    bool is_root = r->rank == a->c->root;
    int rc = MPI_SUCCESS, failed = MPI_SUCCESS;
    for (MPI_Count first = 0; first < a->count && !rc; first += a->step) {
        struct operands o = {.count = least(a->step, a->count - first)};
        size_t at = (size_t)first * a->size;
        o.len = (size_t)o.count * a->size;
        o.own = a->input + at;
        rc = open_with(a, is_root ? NULL : o.own, o.len, &o.number);
        if (!rc && !is_root)
            region_publish(r, o.number);
        if (!rc && is_root)
            rc = await_members(r, 0, r->size - 1, o.number);
        if (!rc && is_root && !failed)
            failed = fold_result(a, &o, a->result + at);
        region_done(r, o.number);
    }
    return rc ? rc : failed;
}

/* ---- each member reduces a share ---- */

enum { SHARE_GRAIN = 16 }; /* elements */

/* Where a member's share of a chunk of so many elements begins. */
static MPI_Count share(const struct reducing *a, MPI_Count count, int member)
{
    return member == a->r->size ? count : count * member / a->r->size / SHARE_GRAIN * SHARE_GRAIN;
}

/* A chunk on its way. */
struct flying {
    MPI_Count first, count;
    uint32_t input, result; /* operations */
};

static struct flying *chunk_at(struct flying chunks[4], MPI_Count i)
{
    return &chunks[i % 4];
}

/* All but the own share, which nobody else reads. */
static int give_input(const struct reducing *a, struct flying *k)
{
    struct region *r = a->r;
    const char *from = a->input + (size_t)k->first * a->size;
    size_t len = (size_t)k->count * a->size;
    size_t begin = (size_t)share(a, k->count, r->rank) * a->size;
    size_t end = (size_t)share(a, k->count, r->rank + 1) * a->size;
    int rc = region_open(r, len, &k->input);
    if (rc)
        return rc;
    unsigned char *part = region_part(r, r->rank, k->input, len);
    put(part, from, begin);
    put(part + end, from + end, len - end);
    region_publish(r, k->input);
    return MPI_SUCCESS;
}

static int give_result(const struct reducing *a, struct flying *k, int *failed)
{
    struct region *r = a->r;
    MPI_Count begin = share(a, k->count, r->rank), end = share(a, k->count, r->rank + 1);
    struct operands o = {.number = k->input,
                         .len = (size_t)k->count * a->size,
                         .offset = (size_t)begin * a->size,
                         .count = end - begin};
    size_t at = (size_t)(k->first + begin) * a->size, len = (size_t)o.count * a->size;
    o.own = a->input + at;
    int rc = region_open(r, len, &k->result);
    if (!rc)
        rc = await_members(r, 0, r->size - 1, k->input);
    if (rc)
        return rc;
    unsigned char *part = region_part(r, r->rank, k->result, len);
    if (len && !*failed)
        *failed = fold(a, &o, 0, r->size - 1, part);
    region_publish(r, k->result);
    if (a->result)
        memcpy(a->result + at, part, len);
    return MPI_SUCCESS;
}

static int take_results(const struct reducing *a, const struct flying *k)
{
    struct region *r = a->r;
    int rc = MPI_SUCCESS;
    for (int i = 1; i < r->size && a->result && !rc; i++) {
        int from = coll_around(r->rank, i, r->size);
        MPI_Count begin = share(a, k->count, from), end = share(a, k->count, from + 1);
        size_t len = (size_t)(end - begin) * a->size;
        rc = region_await(r, from, k->result);
        if (!rc)
            memcpy(a->result + (size_t)(k->first + begin) * a->size,
                   region_part(r, from, k->result, len), len);
    }
    region_done(r, k->result);
    return rc;
}

static int reduce_by_shares(struct reducing *a)
{
    MPI_Count chunks = (a->count + a->step - 1) / a->step;
    struct flying under_way[4];
    int rc = MPI_SUCCESS, failed = MPI_SUCCESS;
    for (MPI_Count i = 0; i < chunks + 2 && !rc; i++) {
        if (i < chunks) {
            struct flying *k = chunk_at(under_way, i);
            k->first = i * a->step;
            k->count = least(a->step, a->count - k->first);
            rc = give_input(a, k);
        }
        if (!rc && i >= 1 && i <= chunks)
            rc = give_result(a, chunk_at(under_way, i - 1), &failed);
        if (!rc && i >= 2)
            rc = take_results(a, chunk_at(under_way, i - 2));
    }
    return rc ? rc : failed;
}

/* ---- the collectives ---- */

int region_reduce(struct region *r, const struct coll *c)
{
    struct reducing a;
    begin(&a, r, c);
    if (r->rank != c->root) {
        a.input = c->send.buf;
        a.result = NULL;
    }
    return r->size > 3 && (size_t)a.count * a.size > AT_ROOT ? reduce_by_shares(&a)
                                                              : reduce_at_root(&a);
}

int region_allreduce(struct region *r, const struct coll *c)
{
    struct reducing a;
    size_t len = (size_t)type_constant_bytes(c->recv.type, c->recv.count);
    size_t most = r->counts ? REGION_RESULT : WHOLE;
    if (len <= REGION_SMALL || (len <= most && len <= r->chunk))
        return region_allreduce_short(r, c);
    begin(&a, r, c);
    return reduce_by_shares(&a);
}

/* A part has a piece for each member, whose elements follow each other. */
int region_reduce_scatter(struct region *r, const struct coll *c)
{
    struct reducing a;
    int rc = MPI_SUCCESS, failed = MPI_SUCCESS;
    begin(&a, r, c);
    size_t block = (size_t)a.count * a.size;
    a.step = (MPI_Count)(r->chunk / (size_t)r->size / a.size);
    for (MPI_Count first = 0; first < a.count && !rc; first += a.step) {
        struct operands o = {.count = least(a.step, a.count - first)};
        size_t at = (size_t)first * a.size, piece = (size_t)o.count * a.size;
        o.len = piece * (size_t)r->size;
        o.offset = piece * (size_t)r->rank;
        o.own = a.input + block * (size_t)r->rank + at;
        rc = region_open(r, o.len, &o.number);
        if (rc)
            break;
        unsigned char *part = region_part(r, r->rank, o.number, o.len);
        for (int i = 0; i < r->size; i++)
            put(part + piece * (size_t)i, a.input + block * (size_t)i + at, piece);
        o.own = (const char *)part + o.offset; /* the result may lie over the input */
        region_publish(r, o.number);
        rc = await_members(r, 0, r->size - 1, o.number);
        if (!rc && !failed)
            failed = fold(&a, &o, 0, r->size - 1, a.result + at);
        region_met(r, o.number);
    }
    return rc ? rc : failed;
}

int region_scan(struct region *r, const struct coll *c)
{
    struct reducing a;
    int rc = MPI_SUCCESS, failed = MPI_SUCCESS;
    int last = c->kind == COLL_SCAN ? r->rank : r->rank - 1;
    begin(&a, r, c);
    for (MPI_Count first = 0; first < a.count && !rc; first += a.step) {
        struct operands o = {.count = least(a.step, a.count - first)};
        size_t at = (size_t)first * a.size;
        o.len = (size_t)o.count * a.size;
        rc = open_with(&a, a.input + at, o.len, &o.number);
        if (rc)
            break;
        o.own = (const char *)region_part(r, r->rank, o.number, o.len);
        region_publish(r, o.number);
        rc = await_members(r, 0, last, o.number);
        if (!rc && !failed && last >= 0)
            failed = fold(&a, &o, 0, last, a.result + at);
        region_done(r, o.number);
    }
    return rc ? rc : failed;
}
