/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives over intercommunicators. Data go from one group to the other: with a root, from it
 * or to it; without, both ways at once, and these need not be equally long.
 *
 * What a group does on its own, it does in its local communicator, in the same schedule. Its rank
 * 0 speaks for it where its data are combined, and hears for it if all get the same.
 */
#include "mpi/coll/coll.h"
#include "mpi/coll/choose.h"
#include "mpi/coll/sched.h"

/* Do a collective among the members of my group, with rank 0 as the root. */
static void among_us(struct sched *s, const struct coll *c, struct coll *ours)
{
    coll_over(ours, c->comm->local, c->hosts);
    ours->op = c->op;
    sched_over(s, ours->comm);
    choose_append(s, ours);
    sched_wait(s);
    sched_over(s, c->comm);
}

/* Whether my group is that of the root: then only the root has a part in it. */
static bool is_of_root(const struct coll *c)
{
    return c->root == MPI_ROOT || c->root == MPI_PROC_NULL;
}

/* Have count elements of my group combined. Returns their place at rank 0. */
static void *combine(struct sched *s, const struct coll *c, MPI_Count count)
{
    struct coll ours = {.kind = COLL_REDUCE, .send = c->send};
    ours.recv = (struct coll_data){.count = count, .type = c->recv.type}; /* no blocks any more */
    ours.recv.buf = c->rank == 0 ? sched_temp_of(s, count, c->recv.type) : NULL;
    among_us(s, c, &ours);
    return ours.recv.buf;
}

/* The ranks 0 give each other as many elements. */
static void exchange(struct sched *s, const struct coll *c, const void *mine, void *theirs,
                     MPI_Count count)
{
    if (c->rank != 0)
        return;
    sched_recv(s, 0, theirs, count, c->recv.type);
    sched_send(s, 0, mine, count, c->recv.type);
    sched_wait(s);
}

static void barrier(struct sched *s, const struct coll *c)
{
    struct coll ours = {.kind = COLL_BARRIER};
    among_us(s, c, &ours);
    if (c->rank == 0) {
        sched_await(s, 0);
        sched_signal(s, 0);
        sched_wait(s);
    }
    among_us(s, c, &ours);
}

static void bcast(struct sched *s, const struct coll *c)
{
    const struct coll_data *data = &c->recv;
    struct coll ours = {.kind = COLL_BCAST, .recv = c->recv};
    if (c->root == MPI_ROOT)
        sched_send(s, 0, data->buf, data->count, data->type);
    if (is_of_root(c))
        return;
    if (c->rank == 0)
        sched_recv(s, c->root, data->buf, data->count, data->type);
    sched_wait(s);
    among_us(s, c, &ours);
}

static void reduce(struct sched *s, const struct coll *c)
{
    const struct coll_data *data = &c->recv;
    if (c->root == MPI_ROOT)
        sched_recv(s, 0, data->buf, data->count, data->type);
    if (is_of_root(c))
        return;
    void *ours = combine(s, c, data->count);
    if (c->rank == 0)
        sched_send(s, c->root, ours, data->count, data->type);
}

static void allreduce(struct sched *s, const struct coll *c)
{
    struct coll ours = {.kind = COLL_BCAST, .recv = c->recv};
    void *mine = combine(s, c, c->recv.count);
    exchange(s, c, mine, c->recv.buf, c->recv.count);
    among_us(s, c, &ours);
}

/* ---- blocks ---- */

static void send_block(struct sched *s, int peer, struct coll_block block)
{
    sched_send(s, peer, block.buf, block.count, block.type);
}

static void recv_block(struct sched *s, int peer, struct coll_block block)
{
    sched_recv(s, peer, block.buf, block.count, block.type);
}

static void gather(struct sched *s, const struct coll *c)
{
    for (int i = 0; i < c->peers && c->root == MPI_ROOT; i++)
        recv_block(s, i, coll_block(&c->recv, i));
    if (!is_of_root(c))
        sched_send(s, c->root, c->send.buf, c->send.count, c->send.type);
}

static void scatter(struct sched *s, const struct coll *c)
{
    for (int i = 0; i < c->peers && c->root == MPI_ROOT; i++)
        send_block(s, i, coll_block(&c->send, i));
    if (!is_of_root(c))
        sched_recv(s, c->root, c->recv.buf, c->recv.count, c->recv.type);
}

/* Room for the blocks that data describes, as bytes that follow each other. Returns their sum. */
static MPI_Count packed_blocks(struct sched *s, int count, const struct coll_data *data,
                               struct coll_data *packed)
{
    MPI_Count *counts = sched_temp(s, count * (MPI_Count)sizeof(*counts)), all = 0;
    MPI_Aint *displs = sched_temp(s, count * (MPI_Count)sizeof(*displs));
    for (int i = 0; i < count && !s->broken; i++) {
        struct coll_block block = coll_block(data, i);
        displs[i] = all;
        counts[i] = block.count * coll_size(block.type);
        all += counts[i];
    }
    *packed = (struct coll_data){
        .buf = sched_temp(s, all), .counts = counts, .displs = displs, .type = MPI_BYTE};
    return all;
}

/* Rank 0 gathers, and tells; blocks that differ in length travel packed from there. */
static void allgather(struct sched *s, const struct coll *c)
{
    int peers = c->peers;
    struct coll_data blocks = c->recv;
    struct coll ours = {.kind = COLL_BCAST, .recv = c->recv};
    ours.recv.count = c->recv.count * peers;
    if (c->uneven) {
        MPI_Count all = packed_blocks(s, peers, &c->recv, &blocks);
        ours.recv = (struct coll_data){.buf = blocks.buf, .count = all, .type = MPI_BYTE};
    }
    if (s->broken)
        return;
    sched_send(s, 0, c->send.buf, c->send.count, c->send.type);
    for (int i = 0; i < peers && c->rank == 0; i++)
        recv_block(s, i, coll_block(&blocks, i));
    sched_wait(s);
    among_us(s, c, &ours);
    for (int i = 0; i < peers && c->uneven; i++) {
        struct coll_block from = coll_block(&blocks, i), to = coll_block(&c->recv, i);
        sched_copy_as(s, from.buf, from.count, from.type, to.buf, to.count, to.type);
    }
}

/* The blocks are those of my group. */
static void reduce_scatter(struct sched *s, const struct coll *c)
{
    int size = c->size;
    MPI_Count all = 0, own = c->recv.counts ? c->recv.counts[c->rank] : c->recv.count;
    MPI_Aint *displs = sched_temp(s, size * (MPI_Count)sizeof(*displs));
    for (int i = 0; i < size && !s->broken; i++) {
        displs[i] = all;
        all += c->recv.counts ? c->recv.counts[i] : c->recv.count;
    }
    if (s->broken)
        return;
    struct coll ours = {.kind = COLL_SCATTER, .uneven = c->uneven, .send = c->recv};
    ours.recv = (struct coll_data){.buf = c->recv.buf, .count = own, .type = c->recv.type};
    ours.send.displs = displs;
    ours.send.buf = c->rank == 0 ? sched_temp_of(s, all, c->recv.type) : NULL;
    void *mine = combine(s, c, all);
    exchange(s, c, mine, ours.send.buf, all);
    among_us(s, c, &ours);
}

/* Between those without a root here, and scans are none. */
void coll_inter(struct sched *s, const struct coll *c)
{
    static const coll_fn fns[COLL_KINDS] = {
        [COLL_BARRIER] = barrier,
        [COLL_BCAST] = bcast,
        [COLL_REDUCE] = reduce,
        [COLL_ALLREDUCE] = allreduce,
        [COLL_GATHER] = gather,
        [COLL_SCATTER] = scatter,
        [COLL_ALLGATHER] = allgather,
        [COLL_ALLTOALL] = coll_alltoall_linear,
        [COLL_REDUCE_SCATTER] = reduce_scatter,
    };
    fns[c->kind](s, c);
}
