/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Virtual topologies of communicators. A topology never changes after it was made, so duplicates of
 * a communicator share it.
 *
 * Ranks are those of its communicator. A grid or a graph is known whole to
 * every process; of a distributed graph each process knows its own edges.
 */
#ifndef MPI_TOPO_H
#define MPI_TOPO_H

#include <stdbool.h>
#include <stdint.h>

struct topo_grid {
    int ndims;
    const int *dims;
    const int *periods; /* whether an edge leads from the last to the first */
};

struct topo_graph {
    int nodes;
    int *index; /* [nodes]: end of each node's edges */
    int *edges; /* [index[nodes - 1]] */
};

struct topo_dist {
    int indegree, outdegree;
    bool weighted;
    int *sources, *source_weights;           /* [indegree]; weights are 1 where not weighted */
    int *destinations, *destination_weights; /* [outdegree] */
};

struct topo {
    uint32_t refs; /* atomic */
    int kind;      /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
    union {
        struct topo_grid grid;
        struct topo_graph graph;
        struct topo_dist dist;
    };
    int data[]; /* all arrays */
};

/* Make a topology with copies of the arguments or (dist) with arrays to fill in. NULL: no memory.
 */
struct topo *topo_create_grid(const struct topo_grid *grid);
struct topo *topo_create_graph(int nodes, const int *index, const int *edges);
struct topo *topo_create_dist(int indegree, int outdegree, bool weighted);
struct topo *topo_ref(struct topo *topo); /* both accept NULL */
void topo_unref(struct topo *topo);

/* Processes of a grid: the product of its sides. -1: more than limit. */
int topo_grid_size(const struct topo_grid *grid, int limit);
void topo_grid_coords(const struct topo_grid *grid, int rank, int *coords);
/* Ranks at disp steps back and forth from a rank, or MPI_PROC_NULL. */
void topo_grid_shift(const struct topo_grid *grid, int rank, int direction, int disp, int to[2]);
/* Return the first of a node's edges; *count of them. */
const int *topo_graph_edges(const struct topo_graph *graph, int node, int *count);

/* The numbers of neighbours that send to a process, and that it sends to; 0 without a topology. Of
 * a distributed graph: those of this process. */
int topo_indegree(const struct topo *topo, int rank);
int topo_outdegree(const struct topo *topo, int rank);
/* The i-th neighbour; MPI_PROC_NULL beyond the edge of a grid. In a grid, two along each dimension.
 */
int topo_source(const struct topo *topo, int rank, int i);
int topo_destination(const struct topo *topo, int rank, int i);

#endif
