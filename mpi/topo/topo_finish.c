/* SPDX-License-Identifier: BSD-3-Clause */

/* See topo_finish.h. */
#include "mpi/topo/topo_finish.h"

#include <mpi.h>
#include <stdlib.h>

#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/topo.h"
#include "mpi/topo/topo_make.h"

int topo_null_argument(struct comm *comm, const char *function)
{
    return errh_comm(comm, MPI_ERR_ARG, function, "an argument is NULL");
}

/* Find the communicator that another is made of. */
int topo_check_parent(MPI_Comm handle, struct comm **comm, const char *function)
{
    *comm = comm_from(handle);
    if (!*comm)
        return errh_bad_comm(handle, function);
    if ((*comm)->remote)
        return errh_comm(*comm, MPI_ERR_COMM, function, "an intercommunicator");
    return MPI_SUCCESS;
}

static const char *kind_name(int kind)
{
    switch (kind) {
    case MPI_CART: return "Cartesian";
    case MPI_GRAPH: return "graph";
    default: return "distributed graph";
    }
}

/* Find a communicator with a topology of this kind. */
int topo_check_kind(MPI_Comm handle, int kind, struct comm **comm, const char *function)
{
    *comm = comm_any(handle);
    if (!*comm)
        return errh_bad_comm(handle, function);
    if (!(*comm)->topo || (*comm)->topo->kind != kind)
        return errh_comm(*comm, MPI_ERR_TOPOLOGY, function, "the communicator has no %s topology",
                         kind_name(kind));
    return MPI_SUCCESS;
}

int topo_check_rank(struct comm *comm, int rank, const char *function)
{
    if ((unsigned)rank < (unsigned)comm->size)
        return MPI_SUCCESS;
    return errh_comm(comm, MPI_ERR_RANK, function, "rank %d: must be 0 to %d", rank,
                     comm->size - 1);
}

/* Check that the user's array has room for so many elements. */
int topo_check_room(struct comm *comm, int room, int count, const char *function)
{
    if (room >= count)
        return MPI_SUCCESS;
    return errh_comm(comm, MPI_ERR_ARG, function, "room for %d, but there are %d", room, count);
}

int topo_no_memory(struct comm *comm, const char *function)
{
    return errh_comm(comm, MPI_ERR_NO_MEM, function, "no memory for a topology");
}

int topo_failed(struct comm *comm, int rc, const char *function)
{
    switch (rc) {
    case MPI_ERR_NO_MEM: return topo_no_memory(comm, function);
    case MPI_ERR_OTHER: return errh_comm(comm, rc, function, "all contexts are used up");
    default: return errh_comm(comm, rc, function, "the processes could not agree (error %d)", rc);
    }
}

/* Choose the rank that takes each node; the caller frees *rank_of_node. */
static int choose(struct comm *comm, const struct topo *topo, int nodes, bool reorder,
                  int **rank_of_node)
{
    *rank_of_node = malloc(((size_t)nodes + 1) * sizeof(**rank_of_node));
    if (!*rank_of_node)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < nodes; i++)
        (*rank_of_node)[i] = i;
    return reorder ? topo_choose(comm, topo, nodes, *rank_of_node) : MPI_SUCCESS;
}

/* Make the communicator of a topology (whose reference is taken over; NULL: no memory for it). */
int topo_finish(struct comm *comm, struct topo *topo, int nodes, bool reorder, MPI_Comm *newcomm,
                const char *function)
{
    int *rank_of_node = NULL;
    struct comm *new = NULL;
    if (!topo)
        return topo_no_memory(comm, function);
    int rc = choose(comm, topo, nodes, reorder, &rank_of_node);
    if (rc)
        topo_unref(topo);
    else
        rc = topo_make(comm, topo, rank_of_node, nodes, &new);
    free(rank_of_node);
    if (rc)
        return topo_failed(comm, rc, function);
    *newcomm = comm_handle(new);
    return MPI_SUCCESS;
}

/* Find the node of a topology that this process would take. */
int topo_finish_map(struct comm *comm, struct topo *topo, int nodes, int *newrank,
                    const char *function)
{
    int *rank_of_node = NULL;
    if (!topo)
        return topo_no_memory(comm, function);
    int rc = choose(comm, topo, nodes, true, &rank_of_node);
    int node = 0;
    while (!rc && node < nodes && rank_of_node[node] != comm->rank)
        node++;
    free(rank_of_node);
    topo_unref(topo);
    if (rc)
        return topo_failed(comm, rc, function);
    *newrank = node < nodes ? node : MPI_UNDEFINED;
    return MPI_SUCCESS;
}
