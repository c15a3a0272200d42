/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Scatter: straight from the root to each; or small blocks down a tree, packed. Processes of the
 * tree are numbered from the root on; a subtree has numbers that follow each other.
 */
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"

/* The root's own block, which stays in place or goes to its receive buffer. */
static void copy_own(struct sched *s, const struct coll *c)
{
    struct coll_block own = coll_block(&c->send, c->rank);
    if (c->recv.buf != MPI_IN_PLACE)
        sched_copy_as(s, own.buf, own.count, own.type, c->recv.buf, c->recv.count, c->recv.type);
}

void coll_scatter_linear(struct sched *s, const struct coll *c)
{
    int size = c->size, rank = c->rank;
    if (rank != c->root) {
        sched_recv(s, c->root, c->recv.buf, c->recv.count, c->recv.type);
        return;
    }
    for (int i = 1; i < size; i++) {
        int to = coll_around(rank, i, size);
        struct coll_block block = coll_block(&c->send, to);
        sched_send(s, to, block.buf, block.count, block.type);
    }
    copy_own(s, c);
}

/* ---- tree ---- */

/* Pack the blocks of count ranks from first on. */
static void pack(struct sched *s, const struct coll *c, int first, int count, char *packed)
{
    struct coll_block from = coll_block(&c->send, first);
    MPI_Count bytes = c->send.count * coll_size(c->send.type) * count;
    sched_copy_as(s, from.buf, from.count * count, from.type, packed, bytes, MPI_BYTE);
}

/* Send the blocks of the subtree at index bit; packed if they go past the last rank. */
static void send_from_root(struct sched *s, const struct coll *c, int bit, int count)
{
    int size = c->size, first = coll_around(c->root, bit, size), before = size - first;
    if (count <= before) {
        struct coll_block from = coll_block(&c->send, first);
        sched_send(s, first, from.buf, from.count * count, from.type);
        return;
    }
    MPI_Count bytes = c->send.count * coll_size(c->send.type);
    char *packed = sched_temp(s, bytes * count);
    pack(s, c, first, before, packed);
    pack(s, c, 0, count - before, packed + bytes * before);
    sched_send(s, first, packed, bytes * count, MPI_BYTE);
}

static void tree_root(struct sched *s, const struct coll *c)
{
    int size = c->size, bit = 1;
    while (bit <= (size - 1) / 2)
        bit *= 2;
    for (; bit > 0 && size > 1; bit /= 2)
        send_from_root(s, c, bit, bit < size - bit ? bit : size - bit);
    copy_own(s, c);
}

void coll_scatter_tree(struct sched *s, const struct coll *c)
{
    int size = c->size, index = coll_around(c->rank, -c->root, size);
    if (index == 0) {
        tree_root(s, c);
        return;
    }
    int low = index & -index, parent = coll_around(c->root, index - low, size);
    int count = low < size - index ? low : size - index;
    if (count == 1) {
        sched_recv(s, parent, c->recv.buf, c->recv.count, c->recv.type);
        return;
    }
    MPI_Count bytes = c->recv.count * coll_size(c->recv.type);
    char *packed = sched_temp(s, bytes * count);
    sched_recv(s, parent, packed, bytes * count, MPI_BYTE);
    sched_wait(s);
    for (int bit = low / 2; bit > 0; bit /= 2) {
        if (bit >= count)
            continue;
        int blocks = bit < count - bit ? bit : count - bit;
        sched_send(s, coll_around(c->root, index + bit, size), packed + bytes * bit,
                   bytes * blocks, MPI_BYTE);
    }
    sched_copy_as(s, packed, bytes, MPI_BYTE, c->recv.buf, c->recv.count, c->recv.type);
}
