/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Communicators with a topology: which rank takes each node, and the edges of distributed graphs. All is
 * collective over comm, and returns MPI_SUCCESS or an error class.
 */
#ifndef MPI_TOPO_MAKE_H
#define MPI_TOPO_MAKE_H

#include <stdbool.h>

#include "mpi/topo/topo_place.h"

struct comm;
struct topo;

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
