/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Gather: each straight to the root; or small blocks up a tree, packed. Processes of the tree are
 * numbered from the root on; a subtree has numbers that follow each other.
 */
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"

/* The root's own block, which is in place or comes from its send buffer. */
static void copy_own(struct sched *s, const struct coll *c)
{
    struct coll_block own = coll_block(&c->recv, c->rank);
    if (c->send.buf != MPI_IN_PLACE)
        sched_copy_as(s, c->send.buf, c->send.count, c->send.type, own.buf, own.count, own.type);
}

void coll_gather_linear(struct sched *s, const struct coll *c)
{
    int size = c->size, rank = c->rank;
    if (rank != c->root) {
        sched_send(s, c->root, c->send.buf, c->send.count, c->send.type);
        return;
    }
    for (int i = 1; i < size; i++) {
        int from = coll_around(rank, i, size);
        struct coll_block block = coll_block(&c->recv, from);
        sched_recv(s, from, block.buf, block.count, block.type);
    }
    copy_own(s, c);
}

/* ---- tree ---- */

/* Unpack blocks into the places of count ranks from first on. */
static void unpack(struct sched *s, const struct coll *c, const char *packed, int first, int count)
{
    struct coll_block to = coll_block(&c->recv, first);
    MPI_Count bytes = c->recv.count * coll_size(c->recv.type) * count;
    sched_copy_as(s, packed, bytes, MPI_BYTE, to.buf, to.count * count, to.type);
}

/* Receive the blocks of the subtree at index bit. Returns the packed blocks, or NULL if they go
 * straight to their places. */
static char *recv_at_root(struct sched *s, const struct coll *c, int bit, int count)
{
    int size = c->size, first = coll_around(c->root, bit, size);
    MPI_Count bytes = c->recv.count * coll_size(c->recv.type) * count;
    if (first <= size - count) {
        struct coll_block to = coll_block(&c->recv, first);
        sched_recv(s, first, to.buf, to.count * count, to.type);
        return NULL;
    }
    char *packed = sched_temp(s, bytes);
    sched_recv(s, first, packed, bytes, MPI_BYTE);
    return packed;
}

static void tree_root(struct sched *s, const struct coll *c)
{
    int size = c->size, wrapped_bit = 0;
    char *wrapped = NULL;
    for (int64_t bit = 1; bit < size; bit *= 2) {
        int count = (int)(bit < size - bit ? bit : size - bit);
        char *packed = recv_at_root(s, c, (int)bit, count);
        if (packed) { /* at most one subtree has the last rank and the first */
            wrapped = packed;
            wrapped_bit = (int)bit;
        }
    }
    copy_own(s, c);
    if (!wrapped)
        return;
    int count = wrapped_bit < size - wrapped_bit ? wrapped_bit : size - wrapped_bit;
    int first = coll_around(c->root, wrapped_bit, size), before = size - first;
    sched_wait(s);
    unpack(s, c, wrapped, first, before);
    unpack(s, c, wrapped + before * c->recv.count * coll_size(c->recv.type), 0, count - before);
}

void coll_gather_tree(struct sched *s, const struct coll *c)
{
    int size = c->size, index = coll_around(c->rank, -c->root, size);
    if (index == 0) {
        tree_root(s, c);
        return;
    }
    int low = index & -index, parent = coll_around(c->root, index - low, size);
    int count = low < size - index ? low : size - index;
    if (count == 1) {
        sched_send(s, parent, c->send.buf, c->send.count, c->send.type);
        return;
    }
    MPI_Count bytes = c->send.count * coll_size(c->send.type);
    char *packed = sched_temp(s, bytes * count);
    for (int bit = 1; bit < count; bit *= 2) {
        int blocks = bit < count - bit ? bit : count - bit;
        sched_recv(s, coll_around(c->root, index + bit, size), packed + bytes * bit,
                   bytes * blocks, MPI_BYTE);
    }
    sched_copy_as(s, c->send.buf, c->send.count, c->send.type, packed, bytes, MPI_BYTE);
    sched_wait(s);
    sched_send(s, parent, packed, bytes * count, MPI_BYTE);
}
