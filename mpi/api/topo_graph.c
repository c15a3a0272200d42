/* SPDX-License-Identifier: BSD-3-Clause */

/* Virtual topologies: graphs (MPI-5.0 chapter 8). */
#include <mpi.h>
#include <stdlib.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/topo.h"
#include "mpi/info.h"
#include "mpi/topo/topo_finish.h"
#include "mpi/topo/topo_make.h"

static int check_graph(struct comm *comm, const struct topo_graph *graph, const char *function)
{
    if (graph->nodes < 0 || graph->nodes > comm->size)
        return errh_comm(comm, MPI_ERR_TOPOLOGY, function,
                         "nnodes %d: must be 0 to %d, the number of processes", graph->nodes,
                         comm->size);
    if (graph->nodes && !graph->index)
        return topo_null_argument(comm, function);
    for (int i = 0; i < graph->nodes; i++)
        if (graph->index[i] < (i ? graph->index[i - 1] : 0))
            return errh_comm(comm, MPI_ERR_TOPOLOGY, function,
                             "indx[%d] is %d: must be 0 or more, and no less than the one before",
                             i, graph->index[i]);
    int count = graph->nodes ? graph->index[graph->nodes - 1] : 0;
    if (count && !graph->edges)
        return topo_null_argument(comm, function);
    for (int i = 0; i < count; i++)
        if ((unsigned)graph->edges[i] >= (unsigned)graph->nodes)
            return errh_comm(comm, MPI_ERR_TOPOLOGY, function, "edges[%d] is %d: must be 0 to %d",
                             i, graph->edges[i], graph->nodes - 1);
    return MPI_SUCCESS;
}

static int check_info(struct comm *comm, MPI_Info info, const char *function)
{
    if (info == MPI_INFO_NULL || info_from(info))
        return MPI_SUCCESS;
    return errh_comm(comm, MPI_ERR_INFO, function, "info %s is no info object, or was freed",
                     errh_name(info).text);
}

/* ---- graphs that every process knows ---- */

/* In the form that checks and mechanics take; nothing is written through it. */
static struct topo_graph graph_of(int nnodes, const int indx[], const int edges[])
{
    return (struct topo_graph){nnodes, (int *)indx, (int *)edges};
}

/*
 * Make a communicator whose processes form a graph.
 *
 * Collective over comm_old; all give the same graph. Edges may be double, lead back to their node,
 * and need not be there in both directions. Processes that are left over get MPI_COMM_NULL; so do
 * all where nnodes is 0.
 *
 * nnodes: number of nodes, at most the size of comm_old
 * indx: for each node, how many edges it and the nodes before it have
 * edges: the neighbours of all nodes, one node after the other
 * reorder: whether ranks may change, so that neighbours share hosts, packages and caches; they do
 *   if that lowers the number of edges between these
 * comm_graph: the new communicator
 *
 * MPI_ERR_TOPOLOGY: the graph is larger than comm_old, or is none.
 *
 * MPI-5.0 8.5.3
 */
int PMPI_Graph_create(MPI_Comm comm_old, int nnodes, const int indx[], const int edges[],
                      int reorder, MPI_Comm *comm_graph)
{
    struct comm *on;
    struct topo_graph graph = graph_of(nnodes, indx, edges);
    int rc = topo_check_parent(comm_old, &on, __func__);
    if (rc)
        return rc;
    if (!comm_graph)
        return topo_null_argument(on, __func__);
    *comm_graph = MPI_COMM_NULL;
    rc = check_graph(on, &graph, __func__);
    if (rc || !nnodes)
        return rc;
    return topo_finish(on, topo_create_graph(nnodes, indx, edges), nnodes, reorder, comm_graph,
                       __func__);
}

/*
 * Say which rank this process would get in a graph, were MPI_Graph_create to order it by hardware.
 *
 * Collective over comm; all give the same graph.
 *
 * nnodes: number of nodes, at most the size of comm
 * indx: for each node, how many edges it and the nodes before it have
 * edges: the neighbours of all nodes, one node after the other
 * newrank: the rank, or MPI_UNDEFINED where the process is left over
 *
 * MPI_ERR_TOPOLOGY: the graph is larger than comm, or is none.
 *
 * MPI-5.0 8.5.8
 */
int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int *newrank)
{
    struct comm *on;
    struct topo_graph graph = graph_of(nnodes, indx, edges);
    int rc = topo_check_parent(comm, &on, __func__);
    if (!rc)
        rc = newrank ? check_graph(on, &graph, __func__) : topo_null_argument(on, __func__);
    if (rc)
        return rc;
    if (nnodes)
        return topo_finish_map(on, topo_create_graph(nnodes, indx, edges), nnodes, newrank,
                               __func__);
    *newrank = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

/*
 * Say how large a graph is.
 *
 * Local.
 *
 * nnodes: number of nodes
 * nedges: number of edges, each counted at its source
 *
 * MPI_ERR_TOPOLOGY: comm has no graph topology.
 *
 * MPI-5.0 8.5.5
 */
int PMPI_Graphdims_get(MPI_Comm comm, int *nnodes, int *nedges)
{
    struct comm *on;
    int rc = topo_check_kind(comm, MPI_GRAPH, &on, __func__);
    if (rc)
        return rc;
    if (!nnodes || !nedges)
        return topo_null_argument(on, __func__);
    *nnodes = on->topo->graph.nodes;
    *nedges = on->topo->graph.index[*nnodes - 1];
    return MPI_SUCCESS;
}

/*
 * Say what a graph is like, in the form that MPI_Graph_create takes.
 *
 * Local.
 *
 * maxindex: room in indx, at least the number of nodes
 * maxedges: room in edges, at least the number of edges
 * indx (out): for each node, how many edges it and the nodes before it have
 * edges (out): the neighbours of all nodes, one node after the other
 *
 * MPI_ERR_TOPOLOGY: comm has no graph topology.
 * MPI_ERR_ARG: an array is too small, or NULL.
 *
 * MPI-5.0 8.5.5
 */
int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[])
{
    struct comm *on;
    int rc = topo_check_kind(comm, MPI_GRAPH, &on, __func__);
    if (rc)
        return rc;
    const struct topo_graph *graph = &on->topo->graph;
    int count = graph->index[graph->nodes - 1];
    rc = topo_check_room(on, maxindex, graph->nodes, __func__);
    if (!rc)
        rc = topo_check_room(on, maxedges, count, __func__);
    if (rc)
        return rc;
    if (!indx || (count && !edges))
        return topo_null_argument(on, __func__);
    for (int i = 0; i < graph->nodes; i++)
        indx[i] = graph->index[i];
    for (int i = 0; i < count; i++)
        edges[i] = graph->edges[i];
    return MPI_SUCCESS;
}

/*
 * Say how many neighbours a rank has in a graph.
 *
 * Local.
 *
 * rank: a rank of comm
 * nneighbors: number of edges that begin there
 *
 * MPI_ERR_TOPOLOGY: comm has no graph topology.
 * MPI_ERR_RANK: no such rank.
 *
 * MPI-5.0 8.5.5
 */
int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int *nneighbors)
{
    struct comm *on;
    int rc = topo_check_kind(comm, MPI_GRAPH, &on, __func__);
    if (!rc)
        rc = topo_check_rank(on, rank, __func__);
    if (rc)
        return rc;
    if (!nneighbors)
        return topo_null_argument(on, __func__);
    (void)topo_graph_edges(&on->topo->graph, rank, nneighbors);
    return MPI_SUCCESS;
}

/*
 * Say which neighbours a rank has in a graph.
 *
 * Local.
 *
 * rank: a rank of comm
 * maxneighbors: room in neighbors, at least what MPI_Graph_neighbors_count says
 * neighbors (out): ranks, in the order in which MPI_Graph_create was given them
 *
 * MPI_ERR_TOPOLOGY: comm has no graph topology.
 * MPI_ERR_RANK: no such rank.
 * MPI_ERR_ARG: maxneighbors is too small.
 *
 * MPI-5.0 8.5.5
 */
int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[])
{
    struct comm *on;
    int count, rc = topo_check_kind(comm, MPI_GRAPH, &on, __func__);
    if (!rc)
        rc = topo_check_rank(on, rank, __func__);
    if (rc)
        return rc;
    const int *edges = topo_graph_edges(&on->topo->graph, rank, &count);
    rc = topo_check_room(on, maxneighbors, count, __func__);
    if (rc)
        return rc;
    if (count && !neighbors)
        return topo_null_argument(on, __func__);
    for (int i = 0; i < count; i++)
        neighbors[i] = edges[i];
    return MPI_SUCCESS;
}

/* ---- distributed graphs ---- */

/* Ranks at one end of edges, and the edges' weights. */
struct edge_side {
    const char *name;
    int count;
    const int *ranks, *weights;
};

static int check_side(struct comm *comm, const struct edge_side *side, const char *function)
{
    if (side->count < 0)
        return errh_comm(comm, MPI_ERR_ARG, function, "%s: their number %d is negative", side->name,
                         side->count);
    bool weighted = side->weights != MPI_UNWEIGHTED;
    if (side->count && (!side->ranks || !side->weights))
        return topo_null_argument(comm, function);
    if (side->count && side->weights == MPI_WEIGHTS_EMPTY)
        return errh_comm(comm, MPI_ERR_ARG, function,
                         "%s: MPI_WEIGHTS_EMPTY, but there are %d edges", side->name, side->count);
    for (int i = 0; i < side->count; i++) {
        if ((unsigned)side->ranks[i] >= (unsigned)comm->size)
            return errh_comm(comm, MPI_ERR_RANK, function, "%s[%d] is %d: must be 0 to %d",
                             side->name, i, side->ranks[i], comm->size - 1);
        if (weighted && side->weights[i] < 0)
            return errh_comm(comm, MPI_ERR_ARG, function, "%s[%d]: its weight %d is negative",
                             side->name, i, side->weights[i]);
    }
    return MPI_SUCCESS;
}

/* Make the communicator of a distributed graph; this process has one node of it. */
static int make_dist(struct comm *comm, struct topo *mine, bool reorder, MPI_Comm *newcomm,
                     const char *function)
{
    struct comm *new = NULL;
    int *rank_of_node = malloc((size_t)comm->size * sizeof(*rank_of_node));
    int rc = rank_of_node ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (int i = 0; !rc && i < comm->size; i++)
        rank_of_node[i] = i;
    if (!rc && reorder)
        rc = topo_dist_reorder(comm, &mine, rank_of_node);
    if (rc)
        topo_unref(mine);
    else
        rc = topo_make(comm, mine, rank_of_node, comm->size, &new);
    free(rank_of_node);
    if (rc)
        return topo_failed(comm, rc, function);
    *newcomm = comm_handle(new);
    return MPI_SUCCESS;
}

static void copy_side(const struct edge_side *side, int *ranks, int *weights)
{
    for (int i = 0; i < side->count; i++) {
        ranks[i] = side->ranks[i];
        weights[i] = side->weights == MPI_UNWEIGHTED ? 1 : side->weights[i];
    }
}

/*
 * Make a communicator with a graph; each process gives the edges of its own node.
 *
 * Collective over comm_old. Each edge is given twice, by its source and by its destination, with
 * the same weight; and as often as there are edges between two nodes. An edge may lead back to its
 * node.
 *
 * indegree: number of edges that end here
 * sources: their sources: indegree ranks of comm_old
 * sourceweights: their weights, 0 or more each: indegree numbers; or MPI_UNWEIGHTED, which all give
 *   or none; or MPI_WEIGHTS_EMPTY where indegree is 0
 * outdegree: number of edges that begin here
 * destinations: their destinations: outdegree ranks of comm_old
 * destweights: their weights, likewise
 * info: hints, or MPI_INFO_NULL; none is known
 * reorder: whether ranks may change, so that neighbours share hosts, packages and caches; they do
 *   if that lowers the weight of the edges between these
 * comm_dist_graph: the new communicator, of as many processes
 *
 * MPI_ERR_RANK: a source or destination is no rank of comm_old.
 * MPI_ERR_ARG: a number or a weight is negative, an array is missing, or one side has no weights.
 *
 * MPI-5.0 8.5.4
 */
int PMPI_Dist_graph_create_adjacent(MPI_Comm comm_old, int indegree, const int sources[],
                                    const int *sourceweights, int outdegree,
                                    const int destinations[], const int *destweights, MPI_Info info,
                                    int reorder, MPI_Comm *comm_dist_graph)
{
    struct comm *on;
    struct edge_side in = {"sources", indegree, sources, sourceweights};
    struct edge_side out = {"destinations", outdegree, destinations, destweights};
    bool weighted = sourceweights != MPI_UNWEIGHTED;
    int rc = topo_check_parent(comm_old, &on, __func__);
    if (!rc)
        rc = comm_dist_graph ? check_info(on, info, __func__) : topo_null_argument(on, __func__);
    if (!rc)
        rc = check_side(on, &in, __func__);
    if (!rc)
        rc = check_side(on, &out, __func__);
    if (rc)
        return rc;
    if (weighted != (destweights != MPI_UNWEIGHTED))
        return errh_comm(on, MPI_ERR_ARG, __func__,
                         "MPI_UNWEIGHTED must be given for both sides, or for none");
    struct topo *mine = topo_create_dist(indegree, outdegree, weighted);
    if (!mine)
        return topo_no_memory(on, __func__);
    copy_side(&in, mine->dist.sources, mine->dist.source_weights);
    copy_side(&out, mine->dist.destinations, mine->dist.destination_weights);
    return make_dist(on, mine, reorder, comm_dist_graph, __func__);
}

/* Add up the degrees. */
static int count_edges(struct comm *comm, const struct edge_side *from, const int degrees[],
                       int *sum, const char *function)
{
    *sum = 0;
    if (from->count > 0 && !degrees)
        return topo_null_argument(comm, function);
    for (int i = 0; i < from->count; i++)
        if (degrees[i] < 0 || __builtin_add_overflow(*sum, degrees[i], sum))
            return errh_comm(comm, MPI_ERR_ARG, function,
                             "degrees[%d] is %d: negative, or too large", i, degrees[i]);
    return MPI_SUCCESS;
}

/*
 * Make a communicator with a graph; each process gives any of the edges.
 *
 * Collective over comm_old. Each edge is given once, by any process, and as often as there are
 * edges between two nodes. An edge may lead back to its node.
 *
 * n: number of nodes whose edges this process gives, 0 or more
 * sources: where the edges begin: n ranks of comm_old, which may be the same
 * degrees: for each of them, how many edges are given
 * destinations: their destinations: as many ranks of comm_old as all degrees make, those of
 *   the first source first
 * weights: weights of the edges, 0 or more each, in the same order; or MPI_UNWEIGHTED, which all
 *   give or none; or MPI_WEIGHTS_EMPTY if there are no edges
 * info: hints, or MPI_INFO_NULL; none is known
 * reorder: whether ranks may change, so that neighbours share hosts, packages and caches; they do
 *   if that lowers the weight of the edges between these
 * comm_dist_graph: the new communicator, of as many processes
 *
 * MPI_ERR_RANK: a source or destination is no rank of comm_old.
 * MPI_ERR_ARG: a number or a weight is negative, or an array is missing.
 *
 * MPI-5.0 8.5.4
 */
int PMPI_Dist_graph_create(MPI_Comm comm_old, int n, const int sources[], const int degrees[],
                           const int destinations[], const int *weights, MPI_Info info, int reorder,
                           MPI_Comm *comm_dist_graph)
{
    struct comm *on;
    struct topo *mine;
    struct edge_side from = {"sources", n, sources, MPI_UNWEIGHTED};
    struct edge_side to = {"destinations", 0, destinations, weights};
    bool weighted = weights != MPI_UNWEIGHTED;
    int rc = topo_check_parent(comm_old, &on, __func__);
    if (!rc)
        rc = comm_dist_graph ? check_info(on, info, __func__) : topo_null_argument(on, __func__);
    if (!rc)
        rc = check_side(on, &from, __func__);
    if (!rc)
        rc = count_edges(on, &from, degrees, &to.count, __func__);
    if (!rc)
        rc = check_side(on, &to, __func__);
    if (rc)
        return rc;
    struct topo_part part = {n, sources, degrees, destinations, weighted ? weights : NULL};
    rc = topo_dist_collect(on, &part, weighted, &mine);
    return rc ? topo_failed(on, rc, __func__)
              : make_dist(on, mine, reorder, comm_dist_graph, __func__);
}

/*
 * Say how many neighbours this process has in a distributed graph.
 *
 * Local.
 *
 * indegree: number of edges that end here
 * outdegree: number of edges that begin here
 * weighted: 0 if the graph was made with MPI_UNWEIGHTED, 1 if not
 *
 * MPI_ERR_TOPOLOGY: comm has no distributed graph topology.
 *
 * MPI-5.0 8.5.5
 */
int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int *indegree, int *outdegree, int *weighted)
{
    struct comm *on;
    int rc = topo_check_kind(comm, MPI_DIST_GRAPH, &on, __func__);
    if (rc)
        return rc;
    if (!indegree || !outdegree || !weighted)
        return topo_null_argument(on, __func__);
    *indegree = on->topo->dist.indegree;
    *outdegree = on->topo->dist.outdegree;
    *weighted = on->topo->dist.weighted;
    return MPI_SUCCESS;
}

/* Where a side of edges goes in the user's memory. */
struct room {
    int count;
    int *ranks, *weights;
};

/* Give the user as much of it as there is room for; weights if there are any. */
static int give_side(struct comm *comm, const struct edge_side *side, const struct room *room,
                     const char *function)
{
    int count = side->count < room->count ? side->count : room->count;
    bool weighted = comm->topo->dist.weighted && room->weights != MPI_UNWEIGHTED;
    if (room->count < 0)
        return errh_comm(comm, MPI_ERR_ARG, function, "%s: room for %d, which is negative",
                         side->name, room->count);
    if (count && (!room->ranks || (weighted && !room->weights)))
        return topo_null_argument(comm, function);
    if (count && weighted && room->weights == MPI_WEIGHTS_EMPTY)
        return errh_comm(comm, MPI_ERR_ARG, function, "%s: MPI_WEIGHTS_EMPTY, but there are edges",
                         side->name);
    for (int i = 0; i < count; i++) {
        room->ranks[i] = side->ranks[i];
        if (weighted)
            room->weights[i] = side->weights[i];
    }
    return MPI_SUCCESS;
}

/*
 * Say which neighbours this process has in a distributed graph.
 *
 * Local. If there is less room than neighbours, the first ones are given. Their order is always
 * the same, and of MPI_Dist_graph_create_adjacent it is that in which they were given.
 *
 * maxindegree: room in sources and sourceweights
 * sources (out): ranks in comm where the edges begin that end here
 * sourceweights (out): their weights, if the graph has any; or MPI_UNWEIGHTED: not wanted
 * maxoutdegree: room in destinations and destweights
 * destinations (out): ranks in comm where the edges end that begin here
 * destweights (out): their weights, likewise
 *
 * MPI_ERR_TOPOLOGY: comm has no distributed graph topology.
 * MPI_ERR_ARG: a room is negative, or an array is missing.
 *
 * MPI-5.0 8.5.5
 */
int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int *sourceweights,
                              int maxoutdegree, int destinations[], int *destweights)
{
    struct comm *on;
    int rc = topo_check_kind(comm, MPI_DIST_GRAPH, &on, __func__);
    if (rc)
        return rc;
    const struct topo_dist *dist = &on->topo->dist;
    struct edge_side in = {"sources", dist->indegree, dist->sources, dist->source_weights};
    struct edge_side out = {"destinations", dist->outdegree, dist->destinations,
                            dist->destination_weights};
    struct room in_room = {maxindegree, sources, sourceweights};
    struct room out_room = {maxoutdegree, destinations, destweights};
    rc = give_side(on, &in, &in_room, __func__);
    return rc ? rc : give_side(on, &out, &out_room, __func__);
}

#include "topo_graph.gen.h"
