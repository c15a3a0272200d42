/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Gather to all: around a ring; between neighbours, in half as many rounds; or, with small blocks,
 * in O(log n) rounds.
 */
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"

static void copy_own(struct sched *s, const struct coll *c)
{
    struct coll_block own = coll_block(&c->recv, c->rank);
    if (c->send.buf != MPI_IN_PLACE)
        sched_copy_as(s, c->send.buf, c->send.count, c->send.type, own.buf, own.count, own.type);
}

/* Each passes on what it got in the round before. */
void coll_allgather_ring(struct sched *s, const struct coll *c)
{
    int size = c->size, rank = c->rank;
    int right = coll_around(rank, 1, size), left = coll_around(rank, -1, size);
    copy_own(s, c);
    for (int i = 0; i < size - 1; i++) {
        struct coll_block out = coll_block(&c->recv, coll_around(rank, -i, size));
        struct coll_block in = coll_block(&c->recv, coll_around(rank, -i - 1, size));
        sched_send(s, right, out.buf, out.count, out.type);
        sched_recv(s, left, in.buf, in.count, in.type);
        sched_wait(s);
    }
}

/* Exchange two blocks that follow each other, those from out on for those from in on. */
static void exchange_pair(struct sched *s, const struct coll *c, int peer, int out, int in)
{
    int blocks = c->uneven ? 2 : 1, each = 2 / blocks;
    for (int i = 0; i < blocks; i++) {
        struct coll_block to = coll_block(&c->recv, in + i);
        sched_recv(s, peer, to.buf, each * to.count, to.type);
    }
    for (int i = 0; i < blocks; i++) {
        struct coll_block from = coll_block(&c->recv, out + i);
        sched_send(s, peer, from.buf, each * from.count, from.type);
    }
    sched_wait(s);
}

/* Each pair of an even rank and the next one has two blocks after the first round. Then ranks
 * exchange the pair that came last, by turns with the neighbour to one side and to the other. */
void coll_allgather_neighbor(struct sched *s, const struct coll *c)
{
    int size = c->size, rank = c->rank, way = rank % 2 ? -1 : 1;
    int peers[2] = {coll_around(rank, way, size), coll_around(rank, -way, size)};
    int pair = rank - rank % 2, low = pair, high = pair;
    struct coll_block own = coll_block(&c->recv, rank), other = coll_block(&c->recv, peers[0]);
    copy_own(s, c);
    sched_send(s, peers[0], own.buf, own.count, own.type);
    sched_recv(s, peers[0], other.buf, other.count, other.type);
    sched_wait(s);
    for (int i = 1; i < size / 2; i++) {
        bool from_below = (way > 0) == (i % 2 == 1);
        int *edge = from_below ? &low : &high;
        *edge = coll_around(*edge, from_below ? -2 : 2, size);
        exchange_pair(s, c, peers[i % 2], pair, *edge);
        pair = *edge;
    }
}

void coll_allgather_doubling(struct sched *s, const struct coll *c)
{
    int size = c->size, rank = c->rank;
    copy_own(s, c);
    for (int have = 1; have < size; have *= 2) {
        int peer = rank ^ have;
        struct coll_block out = coll_block(&c->recv, rank & -have);
        struct coll_block in = coll_block(&c->recv, peer & -have);
        sched_send(s, peer, out.buf, out.count * have, out.type);
        sched_recv(s, peer, in.buf, in.count * have, in.type);
        sched_wait(s);
    }
}

/* Blocks are kept packed, in the order of ranks from mine on. */
void coll_allgather_bruck(struct sched *s, const struct coll *c)
{
    int size = c->size, rank = c->rank;
    struct coll_block own = coll_block(&c->recv, rank), first = coll_block(&c->recv, 0);
    MPI_Count bytes = own.count * coll_size(own.type);
    char *packed = sched_temp(s, bytes * size);
    if (c->send.buf == MPI_IN_PLACE)
        sched_copy_as(s, own.buf, own.count, own.type, packed, bytes, MPI_BYTE);
    else
        sched_copy_as(s, c->send.buf, c->send.count, c->send.type, packed, bytes, MPI_BYTE);
    for (int have = 1; have < size;) {
        int more = have < size - have ? have : size - have;
        sched_send(s, coll_around(rank, -have, size), packed, bytes * more, MPI_BYTE);
        sched_recv(s, coll_around(rank, have, size), packed + bytes * have, bytes * more,
                   MPI_BYTE);
        sched_wait(s);
        have += more;
    }
    int behind = size - rank;
    sched_copy_as(s, packed, bytes * behind, MPI_BYTE, own.buf, own.count * behind, own.type);
    sched_copy_as(s, packed + bytes * behind, bytes * rank, MPI_BYTE, first.buf,
                  first.count * rank, first.type);
}
