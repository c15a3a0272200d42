/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Persistent collectives (MPI-5.0 6.13): say what is asked for, then one call.
 */
#include <mpi.h>

#include "mpi/api/coll_calls.h"
#include "mpi/calls/call.h"
#include "mpi/calls/coll_request.h"

/* ---- barrier and broadcast ---- */

/*
 * Make a request for a barrier, again and again.
 *
 * As MPI_Barrier, but no data are sent before MPI_Start starts the request, which may be done again
 * each time that it is complete. All processes make the request, in the same order among the
 * collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct coll_call call = COLL_CALL(COLL_BARRIER, coll_no_data(), coll_no_data());
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to give every process what the root has.
 *
 * As MPI_Bcast, but no data are sent before MPI_Start starts the request, which may be done again
 * each time that it is complete. All processes make the request, in the same order among the
 * collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Bcast_init_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                      MPI_Info info, MPI_Request *request)
{
    struct coll_call call = COLL_CALL(COLL_BCAST, coll_no_data(),
                                      coll_data_of(buffer, count, datatype), .c.root = root);
    return coll_request_create(&call, info, request);
}

/* ---- gather and scatter ---- */

/*
 * Prepare to gather a block of data from every process at the root.
 *
 * As MPI_Gather, but no data are sent before MPI_Start starts the request, which may be done again
 * each time that it is complete. All processes make the request, in the same order among the
 * collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Gather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                       void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                       MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_GATHER, .c.root = root);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to gather blocks of data that differ in length at the root.
 *
 * As MPI_Gatherv, but no data are sent before MPI_Start starts the request, which may be done again
 * each time that it is complete. All processes make the request, in the same order among the
 * collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Gatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                        MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                        MPI_Request *request)
{
    struct coll_call call = CALL_TO_ARRAYS(COLL_GATHER | COLL_UNEVEN, .c.root = root);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to give every process its block of what the root has.
 *
 * As MPI_Scatter, but no data are sent before MPI_Start starts the request, which may be done again
 * each time that it is complete. All processes make the request, in the same order among the
 * collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Scatter_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                        void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, int root,
                        MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_SCATTER, .c.root = root);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to give every process its block, of a length of its own, of what the root has.
 *
 * As MPI_Scatterv, but no data are sent before MPI_Start starts the request, which may be done
 * again each time that it is complete. All processes make the request, in the same order among the
 * collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Scatterv_init_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                         MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                         MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                         MPI_Request *request)
{
    struct coll_call call = CALL_FROM_ARRAYS(COLL_SCATTER | COLL_UNEVEN, .c.root = root);
    return coll_request_create(&call, info, request);
}

/* ---- gather to all, all to all ---- */

/*
 * Prepare to gather a block of data from every process at every process.
 *
 * As MPI_Allgather, but no data are sent before MPI_Start starts the request, which may be done
 * again each time that it is complete. All processes make the request, in the same order among the
 * collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Allgather_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                          void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                          MPI_Info info, MPI_Request *request)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_ALLGATHER);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to gather blocks of data that differ in length at every process.
 *
 * As MPI_Allgatherv, but no data are sent before MPI_Start starts the request, which may be done
 * again each time that it is complete. All processes make the request, in the same order among the
 * collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Allgatherv_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                           void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                           MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                           MPI_Request *request)
{
    struct coll_call call = CALL_TO_ARRAYS(COLL_ALLGATHER | COLL_UNEVEN);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to send a block to every process, and receive one from each.
 *
 * As MPI_Alltoall, but no data are sent before MPI_Start starts the request, which may be done
 * again each time that it is complete. All processes make the request, in the same order among the
 * collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Alltoall_init_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                         void *recvbuf, MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                         MPI_Info info, MPI_Request *request)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_ALLTOALL);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to send a block of its own length to every process, and receive one from each.
 *
 * As MPI_Alltoallv, but no data are sent before MPI_Start starts the request, which may be done
 * again each time that it is complete. All processes make the request, in the same order among the
 * collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct coll_call call = CALL_OF_ARRAYS(COLL_ALLTOALL | COLL_UNEVEN);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to send a block of its own type to every process, and receive one from each.
 *
 * As MPI_Alltoallw, but no data are sent before MPI_Start starts the request, which may be done
 * again each time that it is complete. All processes make the request, in the same order among the
 * collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Alltoallw_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
                          const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                          const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    struct coll_call call = CALL_OF_TYPED(COLL_ALLTOALL | COLL_UNEVEN);
    return coll_request_create(&call, info, request);
}

/* ---- reductions ---- */

/*
 * Prepare to combine the data of all processes, element by element, at the root.
 *
 * As MPI_Reduce, but no data are sent before MPI_Start starts the request, which may be done again
 * each time that it is complete. All processes make the request, in the same order among the
 * collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Reduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct coll_call call = CALL_OF_ELEMENTS(COLL_REDUCE, .c.root = root, .op = op);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to combine the data of all processes, element by element, at every process.
 *
 * As MPI_Allreduce, but no data are sent before MPI_Start starts the request, which may be done
 * again each time that it is complete. All processes make the request, in the same order among the
 * collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Allreduce_init_c(const void *sendbuf, void *recvbuf, MPI_Count count,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                          MPI_Request *request)
{
    struct coll_call call = CALL_OF_ELEMENTS(COLL_ALLREDUCE, .op = op);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to combine the data of the processes up to this one, element by element.
 *
 * As MPI_Scan, but no data are sent before MPI_Start starts the request, which may be done again
 * each time that it is complete. All processes make the request, in the same order among the
 * collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Scan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct coll_call call = CALL_OF_ELEMENTS(COLL_SCAN, .op = op);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to combine the data of the processes before this one, element by element.
 *
 * As MPI_Exscan, but no data are sent before MPI_Start starts the request, which may be done again
 * each time that it is complete. All processes make the request, in the same order among the
 * collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Exscan_init_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                       MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    struct coll_call call = CALL_OF_ELEMENTS(COLL_EXSCAN, .op = op);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to combine the data of all processes, and give each its block of the result.
 *
 * As MPI_Reduce_scatter_block, but no data are sent before MPI_Start starts the request, which may
 * be done again each time that it is complete. All processes make the request, in the same order
 * among the collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Reduce_scatter_block_init_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                     MPI_Request *request)
{
    struct coll_call call =
        COLL_CALL(COLL_REDUCE_SCATTER, coll_data_of(sendbuf, recvcount, datatype),
                  coll_data_of(recvbuf, recvcount, datatype), .op = op);
    return coll_request_create(&call, info, request);
}

/*
 * Prepare to combine the data of all processes, and give each a block of its own length.
 *
 * As MPI_Reduce_scatter, but no data are sent before MPI_Start starts the request, which may be
 * done again each time that it is complete. All processes make the request, in the same order
 * among the collectives of comm; arguments are checked, and the algorithm is chosen, once, here.
 *
 * MPI-5.0 6.13
 */
int PMPI_Reduce_scatter_init_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                               MPI_Request *request)
{
    struct coll_call call = COLL_CALL(
        COLL_REDUCE_SCATTER | COLL_UNEVEN, coll_arrays_of(sendbuf, recvcounts, NULL, datatype),
        coll_arrays_of(recvbuf, recvcounts, NULL, datatype), .op = op);
    return coll_request_create(&call, info, request);
}

#include "pcoll.gen.h"
