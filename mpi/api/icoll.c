/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Nonblocking collectives (MPI-5.0 6.12): say what is asked for, then one call.
 */
#include <mpi.h>

#include "mpi/api/coll_calls.h"
#include "mpi/calls/call.h"
#include "mpi/calls/coll_request.h"

/* ---- barrier and broadcast ---- */

/*
 * Start a barrier: its request is complete once every process has called this.
 *
 * As MPI_Barrier, but the call returns at once, and waits for nobody.
 *
 * MPI-5.0 6.12
 */
int PMPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    struct coll_call call = COLL_CALL(COLL_BARRIER, coll_no_data(), coll_no_data());
    return coll_request_start(&call, request);
}

/*
 * Start to give every process what the root has.
 *
 * As MPI_Bcast, but the call returns at once, and waits for nobody: the buffers may be used again
 * when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Ibcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                  MPI_Request *request)
{
    struct coll_call call = COLL_CALL(COLL_BCAST, coll_no_data(),
                                      coll_data_of(buffer, count, datatype), .c.root = root);
    return coll_request_start(&call, request);
}

/* ---- gather and scatter ---- */

/*
 * Start to gather a block of data from every process at the root.
 *
 * As MPI_Gather, but the call returns at once, and waits for nobody: the buffers may be used again
 * when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Igather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                   MPI_Request *request)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_GATHER, .c.root = root);
    return coll_request_start(&call, request);
}

/*
 * Start to gather blocks of data that differ in length at the root.
 *
 * As MPI_Gatherv, but the call returns at once, and waits for nobody: the buffers may be used
 * again when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Igatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                    int root, MPI_Comm comm, MPI_Request *request)
{
    struct coll_call call = CALL_TO_ARRAYS(COLL_GATHER | COLL_UNEVEN, .c.root = root);
    return coll_request_start(&call, request);
}

/*
 * Start to give every process its block of what the root has.
 *
 * As MPI_Scatter, but the call returns at once, and waits for nobody: the buffers may be used
 * again when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Iscatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                    MPI_Request *request)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_SCATTER, .c.root = root);
    return coll_request_start(&call, request);
}

/*
 * Start to give every process its block, of a length of its own, of what the root has.
 *
 * As MPI_Scatterv, but the call returns at once, and waits for nobody: the buffers may be used
 * again when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Iscatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                     MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                     MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct coll_call call = CALL_FROM_ARRAYS(COLL_SCATTER | COLL_UNEVEN, .c.root = root);
    return coll_request_start(&call, request);
}

/* ---- gather to all, all to all ---- */

/*
 * Start to gather a block of data from every process at every process.
 *
 * As MPI_Allgather, but the call returns at once, and waits for nobody: the buffers may be used
 * again when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Iallgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_ALLGATHER);
    return coll_request_start(&call, request);
}

/*
 * Start to gather blocks of data that differ in length at every process.
 *
 * As MPI_Allgatherv, but the call returns at once, and waits for nobody: the buffers may be used
 * again when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Iallgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct coll_call call = CALL_TO_ARRAYS(COLL_ALLGATHER | COLL_UNEVEN);
    return coll_request_start(&call, request);
}

/*
 * Start to send a block to every process, and receive one from each.
 *
 * As MPI_Alltoall, but the call returns at once, and waits for nobody: the buffers may be used
 * again when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Ialltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                     MPI_Request *request)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_ALLTOALL);
    return coll_request_start(&call, request);
}

/*
 * Start to send a block of its own length to every process, and receive one from each.
 *
 * As MPI_Alltoallv, but the call returns at once, and waits for nobody: the buffers may be used
 * again when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Ialltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                      MPI_Request *request)
{
    struct coll_call call = CALL_OF_ARRAYS(COLL_ALLTOALL | COLL_UNEVEN);
    return coll_request_start(&call, request);
}

/*
 * Start to send a block of its own type to every process, and receive one from each.
 *
 * As MPI_Alltoallw, but the call returns at once, and waits for nobody: the buffers may be used
 * again when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Ialltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                      const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                      MPI_Request *request)
{
    struct coll_call call = CALL_OF_TYPED(COLL_ALLTOALL | COLL_UNEVEN);
    return coll_request_start(&call, request);
}

/* ---- reductions ---- */

/*
 * Start to combine the data of all processes, element by element, at the root.
 *
 * As MPI_Reduce, but the call returns at once, and waits for nobody: the buffers may be used again
 * when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Ireduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
    struct coll_call call = CALL_OF_ELEMENTS(COLL_REDUCE, .c.root = root, .op = op);
    return coll_request_start(&call, request);
}

/*
 * Start to combine the data of all processes, element by element, at every process.
 *
 * As MPI_Allreduce, but the call returns at once, and waits for nobody: the buffers may be used
 * again when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Iallreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct coll_call call = CALL_OF_ELEMENTS(COLL_ALLREDUCE, .op = op);
    return coll_request_start(&call, request);
}

/*
 * Start to combine the data of the processes up to this one, element by element.
 *
 * As MPI_Scan, but the call returns at once, and waits for nobody: the buffers may be used again
 * when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Iscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                 MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct coll_call call = CALL_OF_ELEMENTS(COLL_SCAN, .op = op);
    return coll_request_start(&call, request);
}

/*
 * Start to combine the data of the processes before this one, element by element.
 *
 * As MPI_Exscan, but the call returns at once, and waits for nobody: the buffers may be used again
 * when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Iexscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                   MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct coll_call call = CALL_OF_ELEMENTS(COLL_EXSCAN, .op = op);
    return coll_request_start(&call, request);
}

/*
 * Start to combine the data of all processes, and give each its block of the result.
 *
 * As MPI_Reduce_scatter_block, but the call returns at once, and waits for nobody: the buffers may
 * be used again when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Ireduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                 MPI_Request *request)
{
    struct coll_call call =
        COLL_CALL(COLL_REDUCE_SCATTER, coll_data_of(sendbuf, recvcount, datatype),
                  coll_data_of(recvbuf, recvcount, datatype), .op = op);
    return coll_request_start(&call, request);
}

/*
 * Start to combine the data of all processes, and give each a block of its own length.
 *
 * As MPI_Reduce_scatter, but the call returns at once, and waits for nobody: the buffers may be
 * used again when the request is complete.
 *
 * MPI-5.0 6.12
 */
int PMPI_Ireduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct coll_call call = COLL_CALL(
        COLL_REDUCE_SCATTER | COLL_UNEVEN, coll_arrays_of(sendbuf, recvcounts, NULL, datatype),
        coll_arrays_of(recvbuf, recvcounts, NULL, datatype), .op = op);
    return coll_request_start(&call, request);
}

#include "icoll.gen.h"
