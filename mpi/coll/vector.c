/* SPDX-License-Identifier: BSD-3-Clause */

/* Reductions of long vectors, block by block; see vector.h. */
#include "mpi/coll/vector.h"

#include "mpi/coll/sched.h"

static const MPI_Count *starts(struct sched *s, const struct coll *c)
{
    int size = c->size;
    MPI_Count *start = sched_temp(s, ((MPI_Count)size + 1) * (MPI_Count)sizeof(*start));
    if (s->broken)
        return NULL;
    start[0] = 0;
    MPI_Count share = c->recv.count / size, more = c->recv.count % size;
    for (int i = 0; i < size; i++)
        start[i + 1] = start[i] + (c->recv.counts ? c->recv.counts[i] : share + (i < more));
    return start;
}

void vector_init(struct vector *v, struct sched *s, const struct coll *c, void *out)
{
    *v = (struct vector){s, c->rank, c->size, c->send.buf, out, c->recv.type, NULL};
    if (v->in == MPI_IN_PLACE)
        v->in = c->recv.buf;
    v->start = starts(s, c);
}

static MPI_Count count_of(const struct vector *v, int first, int end)
{
    return v->start[end] - v->start[first];
}

static void *block(const struct vector *v, const void *base, int i)
{
    return coll_at(base, v->start[i], v->type);
}

/*
 * Receive blocks [first, end) of a neighbour's vector, and send it blocks [out, out_end) of base;
 * then reduce what came with mine, into out. fresh: out has no values there yet.
 */
struct block_exchange {
    int to, from;
    int out, out_end, first, end;
    const void *base;
    bool fresh;
    void *room; /* for the blocks received; not needed where fresh */
};

static void exchange_and_reduce(const struct vector *v, const struct block_exchange *x)
{
    MPI_Count count = count_of(v, x->first, x->end);
    void *mine = block(v, v->out, x->first);
    void *room = x->fresh ? mine : x->room;
    sched_send(v->s, x->to, block(v, x->base, x->out), count_of(v, x->out, x->out_end), v->type);
    sched_recv(v->s, x->from, room, count, v->type);
    sched_wait(v->s);
    sched_reduce(v->s, x->fresh ? block(v, v->in, x->first) : room, mine, count, v->type);
}

static MPI_Count longest(const struct vector *v)
{
    MPI_Count most = 0;
    for (int i = 0; i < v->size; i++)
        if (count_of(v, i, i + 1) > most)
            most = count_of(v, i, i + 1);
    return most;
}

void vector_reduce_ring(const struct vector *v)
{
    if (v->s->broken)
        return;
    bool fresh = v->in != v->out;
    struct block_exchange x = {.to = coll_around(v->rank, 1, v->size),
                               .from = coll_around(v->rank, -1, v->size),
                               .base = v->in,
                               .fresh = fresh,
                               .room = fresh ? NULL : sched_temp_of(v->s, longest(v), v->type)};
    for (int i = 1; i < v->size; i++) {
        x.out = coll_around(v->rank, -i, v->size);
        x.out_end = x.out + 1;
        x.first = coll_around(x.out, -1, v->size);
        x.end = x.first + 1;
        exchange_and_reduce(v, &x);
        x.base = v->out;
    }
}

void vector_reduce_halving(const struct vector *v)
{
    if (v->s->broken)
        return;
    int first = 0, end = v->size;
    struct block_exchange x = {.base = v->in, .fresh = v->in != v->out};
    /* Blocks differ in length: what is kept is longest at first, in one half or the other. */
    if (v->size > 1) {
        MPI_Count low = count_of(v, 0, v->size / 2), high = count_of(v, v->size / 2, v->size);
        x.room = sched_temp_of(v->s, low > high ? low : high, v->type);
    }
    for (int half = v->size / 2; half > 0; half /= 2) {
        bool keep_low = v->rank < first + half;
        int middle = first + half;
        x.to = x.from = v->rank ^ half;
        x.out = keep_low ? middle : first;
        x.out_end = keep_low ? end : middle;
        x.first = first = keep_low ? first : middle;
        x.end = end = keep_low ? middle : end;
        exchange_and_reduce(v, &x);
        x.base = v->out;
        x.fresh = false;
    }
}

void vector_gather_ring(const struct vector *v)
{
    if (v->s->broken)
        return;
    int right = coll_around(v->rank, 1, v->size), left = coll_around(v->rank, -1, v->size);
    for (int i = 0; i < v->size - 1; i++) {
        int out = coll_around(v->rank, -i, v->size), in = coll_around(out, -1, v->size);
        sched_send(v->s, right, block(v, v->out, out), count_of(v, out, out + 1), v->type);
        sched_recv(v->s, left, block(v, v->out, in), count_of(v, in, in + 1), v->type);
        sched_wait(v->s);
    }
}

void vector_gather_doubling(const struct vector *v)
{
    if (v->s->broken)
        return;
    for (int have = 1; have < v->size; have *= 2) {
        int peer = v->rank ^ have, out = v->rank & -have, in = peer & -have;
        sched_send(v->s, peer, block(v, v->out, out), count_of(v, out, out + have), v->type);
        sched_recv(v->s, peer, block(v, v->out, in), count_of(v, in, in + have), v->type);
        sched_wait(v->s);
    }
}
