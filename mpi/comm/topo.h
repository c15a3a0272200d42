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

#include "mpi/topo/topo_place.h"

struct comm;

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

/* ---- collective over comm; MPI_SUCCESS or an error class ---- */

/* Choose which rank of comm takes each node of a grid or graph, which has at least one node and at
 * most as many as ranks. */
int topo_choose(struct comm *comm, const struct topo *topo, int nodes, int *rank_of_node);
/* Make a communicator whose rank i is rank_of_node[i] of comm. Takes over the caller's reference to
 * the topology, even on failure. Processes outside it get NULL. */
int topo_make(struct comm *comm, struct topo *topo, const int *rank_of_node, int nodes,
              struct comm **new);
/* The part of a grid that this process is in: along the dimensions that remain. */
int topo_make_part(struct comm *comm, const int *remain, struct comm **new);
/* Where every process runs. */
int topo_gather_places(struct comm *comm, struct topo_places *places);

/* A part of a distributed graph, as MPI_Dist_graph_create has it. */
struct topo_part {
    int count;
    const int *sources, *degrees, *destinations, *weights; /* weights NULL: 1 each */
};
/* Send each edge to both its ends: *mine has those of this process. */
int topo_dist_collect(struct comm *comm, const struct topo_part *part, bool weighted,
                      struct topo **mine);
/* Choose which rank of comm takes each node, and exchange *mine for the edges of the node that this
 * process takes. */
int topo_dist_reorder(struct comm *comm, struct topo **mine, int *rank_of_node);

#endif
