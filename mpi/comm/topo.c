/* SPDX-License-Identifier: BSD-3-Clause */

/* Topologies as objects, and their answers about ranks. See topo.h. */
#include "mpi/comm/topo.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

static struct topo *create(int kind, size_t ints)
{
    struct topo *topo = calloc(1, sizeof(*topo) + ints * sizeof(topo->data[0]));
    if (!topo)
        return NULL;
    topo->refs = 1;
    topo->kind = kind;
    return topo;
}

struct topo *topo_create_grid(const struct topo_grid *grid)
{
    size_t ndims = (size_t)grid->ndims;
    struct topo *topo = create(MPI_CART, 2 * ndims);
    if (!topo)
        return NULL;
    for (size_t d = 0; d < ndims; d++) {
        topo->data[d] = grid->dims[d];
        topo->data[ndims + d] = grid->periods[d] != 0;
    }
    topo->grid = (struct topo_grid){grid->ndims, topo->data, topo->data + ndims};
    return topo;
}

struct topo *topo_create_graph(int nodes, const int *index, const int *edges)
{
    int count = nodes ? index[nodes - 1] : 0;
    struct topo *topo = create(MPI_GRAPH, (size_t)nodes + (size_t)count);
    if (!topo)
        return NULL;
    topo->graph = (struct topo_graph){nodes, topo->data, topo->data + nodes};
    for (int i = 0; i < nodes; i++)
        topo->graph.index[i] = index[i];
    for (int i = 0; i < count; i++)
        topo->graph.edges[i] = edges[i];
    return topo;
}

struct topo *topo_create_dist(int indegree, int outdegree, bool weighted)
{
    size_t in = (size_t)indegree, out = (size_t)outdegree;
    struct topo *topo = create(MPI_DIST_GRAPH, 2 * (in + out));
    if (!topo)
        return NULL;
    int *data = topo->data;
    topo->dist = (struct topo_dist){indegree,  outdegree,     weighted,           data,
                                    data + in, data + 2 * in, data + 2 * in + out};
    return topo;
}

struct topo *topo_ref(struct topo *topo)
{
    if (topo)
        __atomic_fetch_add(&topo->refs, 1, __ATOMIC_RELAXED);
    return topo;
}

void topo_unref(struct topo *topo)
{
    if (topo && __atomic_sub_fetch(&topo->refs, 1, __ATOMIC_ACQ_REL) == 0)
        free(topo);
}

/* ---- grids: the last dimension varies fastest ---- */

int topo_grid_size(const struct topo_grid *grid, int limit)
{
    int64_t size = 1;
    for (int d = 0; d < grid->ndims; d++) {
        size *= grid->dims[d];
        if (size > limit)
            return -1;
    }
    return (int)size;
}

void topo_grid_coords(const struct topo_grid *grid, int rank, int *coords)
{
    for (int d = grid->ndims - 1; d >= 0; d--) {
        coords[d] = rank % grid->dims[d];
        rank /= grid->dims[d];
    }
}

void topo_grid_shift(const struct topo_grid *grid, int rank, int direction, int disp, int to[2])
{
    int64_t stride = 1, size = grid->dims[direction];
    for (int d = direction + 1; d < grid->ndims; d++)
        stride *= grid->dims[d];
    int64_t at = rank / stride % size;
    for (int i = 0; i < 2; i++) {
        int64_t there = at + (i ? (int64_t)disp : -(int64_t)disp);
        if (grid->periods[direction])
            there = (there % size + size) % size;
        bool inside = there >= 0 && there < size;
        to[i] = inside ? (int)(rank + (there - at) * stride) : MPI_PROC_NULL;
    }
}

/* ---- neighbours ---- */

const int *topo_graph_edges(const struct topo_graph *graph, int node, int *count)
{
    int first = node ? graph->index[node - 1] : 0;
    *count = graph->index[node] - first;
    return graph->edges + first;
}

/* Of a topology in which a process sends to the processes that it receives from. */
static int degree(const struct topo *topo, int rank)
{
    int count = 0;
    if (topo->kind == MPI_CART)
        return 2 * topo->grid.ndims; /* MPI_PROC_NULL counts */
    (void)topo_graph_edges(&topo->graph, rank, &count);
    return count;
}

int topo_indegree(const struct topo *topo, int rank)
{
    if (!topo)
        return 0;
    return topo->kind == MPI_DIST_GRAPH ? topo->dist.indegree : degree(topo, rank);
}

int topo_outdegree(const struct topo *topo, int rank)
{
    if (!topo)
        return 0;
    return topo->kind == MPI_DIST_GRAPH ? topo->dist.outdegree : degree(topo, rank);
}

/* The same for such a topology. */
static int neighbor(const struct topo *topo, int rank, int i)
{
    int count, to[2];
    if (topo->kind == MPI_GRAPH)
        return topo_graph_edges(&topo->graph, rank, &count)[i];
    topo_grid_shift(&topo->grid, rank, i / 2, 1, to);
    return to[i % 2];
}

int topo_source(const struct topo *topo, int rank, int i)
{
    return topo->kind == MPI_DIST_GRAPH ? topo->dist.sources[i] : neighbor(topo, rank, i);
}

int topo_destination(const struct topo *topo, int rank, int i)
{
    return topo->kind == MPI_DIST_GRAPH ? topo->dist.destinations[i] : neighbor(topo, rank, i);
}
