/* SPDX-License-Identifier: BSD-3-Clause */

/* Graphs that every process knows. */
#include <stdlib.h>

#include "check.h"

enum {
    MOST = 64
};

struct graph {
    int nodes, index[MOST], edges[MOST];
};

/* Node i has edges to i + 1, to i + 1 again, to itself, and node 0 to all. */
static struct graph example(int nodes)
{
    struct graph g = {.nodes = nodes};
    int count = 0;
    for (int i = 0; i < nodes; i++) {
        g.edges[count++] = (i + 1) % nodes;
        g.edges[count++] = (i + 1) % nodes;
        g.edges[count++] = i;
        for (int k = 0; k < nodes && i == 0; k++)
            g.edges[count++] = k;
        g.index[i] = count;
    }
    return g;
}

static void check_graph(MPI_Comm comm, const struct graph *g)
{
    int nodes = -1, count = -1, kind = -1, index[MOST], edges[MOST], first = 0;
    OK(MPI_Topo_test(comm, &kind));
    CHECK(kind == MPI_GRAPH);
    OK(MPI_Graphdims_get(comm, &nodes, &count));
    CHECK(nodes == g->nodes && count == g->index[nodes - 1] && check_size(comm) == nodes);
    OK(MPI_Graph_get(comm, nodes, count, index, edges));
    for (int i = 0; i < nodes; i++)
        CHECK(index[i] == g->index[i]);
    for (int i = 0; i < count; i++)
        CHECK(edges[i] == g->edges[i]);
    for (int i = 0; i < nodes; i++) {
        int degree = -1;
        OK(MPI_Graph_neighbors_count(comm, i, &degree));
        CHECK(degree == g->index[i] - first);
        OK(MPI_Graph_neighbors(comm, i, degree, edges));
        for (int k = 0; k < degree; k++)
            CHECK(edges[k] == g->edges[first + k]);
        first = g->index[i];
    }
}

static void graphs(void)
{
    int size = check_size(MPI_COMM_WORLD), rank = check_rank(MPI_COMM_WORLD);
    for (int nodes = 1; nodes <= size; nodes++)
        for (int reorder = 0; reorder < 2; reorder++) {
            struct graph g = example(nodes);
            MPI_Comm comm = MPI_COMM_WORLD, twin;
            int newrank = -1;
            OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, g.index, g.edges, reorder, &comm));
            OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, g.index, g.edges, &newrank));
            if (!reorder)
                newrank = rank < nodes ? rank : MPI_UNDEFINED;
            CHECK((comm == MPI_COMM_NULL) == (newrank == MPI_UNDEFINED));
            if (comm == MPI_COMM_NULL)
                continue;
            CHECK(check_rank(comm) == newrank);
            OK(MPI_Comm_dup(comm, &twin));
            check_graph(comm, &g);
            OK(MPI_Comm_free(&comm));
            check_graph(twin, &g);
            OK(MPI_Comm_free(&twin));
        }
}

static void errors(void)
{
    int size = check_size(MPI_COMM_WORLD), index[MOST], edges[MOST] = {0}, n = 0;
    MPI_Comm comm = MPI_COMM_WORLD;
    OK(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &comm));
    CHECK(comm == MPI_COMM_NULL);
    OK(MPI_Graph_map(MPI_COMM_WORLD, 0, NULL, NULL, &n));
    CHECK(n == MPI_UNDEFINED);
    for (int i = 0; i < MOST; i++)
        index[i] = 1;
    FAILS(MPI_ERR_TOPOLOGY, MPI_Graph_create(MPI_COMM_WORLD, size + 1, index, edges, 0, &comm));
    edges[0] = size;
    FAILS(MPI_ERR_TOPOLOGY, MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm));
    edges[0] = -1;
    FAILS(MPI_ERR_TOPOLOGY, MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm));
    index[0] = -1;
    FAILS(MPI_ERR_TOPOLOGY, MPI_Graph_create(MPI_COMM_WORLD, 1, index, edges, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(MPI_COMM_WORLD, 1, NULL, edges, 0, &comm));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Graphdims_get(MPI_COMM_WORLD, &n, &n));
    struct graph g = example(size);
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, g.index, g.edges, 0, &comm));
    FAILS(MPI_ERR_ARG, MPI_Graph_get(comm, size - 1, MOST, index, edges));
    FAILS(MPI_ERR_ARG, MPI_Graph_get(comm, size, g.index[size - 1] - 1, index, edges));
    FAILS(MPI_ERR_ARG, MPI_Graph_neighbors(comm, 0, 1, edges));
    FAILS(MPI_ERR_RANK, MPI_Graph_neighbors(comm, size, MOST, edges));
    FAILS(MPI_ERR_RANK, MPI_Graph_neighbors_count(comm, -1, &n));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(comm, &n));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Dist_graph_neighbors_count(comm, &n, &n, &n));
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    graphs();
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    errors();
    OK(MPI_Finalize());
    return 0;
}
