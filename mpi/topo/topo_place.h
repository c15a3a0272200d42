/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The choice of a process for each node of a topology, so that neighbours share hosts, then
 * packages, caches, cores.
 *
 * Processes are put in the order of the hardware: each has a seat, and those of one host, and
 * within it of one package and so on, have seats side by side. Nodes are put in an order in which
 * neighbours are close: a grid is cut into blocks, any graph is halved again and again along few
 * edges. The i-th node goes to the i-th seat. Several such orders are tried, and the one of least
 * cut is taken: least weight between hosts; of equal ones least between packages; and so on. If
 * none is better than the present order of ranks, that order stays.
 *
 * All of it is deterministic: processes that have the same arguments get the same result. Returns
 * are MPI_SUCCESS or MPI_ERR_NO_MEM.
 */
#ifndef MPI_TOPO_PLACE_H
#define MPI_TOPO_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/comm/hardware.h"
#include "mpi/comm/topo.h"

/* Levels that distinguish no two processes are left out. */
struct topo_places {
    int count, levels;
    int *rank;  /* [count]: whose seat it is */
    int *group; /* [count * levels]: by seat, then level: the lowest rank in the same place */
};

/* One edge of a graph, and its weight. */
struct topo_edge {
    int from, to, weight;
};

/* An undirected graph: each edge stands at both its ends; self edges are left out. */
struct topo_edges {
    int nodes;
    int64_t *start;       /* [nodes + 1]: of each node's edges */
    struct topo_end *end; /* [start[nodes]] */
};
struct topo_end {
    int node, weight;
};

/* list[rank]: its place. */
int topo_places_make(const struct hardware_place *list, int count, struct topo_places *places);
void topo_places_free(struct topo_places *places);

int topo_edges_make(const struct topo_edge *list, int64_t count, int nodes,
                    struct topo_edges *edges);
int topo_edges_of_grid(const struct topo_grid *grid, struct topo_edges *edges);
void topo_edges_free(struct topo_edges *edges);

/* Set rank_of_node[]. There are at most as many nodes as processes. */
int topo_place_grid(const struct topo_places *places, const struct topo_grid *grid,
                    int *rank_of_node);
int topo_place_graph(const struct topo_places *places, const struct topo_edges *edges,
                     int *rank_of_node);

/* cut[level]: twice the weight of the edges whose ends are in the same place of all levels before,
 * but not of this one. */
int topo_place_cut(const struct topo_places *places, const struct topo_edges *edges,
                   const int *rank_of_node, int64_t cut[HARDWARE_LEVELS]);

/* ---- between the files of this module ---- */

/* Reorder the nodes, so that the first left of them go to other places than the rest. */
typedef int (*topo_split_fn)(void *how, int *nodes, int count, int left);

/* Order the nodes by splitting them at the borders of places, the outermost first. */
int topo_place_split(const struct topo_places *places, int *nodes, int count, topo_split_fn split,
                     void *how);
/* Take this order if it is better than rank_of_node. */
int topo_place_choose(const struct topo_places *places, const struct topo_edges *edges,
                      const int *node_of_seat, int *rank_of_node);
/* A function that splits a graph; how is a struct topo_halver. */
struct topo_halver {
    const struct topo_edges *edges;
    struct topo_half *half; /* [nodes] */
    int *list;              /* [nodes] */
};
int topo_halver_make(const struct topo_edges *edges, struct topo_halver *halver);
void topo_halver_free(struct topo_halver *halver);
int topo_split_graph(void *how, int *nodes, int count, int left);

#endif
