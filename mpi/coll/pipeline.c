/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Broadcast in segments, each passed on while the next one comes: along a chain of processes, or
 * down a binary tree. Processes are numbered from the root on.
 */
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"

enum {
    SEGMENTS = 16, /* aimed at */
    SHORTEST = 64,
    LONGEST = 128 * 1024, /* bytes of a segment */
    WINDOW = 4            /* segments that are being sent at a time */
};

/* A process's place: its sender, -1 at the root, and its receivers. */
struct pipe_place {
    int parent, children, child[2];
};

static struct pipe_place in_chain(int index, int size)
{
    return (struct pipe_place){index - 1, index + 1 < size, {index + 1}};
}

static struct pipe_place in_binary(int index, int size)
{
    struct pipe_place place = {(index + 1) / 2 - 1, 0, {0}};
    for (int64_t child = 2 * (int64_t)index + 1; child <= 2 * (int64_t)index + 2; child++)
        if (child < size)
            place.child[place.children++] = (int)child;
    return place;
}

/* The bytes, and how they are cut. */
struct segments {
    struct sched *s;
    const struct coll *c;
    char *base;
    MPI_Count total, each;
    int64_t count;
};

static MPI_Count length(const struct segments *g, int64_t i)
{
    return i + 1 < g->count ? g->each : g->total - g->each * i;
}

static int rank_of(const struct segments *g, int index)
{
    return coll_around(g->c->root, index, g->c->size);
}

static int receive(const struct segments *g, const struct pipe_place *place, int64_t i)
{
    if (place->parent < 0 || i >= g->count)
        return -1;
    return sched_recv(g->s, rank_of(g, place->parent), g->base + g->each * i, length(g, i),
                      MPI_BYTE);
}

/* Have each segment received, the next one being on its way, and sent on. */
static void pass_on(const struct segments *g, const struct pipe_place *place)
{
    int sent[WINDOW] = {0}; /* the first step of those that send a segment */
    int coming = receive(g, place, 0);
    for (int64_t i = 0; i < g->count; i++) {
        int next = receive(g, place, i + 1);
        if (coming >= 0)
            sched_wait_for(g->s, coming);
        coming = next;
        for (int k = 0; k < place->children && i >= WINDOW; k++)
            sched_wait_for(g->s, sent[i % WINDOW] + k);
        sent[i % WINDOW] = g->s->count;
        for (int k = 0; k < place->children; k++)
            sched_send(g->s, rank_of(g, place->child[k]), g->base + g->each * i, length(g, i),
                       MPI_BYTE);
    }
}

static void bcast(struct sched *s, const struct coll *c, struct pipe_place (*find)(int index, int size))
{
    const struct coll_data *data = &c->recv;
    int index = coll_around(c->rank, -c->root, c->size);
    struct mpid_bytes bytes;
    struct type *used;
    (void)type_place(data->type, data->buf, data->count, &bytes, &used); /* checked by the caller */
    struct segments g = {.s = s, .c = c, .total = (MPI_Count)bytes.len};
    struct pipe_place place = find(index, c->size);
    g.each = (g.total / SEGMENTS + SHORTEST - 1) / SHORTEST * SHORTEST;
    g.each = g.each < SHORTEST ? SHORTEST : g.each > LONGEST ? LONGEST : g.each;
    g.count = (g.total + g.each - 1) / g.each;
    g.base = bytes.layout ? sched_temp(s, g.total) : bytes.base;
    if (s->broken)
        return;
    if (bytes.layout && index == 0)
        sched_copy_as(s, data->buf, data->count, data->type, g.base, g.total, MPI_BYTE);
    pass_on(&g, &place);
    if (bytes.layout && index) {
        sched_wait(s);
        sched_copy_as(s, g.base, g.total, MPI_BYTE, data->buf, data->count, data->type);
    }
}

void coll_bcast_chain(struct sched *s, const struct coll *c)
{
    bcast(s, c, in_chain);
}

void coll_bcast_binary(struct sched *s, const struct coll *c)
{
    bcast(s, c, in_binary);
}
