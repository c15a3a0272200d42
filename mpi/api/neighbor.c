/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives among the neighbours of a topology (MPI-5.0 8.6 to 8.8), in all forms: say what is
 * asked for, then one call.
 */
#include <mpi.h>

#include "mpi/api/coll_calls.h"
#include "mpi/calls/call.h"
#include "mpi/calls/coll_request.h"

/* ---- blocking ---- */

/*
 * Exchange a block of data with every neighbour, the same for all.
 *
 * The block of a process goes to all neighbours that it sends to, and what comes from those it
 * hears from stands in recvbuf in their order: in a grid, for each dimension the one before and
 * the one behind, in a graph as MPI_Graph_neighbors or MPI_Dist_graph_neighbors has them. Nothing
 * comes from MPI_PROC_NULL, and its block stays as it was. A process may be a neighbour several
 * times, and of itself.
 *
 * recvbuf: the blocks of all that this process hears from
 * recvcount: number of elements of each block, not of all
 *
 * MPI_ERR_TOPOLOGY: comm has no topology.
 *
 * MPI-5.0 8.6
 */
int PMPI_Neighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_NEIGHBOR_ALLGATHER);
    return coll_call_run(&call);
}

/*
 * Exchange blocks of data that differ in length with every neighbour.
 *
 * As MPI_Neighbor_allgather, with a length and a place for the block of each neighbour.
 *
 * recvbuf: the blocks of all that this process hears from
 * recvcounts: number of elements from each
 * displs: where the block of each begins, in extents of recvtype from recvbuf on
 *
 * MPI_ERR_TOPOLOGY: comm has no topology.
 * MPI_ERR_ARG: an array of counts or displacements is NULL.
 *
 * MPI-5.0 8.6
 */
int PMPI_Neighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                               MPI_Datatype recvtype, MPI_Comm comm)
{
    struct coll_call call = CALL_TO_ARRAYS(COLL_NEIGHBOR_ALLGATHER | COLL_UNEVEN);
    return coll_call_run(&call);
}

/*
 * Send a block to every neighbour, and receive one from each.
 *
 * As MPI_Neighbor_allgather, with a block of its own for each neighbour, in the same order. In a
 * grid, what a process sends to the one before it is what that receives from the one behind it,
 * also if both are the same process.
 *
 * sendbuf: the blocks for all that this process sends to
 * sendcount: number of elements of each block, not of all
 * recvbuf: the blocks of all that this process hears from
 * recvcount: number of elements of each block, not of all
 *
 * MPI_ERR_TOPOLOGY: comm has no topology.
 *
 * MPI-5.0 8.6
 */
int PMPI_Neighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                             void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                             MPI_Comm comm)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_NEIGHBOR_ALLTOALL);
    return coll_call_run(&call);
}

/*
 * Send a block of its own length to every neighbour, and receive one from each.
 *
 * As MPI_Neighbor_alltoall, with a length and a place for each block.
 *
 * sendbuf: the blocks for all that this process sends to
 * sendcounts: number of elements for each
 * sdispls: where the block for each begins, in extents of sendtype from sendbuf on
 * recvbuf: the blocks of all that this process hears from
 * recvcounts: number of elements from each
 * rdispls: where the block from each begins, in extents of recvtype from recvbuf on
 *
 * MPI_ERR_TOPOLOGY: comm has no topology.
 * MPI_ERR_ARG: an array of counts or displacements is NULL.
 *
 * MPI-5.0 8.6
 */
int PMPI_Neighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                              const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              MPI_Datatype recvtype, MPI_Comm comm)
{
    struct coll_call call = CALL_OF_ARRAYS(COLL_NEIGHBOR_ALLTOALL | COLL_UNEVEN);
    return coll_call_run(&call);
}

/*
 * Send a block of its own type to every neighbour, and receive one from each.
 *
 * As MPI_Neighbor_alltoallv, with a datatype for each block, and places in bytes.
 *
 * sendbuf: the blocks for all that this process sends to
 * sendcounts: number of elements for each
 * sdispls: where the block for each begins, in bytes from sendbuf on
 * sendtypes: type of the elements for each
 * recvbuf: the blocks of all that this process hears from
 * recvcounts: number of elements from each
 * rdispls: where the block from each begins, in bytes from recvbuf on
 * recvtypes: type of the elements from each
 *
 * MPI_ERR_TOPOLOGY: comm has no topology.
 * MPI_ERR_ARG: an array of counts or displacements is NULL.
 *
 * MPI-5.0 8.6
 */
int PMPI_Neighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                              const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                              void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                              const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct coll_call call = CALL_OF_TYPED(COLL_NEIGHBOR_ALLTOALL | COLL_UNEVEN);
    return coll_call_run(&call);
}

/* ---- nonblocking ---- */

/*
 * Start to exchange a block of data with every neighbour, the same for all.
 *
 * As MPI_Neighbor_allgather, but the call returns at once, and waits for nobody: the buffers may
 * be used again when the request is complete.
 *
 * MPI-5.0 8.7
 */
int PMPI_Ineighbor_allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                               void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                               MPI_Comm comm, MPI_Request *request)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_NEIGHBOR_ALLGATHER);
    return coll_request_start(&call, request);
}

/*
 * Start to exchange blocks of data that differ in length with every neighbour.
 *
 * As MPI_Neighbor_allgatherv, but the call returns at once, and waits for nobody: the buffers may
 * be used again when the request is complete.
 *
 * MPI-5.0 8.7
 */
int PMPI_Ineighbor_allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                void *recvbuf, const MPI_Count recvcounts[],
                                const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                MPI_Request *request)
{
    struct coll_call call = CALL_TO_ARRAYS(COLL_NEIGHBOR_ALLGATHER | COLL_UNEVEN);
    return coll_request_start(&call, request);
}

/*
 * Start to send a block to every neighbour, and receive one from each.
 *
 * As MPI_Neighbor_alltoall, but the call returns at once, and waits for nobody: the buffers may be
 * used again when the request is complete.
 *
 * MPI-5.0 8.7
 */
int PMPI_Ineighbor_alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                              void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                              MPI_Comm comm, MPI_Request *request)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_NEIGHBOR_ALLTOALL);
    return coll_request_start(&call, request);
}

/*
 * Start to send a block of its own length to every neighbour, and receive one from each.
 *
 * As MPI_Neighbor_alltoallv, but the call returns at once, and waits for nobody: the buffers may
 * be used again when the request is complete.
 *
 * MPI-5.0 8.7
 */
int PMPI_Ineighbor_alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                               const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                               MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct coll_call call = CALL_OF_ARRAYS(COLL_NEIGHBOR_ALLTOALL | COLL_UNEVEN);
    return coll_request_start(&call, request);
}

/*
 * Start to send a block of its own type to every neighbour, and receive one from each.
 *
 * As MPI_Neighbor_alltoallw, but the call returns at once, and waits for nobody: the buffers may
 * be used again when the request is complete.
 *
 * MPI-5.0 8.7
 */
int PMPI_Ineighbor_alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[],
                               const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                               void *recvbuf, const MPI_Count recvcounts[],
                               const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                               MPI_Comm comm, MPI_Request *request)
{
    struct coll_call call = CALL_OF_TYPED(COLL_NEIGHBOR_ALLTOALL | COLL_UNEVEN);
    return coll_request_start(&call, request);
}

/* ---- persistent ---- */

/*
 * Prepare to exchange a block of data with every neighbour, the same for all.
 *
 * As MPI_Neighbor_allgather, but nothing is sent before MPI_Start starts the request, which may be
 * done again each time that it is complete. All processes make the request, in the same order
 * among the collectives of comm; arguments are checked once, here.
 *
 * request: inactive request, to be started by MPI_Start
 *
 * MPI-5.0 8.8
 */
int PMPI_Neighbor_allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                   void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_NEIGHBOR_ALLGATHER);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to exchange blocks of data that differ in length with every neighbour.
 *
 * As MPI_Neighbor_allgatherv, but nothing is sent before MPI_Start starts the request, which may
 * be done again each time that it is complete. All processes make the request, in the same order
 * among the collectives of comm; arguments are checked once, here.
 *
 * request: inactive request, to be started by MPI_Start
 *
 * MPI-5.0 8.8
 */
int PMPI_Neighbor_allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                    void *recvbuf, const MPI_Count recvcounts[],
                                    const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                    MPI_Info info, MPI_Request *request)
{
    struct coll_call call = CALL_TO_ARRAYS(COLL_NEIGHBOR_ALLGATHER | COLL_UNEVEN);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to send a block to every neighbour, and receive one from each.
 *
 * As MPI_Neighbor_alltoall, but nothing is sent before MPI_Start starts the request, which may be
 * done again each time that it is complete. All processes make the request, in the same order
 * among the collectives of comm; arguments are checked once, here.
 *
 * request: inactive request, to be started by MPI_Start
 *
 * MPI-5.0 8.8
 */
int PMPI_Neighbor_alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_NEIGHBOR_ALLTOALL);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to send a block of its own length to every neighbour, and receive one from each.
 *
 * As MPI_Neighbor_alltoallv, but nothing is sent before MPI_Start starts the request, which may be
 * done again each time that it is complete. All processes make the request, in the same order
 * among the collectives of comm; arguments are checked once, here.
 *
 * request: inactive request, to be started by MPI_Start
 *
 * MPI-5.0 8.8
 */
int PMPI_Neighbor_alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                                   const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                                   MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                   MPI_Request *request)
{
    struct coll_call call = CALL_OF_ARRAYS(COLL_NEIGHBOR_ALLTOALL | COLL_UNEVEN);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to send a block of its own type to every neighbour, and receive one from each.
 *
 * As MPI_Neighbor_alltoallw, but nothing is sent before MPI_Start starts the request, which may be
 * done again each time that it is complete. All processes make the request, in the same order
 * among the collectives of comm; arguments are checked once, here.
 *
 * request: inactive request, to be started by MPI_Start
 *
 * MPI-5.0 8.8
 */
int PMPI_Neighbor_alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                                   const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                   void *recvbuf, const MPI_Count recvcounts[],
                                   const MPI_Aint rdispls[], const MPI_Datatype recvtypes[],
                                   MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct coll_call call = CALL_OF_TYPED(COLL_NEIGHBOR_ALLTOALL | COLL_UNEVEN);
    return coll_request_create(&call, info, request);
}

#include "neighbor.gen.h"
