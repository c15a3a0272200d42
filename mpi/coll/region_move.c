/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives that move data through a region: bcast, gather, scatter, allgather, alltoall. Each
 * chunk of the data is an operation; whoever gives copies into its place, and others copy out of it
 * meanwhile.
 */
#include <mpi.h>

#include "mpi/coll/region.h"

/* ---- parts ---- */

static struct mpid_bytes bytes_of(struct coll_block block)
{
    struct mpid_bytes bytes = {.len = 0};
    struct type *used;
    (void)type_place(block.type, block.buf, block.count, &bytes, &used); /* it has been checked */
    return bytes;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* An operation in which this member gives len bytes of its data, from offset on. */
static int give(struct region *r, const struct mpid_bytes *from, size_t offset, size_t len)
{
    uint32_t number;
    int rc = region_open(r, len, &number);
    if (rc)
        return rc;
    region_put(region_part(r, r->rank, number, len), from, offset, len);
    region_publish(r, number);
    return MPI_SUCCESS;
}

/* Take what a member gives in an operation. */
static int take(struct region *r, int member, uint32_t number, const struct mpid_bytes *to,
                size_t offset, size_t len)
{
    int rc = region_await(r, member, number);
    if (!rc)
        type_unpack(to, offset, region_part(r, member, number, len), len);
    return rc;
}

/* ---- one gives to all, or all to one ---- */

int region_bcast(struct region *r, const struct coll *c)
{
    struct mpid_bytes data = bytes_of(coll_block(&c->recv, 0));
    int rc = MPI_SUCCESS;
    for (size_t offset = 0; offset < data.len && !rc; offset += r->chunk) {
        size_t len = least(r->chunk, data.len - offset);
        if (r->rank == c->root)
            rc = give(r, &data, offset, len);
        else
            rc = take(r, c->root, region_next(r), &data, offset, len);
        region_done(r, r->number);
    }
    return rc;
}

/* The root's own block, where it is not in its place. */
static int copy_own(const struct coll *c, const struct coll_data *from, const struct coll_data *to)
{
    if (from->buf == MPI_IN_PLACE || to->buf == MPI_IN_PLACE)
        return MPI_SUCCESS;
    bool many = c->kind == COLL_SCATTER || c->kind == COLL_ALLTOALL; /* blocks to choose from */
    int me = c->comm->rank;
    struct coll_block out = coll_block(from, many ? me : 0);
    struct coll_block in = coll_block(to, c->kind == COLL_SCATTER ? 0 : me);
    return type_copy(out.buf, out.count, out.type, in.buf, in.count, in.type);
}

static int take_from_all(struct region *r, const struct coll *c, size_t offset, size_t len)
{
    int rc = MPI_SUCCESS;
    for (int i = 1; i < r->size && !rc; i++) {
        int from = coll_around(r->rank, i, r->size);
        struct mpid_bytes to = bytes_of(coll_block(&c->recv, from));
        rc = take(r, from, r->number, &to, offset, len);
    }
    return rc;
}

int region_gather(struct region *r, const struct coll *c)
{
    bool is_root = r->rank == c->root;
    struct mpid_bytes data = bytes_of(coll_block(is_root ? &c->recv : &c->send, 0));
    int rc = is_root ? copy_own(c, &c->send, &c->recv) : MPI_SUCCESS;
    for (size_t offset = 0; offset < data.len && !rc; offset += r->chunk) {
        size_t len = least(r->chunk, data.len - offset);
        if (is_root) {
            (void)region_next(r);
            rc = take_from_all(r, c, offset, len);
        } else {
            rc = give(r, &data, offset, len);
        }
        region_done(r, r->number);
    }
    return rc;
}

/* ---- a part has a piece for each member ---- */

/* Bytes of a piece, of blocks of so many. */
static size_t piece_of(const struct region *r, size_t len)
{
    size_t all = len * (size_t)r->size;
    return all <= REGION_SMALL ? len : least(len, r->chunk / (size_t)r->size / 64 * 64);
}

/* An operation in which this member gives each other one len bytes of its block, from offset on. */
static int give_pieces(struct region *r, const struct coll_data *from, size_t offset, size_t len)
{
    uint32_t number;
    int rc = region_open(r, len * (size_t)r->size, &number);
    if (rc)
        return rc;
    unsigned char *part = region_part(r, r->rank, number, len * (size_t)r->size);
    for (int i = 0; i < r->size; i++) {
        if (i == r->rank)
            continue;
        struct mpid_bytes bytes = bytes_of(coll_block(from, i));
        region_put(part + len * (size_t)i, &bytes, offset, len);
    }
    region_publish(r, number);
    return MPI_SUCCESS;
}

static int take_piece(struct region *r, int member, const struct mpid_bytes *to, size_t offset,
                      size_t len)
{
    int rc = region_await(r, member, r->number);
    if (!rc)
        type_unpack(to, offset,
                    region_part(r, member, r->number, len * (size_t)r->size) +
                        len * (size_t)r->rank,
                    len);
    return rc;
}

int region_scatter(struct region *r, const struct coll *c)
{
    bool is_root = r->rank == c->root;
    struct mpid_bytes data = bytes_of(coll_block(is_root ? &c->send : &c->recv, 0));
    size_t piece = piece_of(r, data.len);
    int rc = is_root ? copy_own(c, &c->send, &c->recv) : MPI_SUCCESS;
    for (size_t offset = 0; offset < data.len && !rc; offset += piece) {
        size_t len = least(piece, data.len - offset);
        if (is_root) {
            rc = give_pieces(r, &c->send, offset, len);
        } else {
            (void)region_next(r);
            rc = take_piece(r, c->root, &data, offset, len);
        }
        region_done(r, r->number);
    }
    return rc;
}

/* ---- all give to all ---- */

int region_allgather(struct region *r, const struct coll *c)
{
    struct mpid_bytes data = bytes_of(c->send.buf == MPI_IN_PLACE ? coll_block(&c->recv, r->rank)
                                                                  : coll_block(&c->send, 0));
    int rc = copy_own(c, &c->send, &c->recv);
    for (size_t offset = 0; offset < data.len && !rc; offset += r->chunk) {
        size_t len = least(r->chunk, data.len - offset);
        rc = give(r, &data, offset, len);
        if (!rc)
            rc = take_from_all(r, c, offset, len);
        region_met(r, r->number);
    }
    return rc;
}

static int take_pieces(struct region *r, const struct coll *c, size_t offset, size_t len)
{
    int rc = MPI_SUCCESS;
    for (int i = 1; i < r->size && !rc; i++) {
        int from = coll_around(r->rank, i, r->size);
        struct mpid_bytes to = bytes_of(coll_block(&c->recv, from));
        rc = take_piece(r, from, &to, offset, len);
    }
    return rc;
}

int region_alltoall(struct region *r, const struct coll *c)
{
    const struct coll_data *from = c->send.buf == MPI_IN_PLACE ? &c->recv : &c->send;
    size_t block = bytes_of(coll_block(&c->recv, 0)).len, piece = piece_of(r, block);
    int rc = copy_own(c, &c->send, &c->recv);
    for (size_t offset = 0; offset < block && !rc; offset += piece) {
        size_t len = least(piece, block - offset);
        rc = give_pieces(r, from, offset, len);
        if (!rc)
            rc = take_pieces(r, c, offset, len);
        region_met(r, r->number);
    }
    return rc;
}
