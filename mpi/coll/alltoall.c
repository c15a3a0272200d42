/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Each to all: straight, some at a time; or many tiny blocks through others, in O(log n) rounds.
 * Over an intercommunicator, each to all of the other group.
 */
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"

/* Peers with whom an exchange is under way at a time. */
enum { WINDOW = 32 };

static MPI_Count bytes_of(const struct coll_block *block)
{
    return block->count * coll_size(block->type);
}

/* The data for a process: from the send buffer, or, in place, packed aside already. */
struct packed_blocks {
    const struct coll *c;
    char *packed; /* NULL: not in place */
    MPI_Count *at; /* [size] where each block begins */
};

static void set_aside(struct sched *s, const struct coll *c, struct packed_blocks *out)
{
    int size = c->size;
    MPI_Count total = 0;
    *out = (struct packed_blocks){.c = c};
    if (c->send.buf != MPI_IN_PLACE)
        return;
    out->at = sched_temp(s, size * (MPI_Count)sizeof(*out->at));
    if (s->broken)
        return;
    for (int i = 0; i < size; i++) {
        struct coll_block block = coll_block(&c->recv, i);
        out->at[i] = total;
        total += i == c->rank ? 0 : bytes_of(&block);
    }
    out->packed = sched_temp(s, total);
    for (int i = 0; i < size; i++) {
        struct coll_block block = coll_block(&c->recv, i);
        if (i != c->rank)
            sched_copy_as(s, block.buf, block.count, block.type, out->packed + out->at[i],
                          bytes_of(&block), MPI_BYTE);
    }
}

static struct coll_block outgoing(const struct packed_blocks *out, int to)
{
    if (!out->packed)
        return coll_block(&out->c->send, to);
    struct coll_block block = coll_block(&out->c->recv, to);
    return (struct coll_block){out->packed + out->at[to], bytes_of(&block), MPI_BYTE};
}

/* Rounds of an exchange: both ends of a message have it in the same. */
static int rounds_of(const struct coll *c)
{
    return c->size > c->peers ? c->size : c->peers;
}

/* Start the exchange of round i: send to the i-th behind, receive from the i-th before, if any.
 * Returns the first of two steps, or of less. */
static int start(struct sched *s, const struct packed_blocks *out, int i)
{
    const struct coll *c = out->c;
    int rounds = rounds_of(c), rank = c->rank, step = s->count;
    int to = coll_around(rank, i, rounds), from = coll_around(rank, -i, rounds);
    if (from < c->peers) {
        struct coll_block in = coll_block(&c->recv, from);
        sched_recv(s, from, in.buf, in.count, in.type);
    }
    if (to < c->peers) {
        struct coll_block block = outgoing(out, to);
        sched_send(s, to, block.buf, block.count, block.type);
    }
    return step;
}

/* Exchange with all, with so many at a time. */
static void exchange(struct sched *s, const struct coll *c, int window)
{
    int rounds = rounds_of(c), rank = c->rank, first = c->comm->remote ? 0 : 1;
    struct packed_blocks out;
    int started[WINDOW];
    set_aside(s, c, &out);
    if (s->broken)
        return;
    for (int i = first; i < rounds; i++) {
        if (i >= first + window) {
            sched_wait_for(s, started[i % window]);
            sched_wait_for(s, started[i % window] + 1);
        }
        started[i % window] = start(s, &out, i);
    }
    if (c->send.buf == MPI_IN_PLACE || c->comm->remote)
        return;
    struct coll_block from = coll_block(&c->send, rank), to = coll_block(&c->recv, rank);
    sched_copy_as(s, from.buf, from.count, from.type, to.buf, to.count, to.type);
}

void coll_alltoall_linear(struct sched *s, const struct coll *c)
{
    exchange(s, c, WINDOW);
}

void coll_alltoall_pairwise(struct sched *s, const struct coll *c)
{
    exchange(s, c, 1);
}

/* ---- Bruck ---- */

/*
 * Block i is to go i ranks on. In the round of each bit, all blocks that have it go so far; so
 * do those that others sent, and after the rounds block i is what came from i ranks before.
 */
struct rounds {
    struct sched *s;
    int size, rank;
    MPI_Count bytes;
    char *blocks, *out, *in;
};

static void do_round(const struct rounds *r, int bit)
{
    MPI_Count at = 0;
    for (int i = bit; i < r->size; i++)
        if (i & bit) {
            sched_copy(r->s, r->blocks + r->bytes * i, r->out + at, r->bytes, MPI_BYTE);
            at += r->bytes;
        }
    sched_send(r->s, coll_around(r->rank, bit, r->size), r->out, at, MPI_BYTE);
    sched_recv(r->s, coll_around(r->rank, -bit, r->size), r->in, at, MPI_BYTE);
    sched_wait(r->s);
    at = 0;
    for (int i = bit; i < r->size; i++)
        if (i & bit) {
            sched_copy(r->s, r->in + at, r->blocks + r->bytes * i, r->bytes, MPI_BYTE);
            at += r->bytes;
        }
}

void coll_alltoall_bruck(struct sched *s, const struct coll *c)
{
    const struct coll_data *from = c->send.buf == MPI_IN_PLACE ? &c->recv : &c->send;
    int size = c->size, rank = c->rank;
    MPI_Count bytes = c->recv.count * coll_size(c->recv.type), half = bytes * ((size + 1) / 2);
    struct rounds r = {s, size, rank, bytes, sched_temp(s, bytes * size), sched_temp(s, half),
                       sched_temp(s, half)};
    for (int i = 0; i < size; i++) {
        struct coll_block block = coll_block(from, coll_around(rank, i, size));
        sched_copy_as(s, block.buf, block.count, block.type, r.blocks + bytes * i, bytes,
                      MPI_BYTE);
    }
    for (int64_t bit = 1; bit < size; bit *= 2)
        do_round(&r, (int)bit);
    for (int i = 0; i < size; i++) {
        struct coll_block block = coll_block(&c->recv, coll_around(rank, -i, size));
        sched_copy_as(s, r.blocks + bytes * i, bytes, MPI_BYTE, block.buf, block.count,
                      block.type);
    }
}
