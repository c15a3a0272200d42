/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives that move data through a region: bcast, gather, scatter, allgather, alltoall. Each
 * chunk of the data is an operation: the giver copies into its place, and others copy out of it
 * meanwhile. Blocks of allgather may differ in size: the shorter ones end earlier.
 */
#include <mpi.h>
#include <string.h>

#include "mpi/region/region.h"

struct mpid_bytes region_block_slow(const struct coll_data *data, int rank)
{
    struct coll_block block = coll_block(data, rank);
    struct mpid_bytes bytes = {.len = 0};
    struct type *used;
    (void)type_place(block.type, block.buf, block.count, &bytes, &used); /* it has been checked */
    return bytes;
}

enum { STREAM = 53248 }; /* bytes of a long bcast in an operation: see stream_step() */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* With nothing to copy there may be no memory. */
static inline void copy_dense(void *to, const void *from, size_t len)
{
    if (len)
        memcpy(to, from, len);
}

/* How much of a block of len bytes goes in this operation. */
static size_t rest_of(const struct region_run *run, size_t len)
{
    return len > run->at ? least(run->len, len - run->at) : 0;
}

static inline void give_block(const struct region_run *run, unsigned char *part, struct mpid_bytes from)
{
    size_t len = rest_of(run, from.len);
    if (len <= REGION_SMALL && !from.layout)
        copy_dense(part, (const char *)from.base + run->at, len);
    else if (len)
        region_put(part, &from, run->at, len);
}

static inline void take_block(const struct region_run *run, const unsigned char *part, struct mpid_bytes to)
{
    size_t len = rest_of(run, to.len);
    if (!to.layout)
        copy_dense((char *)to.base + run->at, part, len);
    else if (len)
        type_unpack(&to, run->at, part, len);
}

static const unsigned char *part_of(const struct region_run *run, int member)
{
    return region_part(run->r, member, run->number, run->part_len);
}

/* The block that this member has for all. */
static inline struct mpid_bytes own_block(const struct region_run *run)
{
    const struct coll *c = run->c;
    if (c->kind == COLL_BCAST)
        return region_block(&c->recv, 0);
    return c->send.buf == MPI_IN_PLACE ? region_block(&c->recv, run->r->rank) : region_block(&c->send, 0);
}

static void give_own(struct region_run *run, unsigned char *part)
{
    give_block(run, part, own_block(run));
}

/* The part of a member into its block, or into the only one. */
static void take_its(struct region_run *run, int member)
{
    bool many = run->c->kind == COLL_GATHER || run->c->kind == COLL_ALLGATHER;
    take_block(run, part_of(run, member), region_block(&run->c->recv, many ? member : 0));
}

void region_copy_own(struct region_run *run)
{
    const struct coll *c = run->c;
    if (c->send.buf == MPI_IN_PLACE || c->recv.buf == MPI_IN_PLACE)
        return;
    bool many = c->kind == COLL_SCATTER || c->kind == COLL_ALLTOALL; /* blocks to choose from */
    int me = run->r->rank;
    int out_at = many ? me : 0, in_at = c->kind == COLL_SCATTER ? 0 : me;
    struct mpid_bytes from = region_block(&c->send, out_at), to = region_block(&c->recv, in_at);
    if (!from.layout && !to.layout && from.len <= to.len && from.base != to.base) {
        copy_dense(to.base, from.base, from.len);
        return;
    }
    struct coll_block out = coll_block(&c->send, out_at), in = coll_block(&c->recv, in_at);
    run->failed = type_copy(out.buf, out.count, out.type, in.buf, in.count, in.type);
}

/* ---- one gives to all, or all to one ---- */

static region_prepare follow;
static const struct region_form blocks = {give_own, take_its, NULL}, blocks_of_root = {give_own, take_its, follow};

/* Of long chunks a bcast takes only the beginning, so that all that its operations write in turn stays in the
 * processors' own caches. Lines that have left these for a shared one can take three times as long to write again. */
static size_t stream_step(const struct region *r, size_t len)
{
    return len < 2 * STREAM ? r->chunk : least(r->chunk, STREAM);
}

void region_bcast(struct region_run *run)
{
    bool is_root = run->r->rank == run->c->root;
    region_set_cycle(run, &blocks_of_root, run->bytes, stream_step(run->r, run->bytes));
    run->gives = is_root;
    run->takes = !is_root;
    run->from = run->c->root;
}

void region_gather(struct region_run *run)
{
    bool is_root = run->r->rank == run->c->root;
    region_set_cycle(run, &blocks, run->bytes, run->r->chunk);
    run->gives = !is_root;
    run->takes = is_root ? run->r->size - 1 : 0;
    run->collects = is_root;
    if (is_root)
        region_copy_own(run);
}

/* ---- the root gives to each, maybe into their chunks ---- */

/* The block for a member: among the pieces of the root's part if all fit there, otherwise in the
 * chunk of the member. */
static unsigned char *piece_for(const struct region_run *run, unsigned char *part, int member)
{
    if (run->part_len <= run->r->chunk)
        return part + run->len * (size_t)member;
    return region_part(run->r, member, run->number, run->part_len);
}

static void give_each(struct region_run *run, unsigned char *part)
{
    for (int i = 0; i < run->r->size; i++)
        if (i != run->r->rank)
            give_block(run, piece_for(run, part, i), region_block(&run->c->send, i));
}

static void take_own(struct region_run *run, int root)
{
    unsigned char *part = region_part(run->r, root, run->number, run->part_len);
    take_block(run, piece_for(run, part, run->r->rank), region_block(&run->c->recv, 0));
}

void region_scatter(struct region_run *run)
{
    static const struct region_form each = {give_each, take_own, follow};
    bool is_root = run->r->rank == run->c->root;
    region_set_cycle(run, &each, run->bytes, run->r->chunk);
    run->pieces = (size_t)run->r->size;
    run->gives = is_root;
    run->takes = !is_root;
    run->from = run->c->root;
    if (is_root)
        region_copy_own(run);
}

/* ---- the root's call goes by messages ---- */

static int64_t bytes_of(const struct coll *c)
{
    const struct coll_data *data = c->kind == COLL_SCATTER && c->rank == c->root ? &c->send : &c->recv;
    return data->count * coll_size(data->type);
}

static void give_bytes(struct region_run *run, unsigned char *part)
{
    run->root_bytes = bytes_of(run->c);
    memcpy(part, &run->root_bytes, sizeof(run->root_bytes));
    run->failed = REGION_BY_MESSAGES;
}

static void take_bytes(struct region_run *run, int root)
{
    memcpy(&run->root_bytes, part_of(run, root), sizeof(run->root_bytes));
    run->failed = REGION_BY_MESSAGES;
}

void region_notice(struct region_run *run)
{
    static const struct region_form form = {give_bytes, take_bytes, follow};
    bool is_root = run->r->rank == run->c->root;
    region_set_cycle(run, &form, sizeof(run->root_bytes), REGION_SMALL);
    run->gives = is_root;
    run->takes = !is_root;
    run->from = run->c->root;
}

/* Do as the root does, with its bytes. */
static void follow(struct region_run *run)
{
    if (run->bytes == REGION_ELSEWHERE)
        region_notice(run);
    else
        (run->c->kind == COLL_BCAST ? region_bcast : region_scatter)(run);
}

/* Only where each knows the length of what it is to have. */
region_fn region_choose_notice(const struct coll *c, int64_t *bytes)
{
    *bytes = REGION_ELSEWHERE;
    return c->kind == COLL_BCAST || (c->kind == COLL_SCATTER && !c->uneven) ? region_notice : NULL;
}

/* ---- all give to all ---- */

void region_allgather(struct region_run *run)
{
    region_set_cycle(run, &blocks, run->bytes, run->r->chunk);
    region_set_meeting(run);
    run->takes = run->r->size - 1;
    region_copy_own(run);
}

/* ---- a part has a piece for each member ---- */

/* Bytes of a piece, of blocks of so many. */
static size_t piece_of(const struct region *r, size_t len)
{
    size_t all = len * (size_t)r->size;
    return all <= REGION_SMALL ? len : least(len, r->chunk / (size_t)r->size / 64 * 64);
}

static void give_pieces(struct region_run *run, unsigned char *part)
{
    const struct coll *c = run->c;
    const struct coll_data *from = c->send.buf == MPI_IN_PLACE ? &c->recv : &c->send;
    for (int i = 0; i < run->r->size; i++)
        if (i != run->r->rank)
            give_block(run, part + run->len * (size_t)i, region_block(from, i));
}

static void take_piece(struct region_run *run, int member)
{
    take_block(run, part_of(run, member) + run->len * (size_t)run->r->rank,
               region_block(&run->c->recv, member));
}

static const struct region_form pieces = {give_pieces, take_piece, NULL};

void region_alltoall(struct region_run *run)
{
    region_set_cycle(run, &pieces, run->bytes, piece_of(run->r, run->bytes));
    run->pieces = (size_t)run->r->size;
    region_set_meeting(run);
    run->takes = run->r->size - 1;
    region_copy_own(run);
}
