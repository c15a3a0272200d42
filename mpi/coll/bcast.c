/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Broadcast, by a tree: in each round all holders of the data pass them on. Or, where bandwidth
 * matters: the root spreads pieces, and all gather them around a ring.
 *
 * Processes are numbered from the root on.
 */
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"

/* The lowest bit set in index; for the root, the first power of 2 that is not below size. */
static int64_t low_bit(int index, int size)
{
    int64_t bit = 1;
    while (bit < size && !(index & bit))
        bit *= 2;
    return bit;
}

void coll_bcast_tree(struct sched *s, const struct coll *c)
{
    const struct coll_data *data = &c->recv;
    int size = c->size, index = coll_around(c->rank, -c->root, size);
    int64_t bit = low_bit(index, size);
    if (index) {
        sched_recv(s, coll_around(c->root, index - (int)bit, size), data->buf, data->count,
                   data->type);
        sched_wait(s);
    }
    for (bit /= 2; bit > 0; bit /= 2)
        if (index + bit < size)
            sched_send(s, coll_around(c->root, index + (int)bit, size), data->buf, data->count,
                       data->type);
}

/* ---- spread and gather ---- */

/* The bytes, in pieces. */
struct pieces {
    struct sched *s;
    int root, size, index;
    char *base;
    MPI_Count total, piece;
};

static MPI_Count start_of(const struct pieces *p, int64_t index)
{
    MPI_Count at = p->piece * index;
    return at < p->total ? at : p->total;
}

/* Send or receive the pieces [first, end). */
static void move(const struct pieces *p, bool send, int peer, int64_t first, int64_t end)
{
    MPI_Count at = start_of(p, first), count = start_of(p, end < p->size ? end : p->size) - at;
    int rank = coll_around(p->root, peer, p->size);
    if (send)
        sched_send(p->s, rank, p->base + at, count, MPI_BYTE);
    else
        sched_recv(p->s, rank, p->base + at, count, MPI_BYTE);
}

static void spread(const struct pieces *p)
{
    int64_t bit = low_bit(p->index, p->size);
    if (p->index) {
        move(p, false, p->index - (int)bit, p->index, p->index + bit);
        sched_wait(p->s);
    }
    for (bit /= 2; bit > 0; bit /= 2)
        if (p->index + bit < p->size)
            move(p, true, p->index + (int)bit, p->index + bit, p->index + 2 * bit);
}

static void gather_around(const struct pieces *p)
{
    int right = coll_around(p->index, 1, p->size), left = coll_around(p->index, -1, p->size);
    for (int i = 0; i < p->size - 1; i++) {
        int out = coll_around(p->index, -i, p->size), in = coll_around(out, -1, p->size);
        move(p, true, right, out, (int64_t)out + 1);
        move(p, false, left, in, (int64_t)in + 1);
        sched_wait(p->s);
    }
}

void coll_bcast_spread(struct sched *s, const struct coll *c)
{
    const struct coll_data *data = &c->recv;
    int size = c->size;
    struct mpid_bytes bytes;
    struct type *used;
    (void)type_place(data->type, data->buf, data->count, &bytes, &used); /* checked by the caller */
    MPI_Count total = (MPI_Count)bytes.len;
    struct pieces p = {.s = s, .root = c->root, .size = size, .total = total};
    p.index = coll_around(c->rank, -c->root, size);
    p.piece = total / size + (total % size != 0);
    p.base = bytes.layout ? sched_temp(s, total) : bytes.base;
    if (bytes.layout && p.index == 0)
        sched_copy_as(s, data->buf, data->count, data->type, p.base, total, MPI_BYTE);
    spread(&p);
    gather_around(&p);
    if (bytes.layout && p.index)
        sched_copy_as(s, p.base, total, MPI_BYTE, data->buf, data->count, data->type);
}
