/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives among the neighbours of a topology: all messages at once. Those of one pair are
 * matched in order. In a grid what a process sends backwards comes to the other from before it
 * (MPI-5.0 8.6): so where both neighbours along a dimension are one process, the receives of a
 * dimension are posted in reverse.
 */
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"
#include "mpi/comm/topo.h"

static void receive(struct sched *s, const struct coll *c)
{
    const struct topo *topo = c->comm->topo;
    int count = topo_indegree(topo, c->rank), reverse = topo->kind == MPI_CART;
    for (int i = 0; i < count; i++) {
        int k = i ^ reverse, from = topo_source(topo, c->rank, k);
        struct coll_block block = coll_block(&c->recv, k);
        if (from != MPI_PROC_NULL)
            sched_recv(s, from, block.buf, block.count, block.type);
    }
}

static void send(struct sched *s, const struct coll *c, bool same)
{
    const struct topo *topo = c->comm->topo;
    int count = topo_outdegree(topo, c->rank);
    for (int i = 0; i < count; i++) {
        int to = topo_destination(topo, c->rank, i);
        struct coll_block block = coll_block(&c->send, same ? 0 : i);
        if (to != MPI_PROC_NULL)
            sched_send(s, to, block.buf, block.count, block.type);
    }
}

void coll_neighbor_allgather(struct sched *s, const struct coll *c)
{
    receive(s, c);
    send(s, c, true);
}

void coll_neighbor_alltoall(struct sched *s, const struct coll *c)
{
    receive(s, c);
    send(s, c, false);
}
