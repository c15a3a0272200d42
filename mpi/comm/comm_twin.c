/* SPDX-License-Identifier: BSD-3-Clause */

/* What the generated int twins ask a communicator; see mpi/interface.h. */
#include "mpi/comm/comm.h"
#include "mpi/comm/errh.h"
#include "mpi/comm/topo.h"
#include "mpi/interface.h"

int interface_length(MPI_Comm handle, enum interface_group group, int root)
{
    const struct comm *comm = comm_any(handle);
    if (!comm)
        return 0;
    switch (group) {
    case INTERFACE_LOCAL: return comm->size;
    case INTERFACE_PEERS: return comm->peers;
    case INTERFACE_ROOT:
        return root == MPI_ROOT || (!comm->remote && root == comm->rank) ? comm->peers : 0;
    case INTERFACE_INDEGREE: return topo_indegree(comm->topo, comm->rank);
    case INTERFACE_OUTDEGREE: return topo_outdegree(comm->topo, comm->rank);
    default: return 0;
    }
}

int interface_no_mem(MPI_Comm handle, const char *function)
{
    return errh_comm(comm_from(handle), MPI_ERR_NO_MEM, function,
                     "no memory to widen an array of counts");
}
