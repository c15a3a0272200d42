/* SPDX-License-Identifier: BSD-3-Clause */

/* Reduction to the root: of short vectors whole, up a tree; of long ones block by block. */
#include "mpi/coll/coll.h"
#include "mpi/coll/fold.h"
#include "mpi/coll/sched.h"
#include "mpi/coll/vector.h"

/*
 * In each round, half of those who still have a value pass it down. Processes are numbered from
 * the root on; where operands must keep the order of ranks, from rank 0 on, which then passes
 * the result to the root.
 */
void coll_reduce_tree(struct sched *s, const struct coll *c)
{
    const struct coll_data *data = &c->recv;
    int size = c->size, rank = c->rank;
    int top = c->op->commutative ? c->root : 0, index = coll_around(rank, -top, size);
    struct fold f;
    fold_init(&f, s, c->send.buf == MPI_IN_PLACE ? data->buf : c->send.buf,
              rank == c->root && rank == top ? data->buf : MPI_IN_PLACE, data->count, data->type);
    int64_t bit = 1;
    for (; bit < size && !(index & bit); bit *= 2) {
        if (index + bit >= size)
            continue;
        /* Where the order does not matter, the value stays in the result. */
        bool below = c->op->commutative && f.at == 0;
        sched_recv(s, coll_around(top, index + (int)bit, size), fold_room(&f, below), data->count,
                   data->type);
        sched_wait(s);
        fold_take(&f, below);
    }
    if (index)
        sched_send(s, coll_around(top, index - (int)bit, size), f.value, data->count, data->type);
    else if (rank == c->root)
        fold_end(&f);
    else
        sched_send(s, c->root, f.value, data->count, data->type);
    if (index && rank == c->root) {
        sched_wait(s);
        sched_recv(s, top, data->buf, data->count, data->type);
    }
}

void coll_reduce_spread(struct sched *s, const struct coll *c)
{
    int size = c->size, rank = c->rank;
    bool is_root = rank == c->root;
    struct vector v;
    vector_init(&v, s, c,
                is_root ? c->recv.buf : sched_temp_of(s, c->recv.count, c->recv.type));
    if (s->broken)
        return;
    if (size & (size - 1))
        vector_reduce_ring(&v);
    else
        vector_reduce_halving(&v);
    for (int i = 0; i < size; i++) {
        void *at = coll_at(v.out, v.start[i], v.type);
        MPI_Count count = v.start[i + 1] - v.start[i];
        if (is_root && i != rank)
            sched_recv(s, i, at, count, v.type);
        else if (!is_root && i == rank)
            sched_send(s, c->root, at, count, v.type);
    }
}
