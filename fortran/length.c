/* SPDX-License-Identifier: BSD-3-Clause */

/* How many elements the arrays of a collective have. */
#include "fortran/fortran.h"

/* Processes that a collective talks to: an intercommunicator's others. */
static int peers(MPI_Comm comm)
{
    int inter = 0, size = 0;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS)
        return 0;
    (void)(inter ? PMPI_Comm_remote_size(comm, &size) : PMPI_Comm_size(comm, &size));
    return size;
}

static int neighbors(MPI_Comm comm, enum fortran_group group)
{
    int topology = MPI_UNDEFINED, in = 0, out = 0, weighted = 0, rank = 0;
    if (PMPI_Topo_test(comm, &topology) != MPI_SUCCESS)
        return 0;
    switch (topology) {
    case MPI_CART:
        (void)PMPI_Cartdim_get(comm, &in);
        return 2 * in;
    case MPI_GRAPH:
        if (PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS)
            (void)PMPI_Graph_neighbors_count(comm, rank, &in);
        return in;
    case MPI_DIST_GRAPH:
        (void)PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
        return group == FORTRAN_INDEGREE ? in : out;
    default: return 0;
    }
}

int fortran_length(MPI_Comm comm, enum fortran_group group)
{
    return group == FORTRAN_PEERS ? peers(comm) : neighbors(comm, group);
}
