/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Distributed graphs. Any process may give any edge: each edge goes to both its ends, in one
 * exchange of counts and one of edges. For an order by hardware the first process gathers the
 * graph, chooses, and tells all others. See topo_make.h.
 */
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/calls/coll_run.h"
#include "mpi/coll/coll.h"
#include "mpi/coll/sched.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/topo.h"
#include "mpi/topo/topo_make.h"

/* An end of an edge, as it travels: two MPI_INT. */
struct end {
    int node, weight;
};

/* The numbers of edges that go from one process to another: those that begin there, and those that
 * end there. */
struct counts {
    int out, in;
};

/* ---- edges to their ends ---- */

struct edge_exchange {
    struct comm *comm;
    struct counts *sent, *received;    /* [size] */
    struct end *out, *in;              /* by process; those that begin there come first */
    MPI_Count *out_counts, *in_counts; /* [size], in MPI_INT */
    MPI_Aint *out_at, *in_at;          /* [size] */
};

static void release(struct edge_exchange *x)
{
    free(x->sent);
    free(x->out);
    free(x->in);
    free(x->out_counts);
}

static int prepare(struct edge_exchange *x, struct comm *comm)
{
    size_t size = (size_t)comm->size;
    *x = (struct edge_exchange){.comm = comm, .sent = calloc(2 * size, sizeof(*x->sent))};
    x->out_counts = calloc(4 * size, sizeof(*x->out_counts));
    if (!x->sent || !x->out_counts)
        return MPI_ERR_NO_MEM;
    x->received = x->sent + size;
    x->in_counts = x->out_counts + size;
    x->out_at = x->in_counts + size;
    x->in_at = x->out_at + size;
    return MPI_SUCCESS;
}

/* Turn edges per process into counts and places of the blocks. Returns the number of all. */
static int64_t lay_out(int size, const struct counts *counts, MPI_Count *ints, MPI_Aint *at)
{
    int64_t sum = 0;
    for (int i = 0; i < size; i++) {
        at[i] = 2 * sum;
        ints[i] = 2 * ((int64_t)counts[i].out + counts[i].in);
        sum += (int64_t)counts[i].out + counts[i].in;
    }
    return sum;
}

/* Tell all processes how many edges they get. */
static int exchange_counts(struct edge_exchange *x)
{
    struct coll c = {.kind = COLL_ALLTOALL,
                     .send = {.buf = x->sent, .count = 2, .type = MPI_INT},
                     .recv = {.buf = x->received, .count = 2, .type = MPI_INT}};
    return coll_run_over(x->comm, &c);
}

static int exchange_edges(struct edge_exchange *x)
{
    struct coll c = {
        .kind = COLL_ALLTOALL,
        .uneven = true,
        .send = {.buf = x->out, .counts = x->out_counts, .displs = x->out_at, .type = MPI_INT},
        .recv = {.buf = x->in, .counts = x->in_counts, .displs = x->in_at, .type = MPI_INT}};
    return coll_run_over(x->comm, &c);
}

/* Sort the edges by the processes that they go to. */
static int fill(struct edge_exchange *x, const struct topo_part *part)
{
    int size = x->comm->size;
    int64_t edge = 0;
    for (int i = 0; i < part->count; i++)
        for (int k = 0; k < part->degrees[i]; k++, edge++) {
            x->sent[part->sources[i]].out++;
            x->sent[part->destinations[edge]].in++;
        }
    int64_t sum = lay_out(size, x->sent, x->out_counts, x->out_at);
    struct counts *at = calloc((size_t)size, sizeof(*at)); /* filled so far */
    x->out = malloc(((size_t)sum + 1) * sizeof(*x->out));
    if (!x->out || !at) {
        free(at);
        return MPI_ERR_NO_MEM;
    }
    edge = 0;
    for (int i = 0; i < part->count; i++)
        for (int k = 0; k < part->degrees[i]; k++, edge++) {
            int from = part->sources[i], to = part->destinations[edge];
            int weight = part->weights ? part->weights[edge] : 1;
            x->out[x->out_at[from] / 2 + at[from].out++] = (struct end){to, weight};
            x->out[x->out_at[to] / 2 + x->sent[to].out + at[to].in++] = (struct end){from, weight};
        }
    free(at);
    return MPI_SUCCESS;
}

/* The edges that have arrived, in the order of the processes that sent them. */
static struct topo *unpack(const struct edge_exchange *x, bool weighted)
{
    int64_t in = 0, out = 0;
    for (int i = 0; i < x->comm->size; i++) {
        in += x->received[i].in;
        out += x->received[i].out;
    }
    struct topo *topo =
        in > INT_MAX || out > INT_MAX ? NULL : topo_create_dist((int)in, (int)out, weighted);
    if (!topo)
        return NULL;
    struct topo_dist *dist = &topo->dist;
    const struct end *end = x->in;
    in = out = 0;
    for (int i = 0; i < x->comm->size; i++) {
        for (int k = 0; k < x->received[i].out; k++, end++, out++) {
            dist->destinations[out] = end->node;
            dist->destination_weights[out] = end->weight;
        }
        for (int k = 0; k < x->received[i].in; k++, end++, in++) {
            dist->sources[in] = end->node;
            dist->source_weights[in] = end->weight;
        }
    }
    return topo;
}

int topo_dist_collect(struct comm *comm, const struct topo_part *part, bool weighted,
                      struct topo **mine)
{
    struct edge_exchange x;
    int rc = prepare(&x, comm);
    if (!rc)
        rc = fill(&x, part);
    if (!rc)
        rc = exchange_counts(&x);
    if (!rc) {
        int64_t sum = lay_out(comm->size, x.received, x.in_counts, x.in_at);
        x.in = malloc(((size_t)sum + 1) * sizeof(*x.in));
        rc = x.in ? exchange_edges(&x) : MPI_ERR_NO_MEM;
    }
    if (!rc) {
        *mine = unpack(&x, weighted);
        rc = *mine ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    release(&x);
    return rc;
}

/* ---- order by hardware ---- */

/* Choose at the root, which has all edges: those of node i are ends[at[i] / 2...]. */
static void choose(const struct topo_places *places, const struct end *ends,
                   const MPI_Count *counts, const MPI_Aint *at, int *rank_of_node)
{
    int64_t all = places->count ? (at[places->count - 1] + counts[places->count - 1]) / 2 : 0;
    struct topo_edge *list = malloc(((size_t)all + 1) * sizeof(*list));
    struct topo_edges edges;
    if (!list)
        return;
    for (int node = 0; node < places->count; node++)
        for (int64_t i = at[node] / 2; i < (at[node] + counts[node]) / 2; i++)
            list[i] = (struct topo_edge){node, ends[i].node, ends[i].weight};
    if (!topo_edges_make(list, all, places->count, &edges)) {
        if (topo_place_graph(places, &edges, rank_of_node))
            for (int i = 0; i < places->count; i++)
                rank_of_node[i] = i; /* a hint only: no reason for an error */
        topo_edges_free(&edges);
    }
    free(list);
}

/* The root gathers the edges that begin at each process, and chooses. */
static int gather_and_choose(struct comm *comm, const struct topo_dist *mine,
                             const struct topo_places *places, int *rank_of_node)
{
    size_t size = (size_t)comm->size;
    MPI_Count out = 2 * (MPI_Count)mine->outdegree, *counts = calloc(2 * size, sizeof(*counts));
    MPI_Aint *at = counts + size;
    struct end *ends = malloc(((size_t)mine->outdegree + 1) * sizeof(*ends)), *all = NULL;
    int rc = counts && ends ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    struct coll gather = {.kind = COLL_GATHER,
                          .send = {.buf = &out, .count = 1, .type = MPI_COUNT},
                          .recv = {.buf = counts, .count = 1, .type = MPI_COUNT}};
    if (!rc)
        rc = coll_run_over(comm, &gather);
    for (int i = 0; !rc && i < mine->outdegree; i++)
        ends[i] = (struct end){mine->destinations[i], mine->destination_weights[i]};
    if (!rc && comm->rank == 0) {
        for (size_t i = 1; i < size; i++)
            at[i] = at[i - 1] + counts[i - 1];
        all = malloc((size_t)(at[size - 1] + counts[size - 1] + 1) * sizeof(int));
        rc = all ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    }
    struct coll gatherv = {.kind = COLL_GATHER,
                           .uneven = true,
                           .send = {.buf = ends, .count = out, .type = MPI_INT},
                           .recv = {.buf = all, .counts = counts, .displs = at, .type = MPI_INT}};
    if (!rc)
        rc = coll_run_over(comm, &gatherv);
    if (!rc && comm->rank == 0)
        choose(places, all, counts, at, rank_of_node);
    free(counts);
    free(ends);
    free(all);
    return rc;
}

/* Send a buffer to one process, and get one from another; lengths in MPI_INT. */
struct swap {
    int to, from;
    const int *out;
    int *in;
};

static int swap(struct comm *comm, const struct swap *s, MPI_Count sent, MPI_Count received)
{
    struct sched sched;
    sched_init(&sched, comm, NULL);
    if (s->from != comm->rank) {
        sched_recv(&sched, s->from, s->in, received, MPI_INT);
        sched_send(&sched, s->to, s->out, sent, MPI_INT);
    }
    return sched_run(&sched);
}

/* Each process gives away the edges of the node with its own rank, and gets those of the node that
 * it takes. */
static int move(struct comm *comm, const int *rank_of_node, struct topo **mine)
{
    const struct topo_dist *old = &(*mine)->dist;
    int node = 0, sent[3] = {old->indegree, old->outdegree, old->weighted};
    int received[3] = {sent[0], sent[1], sent[2]};
    while (rank_of_node[node] != comm->rank)
        node++;
    struct swap s = {rank_of_node[comm->rank], node, sent, received};
    int rc = swap(comm, &s, 3, 3);
    if (rc)
        return rc;
    struct topo *new = topo_create_dist(received[0], received[1], received[2] != 0);
    if (!new)
        return MPI_ERR_NO_MEM;
    s.out = (*mine)->data;
    s.in = new->data;
    rc = swap(comm, &s, 2 * ((MPI_Count)sent[0] + sent[1]),
              2 * ((MPI_Count)received[0] + received[1]));
    if (rc || node == comm->rank) {
        topo_unref(new);
    } else {
        topo_unref(*mine);
        *mine = new;
    }
    return rc;
}

int topo_dist_reorder(struct comm *comm, struct topo **mine, int *rank_of_node)
{
    struct topo_places places;
    for (int i = 0; i < comm->size; i++)
        rank_of_node[i] = i;
    int rc = topo_gather_places(comm, &places);
    if (rc || !places.levels) {
        if (!rc)
            topo_places_free(&places);
        return rc;
    }
    rc = gather_and_choose(comm, &(*mine)->dist, &places, rank_of_node);
    topo_places_free(&places);
    struct coll bcast = {.kind = COLL_BCAST,
                         .recv = {.buf = rank_of_node, .count = comm->size, .type = MPI_INT}};
    if (!rc)
        rc = coll_run_over(comm, &bcast);
    return rc ? rc : move(comm, rank_of_node, mine);
}
