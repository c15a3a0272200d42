/* SPDX-License-Identifier: BSD-3-Clause */

/* Communicators with a topology; see topo_make.h. */
#include "mpi/topo/topo_make.h"

#include <mpi.h>
#include <stdlib.h>

#include "mpi/coll/agree.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/group.h"
#include "mpi/comm/hardware.h"
#include "mpi/comm/topo.h"
#include "mpi/make/comm_make.h"

int topo_gather_places(struct comm *comm, struct topo_places *places)
{
    struct hardware_place *list = calloc((size_t)comm->size, sizeof(*list));
    if (!list)
        return MPI_ERR_NO_MEM;
    hardware_look(&list[comm->rank]); /* processes may have been bound since the start */
    struct agree all = {.comm = comm, .context = comm->context + 1, .tag = COMM_AGREE_TAG};
    int rc = agree_gather(&all, AGREE_WORDS, list, sizeof(*list));
    if (!rc)
        rc = topo_places_make(list, comm->size, places);
    free(list);
    return rc;
}

static int place_graph(const struct topo_places *places, const struct topo_graph *graph,
                       int *rank_of_node)
{
    int count = graph->index[graph->nodes - 1], edge = 0;
    struct topo_edge *list = malloc(((size_t)count + 1) * sizeof(*list));
    struct topo_edges edges;
    if (!list)
        return MPI_ERR_NO_MEM;
    for (int node = 0; node < graph->nodes; node++)
        for (; edge < graph->index[node]; edge++)
            list[edge] = (struct topo_edge){node, graph->edges[edge], 1};
    int rc = topo_edges_make(list, count, graph->nodes, &edges);
    free(list);
    if (rc)
        return rc;
    rc = topo_place_graph(places, &edges, rank_of_node);
    topo_edges_free(&edges);
    return rc;
}

int topo_choose(struct comm *comm, const struct topo *topo, int nodes, int *rank_of_node)
{
    struct topo_places places;
    int rc = topo_gather_places(comm, &places);
    if (rc)
        return rc;
    for (int i = 0; i < nodes; i++)
        rank_of_node[i] = i;
    if (places.levels)
        rc = topo->kind == MPI_CART ? topo_place_grid(&places, &topo->grid, rank_of_node)
                                    : place_graph(&places, &topo->graph, rank_of_node);
    topo_places_free(&places);
    return rc;
}

int topo_make(struct comm *comm, struct topo *topo, const int *rank_of_node, int nodes,
              struct comm **new)
{
    *new = NULL;
    struct group *group = group_pick(comm->group, rank_of_node, nodes);
    int rc = group ? comm_create_group(comm, group, -1, new) : MPI_ERR_NO_MEM;
    group_unref(group);
    if (!rc && *new)
        (*new)->topo = topo;
    else
        topo_unref(topo);
    return rc;
}

int topo_make_part(struct comm *comm, const int *remain, struct comm **new)
{
    const struct topo_grid *grid = &comm->topo->grid;
    struct comm_split how = {.member = true};
    size_t ndims = (size_t)grid->ndims;
    int *memory = malloc((3 * ndims + 1) * sizeof(*memory));
    if (!memory)
        return MPI_ERR_NO_MEM;
    int *coords = memory, *dims = memory + ndims, *periods = memory + 2 * ndims;
    struct topo_grid part = {0, dims, periods};
    topo_grid_coords(grid, comm->rank, coords);
    for (int d = 0; d < grid->ndims; d++) {
        if (remain[d]) {
            how.key = how.key * grid->dims[d] + coords[d];
            dims[part.ndims] = grid->dims[d];
            periods[part.ndims++] = grid->periods[d];
        } else {
            how.color = how.color * (uint64_t)grid->dims[d] + (uint64_t)coords[d];
        }
    }
    struct topo *topo = topo_create_grid(&part);
    free(memory);
    if (!topo)
        return MPI_ERR_NO_MEM;
    int rc = comm_split(comm, &how, new);
    if (rc)
        topo_unref(topo);
    else
        (*new)->topo = topo;
    return rc;
}
