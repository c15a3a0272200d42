/* SPDX-License-Identifier: BSD-3-Clause */

/* Gather to all: around a ring; or, with small blocks, in O(log n) rounds. */
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"

static void copy_own(struct sched *s, const struct coll *c)
{
    struct coll_block own = coll_block(&c->recv, c->comm->rank);
    if (c->send.buf != MPI_IN_PLACE)
        sched_copy_as(s, c->send.buf, c->send.count, c->send.type, own.buf, own.count, own.type);
}

/* Each passes on what it got in the round before. */
void coll_allgather_ring(struct sched *s, const struct coll *c)
{
    int size = c->comm->size, rank = c->comm->rank;
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

void coll_allgather_doubling(struct sched *s, const struct coll *c)
{
    int size = c->comm->size, rank = c->comm->rank;
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
    int size = c->comm->size, rank = c->comm->rank;
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
