/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Blocking collectives (MPI-5.0 chapter 6): say what is asked for, then one call.
 *
 * Over an intercommunicator, data go from one group to the other (MPI-5.0 6.2.3). Of a call with a
 * root, the root has named itself MPI_ROOT, the rest of its group MPI_PROC_NULL, and nothing of
 * what these give is looked at.
 */
#include "mpi/coll/coll.h"

#include <mpi.h>

#include "mpi/api/coll_calls.h"
#include "mpi/calls/call.h"

/* ---- barrier and broadcast ---- */

/*
 * Wait until every process of a communicator, of both groups of an intercommunicator, has called
 * this.
 *
 * Collective. No process returns before the last one has entered. It orders time alone: messages
 * that are under way stay under way, and files are not synchronized.
 *
 * MPI-5.0 6.3
 */
int PMPI_Barrier(MPI_Comm comm)
{
    struct coll_call call = COLL_CALL(COLL_BARRIER, coll_no_data(), coll_no_data());
    return coll_call_run(&call);
}

/*
 * Give every process what the root has.
 *
 * All call with the same root, and with counts and types that make the same data. The call
 * returns when buffer is filled, at the root when it may be changed; others may not have got it
 * by then. Over an intercommunicator, the root (MPI_ROOT) gives it to the other group, who name the
 * root's rank; the rest of its own group (MPI_PROC_NULL) have no part in it.
 *
 * buffer (inout): at the root, what is sent; elsewhere, where to
 * count: number of elements, 0 or more
 *
 * MPI-5.0 6.4
 */
int PMPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct coll_call call = COLL_CALL(COLL_BCAST, coll_no_data(),
                                      coll_data_of(buffer, count, datatype), .c.root = root);
    return coll_call_run(&call);
}

/* ---- gather and scatter ---- */

/*
 * Gather a block of data from every process at the root.
 *
 * The blocks stand in recvbuf in the order of ranks, each recvcount elements long. Every process
 * sends as much as the root has said it receives of each. The call returns when this process's
 * buffers may be used again. Over an intercommunicator, the root (MPI_ROOT) gets the blocks of the
 * other group, who name the root's rank; the rest of its own group (MPI_PROC_NULL) have no part.
 *
 * sendbuf: this process's block; at the root maybe MPI_IN_PLACE: its block is in its place in
 *   recvbuf
 * sendcount, sendtype: of this process's block; unused where sendbuf is MPI_IN_PLACE
 * recvbuf: the blocks of all; only used at the root
 * recvcount: number of elements of each block, not of all; only used at the root
 * recvtype: type of each element; only used at the root
 *
 * MPI-5.0 6.5
 */
int PMPI_Gather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                  MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_GATHER, .c.root = root);
    return coll_call_run(&call);
}

/*
 * Gather blocks of data that differ in length at the root.
 *
 * As MPI_Gather, with a length and a place for the block of each process.
 *
 * sendbuf: this process's block; at the root maybe MPI_IN_PLACE: its block is in its place in
 *   recvbuf
 * sendcount, sendtype: of this process's block; unused where sendbuf is MPI_IN_PLACE
 * recvbuf: the blocks of all; only used at the root
 * recvcounts: number of elements from each rank; only used at the root
 * displs: where the block of each rank begins, in extents of recvtype from recvbuf on; only used
 *   at the root
 * recvtype: type of each element; only used at the root
 *
 * MPI_ERR_ARG: recvcounts or displs is NULL at the root.
 *
 * MPI-5.0 6.5
 */
int PMPI_Gatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   const MPI_Count recvcounts[], const MPI_Aint displs[], MPI_Datatype recvtype,
                   int root, MPI_Comm comm)
{
    struct coll_call call = CALL_TO_ARRAYS(COLL_GATHER | COLL_UNEVEN, .c.root = root);
    return coll_call_run(&call);
}

/*
 * Give every process its block of what the root has.
 *
 * The blocks stand in sendbuf in the order of ranks, each sendcount elements long. Every process
 * receives as much as the root has said it sends to each. The call returns when this process's
 * buffers may be used again. Over an intercommunicator, the root (MPI_ROOT) has blocks for the
 * other group, who name the root's rank; the rest of its own group (MPI_PROC_NULL) have no part.
 *
 * sendbuf: the blocks of all; only used at the root
 * sendcount: number of elements of each block, not of all; only used at the root
 * sendtype: type of each element; only used at the root
 * recvbuf: this process's block; at the root maybe MPI_IN_PLACE: its block stays in its place in
 *   sendbuf
 * recvcount, recvtype: of this process's block; unused where recvbuf is MPI_IN_PLACE
 *
 * MPI-5.0 6.6
 */
int PMPI_Scatter_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                   MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_SCATTER, .c.root = root);
    return coll_call_run(&call);
}

/*
 * Give every process its block, of a length of its own, of what the root has.
 *
 * As MPI_Scatter, with a length and a place for the block of each process.
 *
 * sendbuf: the blocks of all; only used at the root
 * sendcounts: number of elements for each rank; only used at the root
 * displs: where the block of each rank begins, in extents of sendtype from sendbuf on; only used
 *   at the root
 * sendtype: type of each element; only used at the root
 * recvbuf: this process's block; at the root maybe MPI_IN_PLACE: its block stays in its place in
 *   sendbuf
 * recvcount, recvtype: of this process's block; unused where recvbuf is MPI_IN_PLACE
 *
 * MPI_ERR_ARG: sendcounts or displs is NULL at the root.
 *
 * MPI-5.0 6.6
 */
int PMPI_Scatterv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[],
                    MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct coll_call call = CALL_FROM_ARRAYS(COLL_SCATTER | COLL_UNEVEN, .c.root = root);
    return coll_call_run(&call);
}

/* ---- gather to all, all to all ---- */

/*
 * Gather a block of data from every process at every process.
 *
 * As MPI_Gather, with every process as the root. Over an intercommunicator, each group gets the
 * blocks of the other, and the two may differ in length.
 *
 * sendbuf: this process's block; or, in all processes, MPI_IN_PLACE: it is in its place in
 *   recvbuf
 * sendcount, sendtype: of this process's block; unused where sendbuf is MPI_IN_PLACE
 * recvbuf: the blocks of all, in the order of ranks
 * recvcount: number of elements of each block, not of all
 *
 * MPI-5.0 6.7
 */
int PMPI_Allgather_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                     MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_ALLGATHER);
    return coll_call_run(&call);
}

/*
 * Gather blocks of data that differ in length at every process.
 *
 * As MPI_Allgather, with a length and a place for the block of each process; the lengths are the
 * same everywhere, over an intercommunicator in every process of a group.
 *
 * sendbuf: this process's block; or, in all processes, MPI_IN_PLACE: it is in its place in
 *   recvbuf
 * sendcount, sendtype: of this process's block; unused where sendbuf is MPI_IN_PLACE
 * recvbuf: the blocks of all
 * recvcounts: number of elements from each rank
 * displs: where the block of each rank begins, in extents of recvtype from recvbuf on
 *
 * MPI_ERR_ARG: recvcounts or displs is NULL.
 *
 * MPI-5.0 6.7
 */
int PMPI_Allgatherv_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype,
                      void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint displs[],
                      MPI_Datatype recvtype, MPI_Comm comm)
{
    struct coll_call call = CALL_TO_ARRAYS(COLL_ALLGATHER | COLL_UNEVEN);
    return coll_call_run(&call);
}

/*
 * Send a block to every process, and receive one from each.
 *
 * Block i of sendbuf goes to rank i, and what comes from rank i is block i of recvbuf; over an
 * intercommunicator, these are ranks of the other group, and blocks may be longer one way than the
 * other.
 *
 * sendbuf: the blocks for all, in the order of ranks; or, in all processes, MPI_IN_PLACE: they
 *   are in recvbuf, and replaced there
 * sendcount: number of elements of each block, not of all; unused where sendbuf is MPI_IN_PLACE
 * sendtype: type of each element; unused where sendbuf is MPI_IN_PLACE
 * recvbuf: the blocks from all, in the order of ranks
 * recvcount: number of elements of each block, not of all
 *
 * MPI-5.0 6.8
 */
int PMPI_Alltoall_c(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf,
                    MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct coll_call call = CALL_OF_BLOCKS(COLL_ALLTOALL);
    return coll_call_run(&call);
}

/*
 * Send a block of its own length to every process, and receive one from each.
 *
 * As MPI_Alltoall, with a length and a place for each block. What one process sends to another
 * must be as long as the other has said.
 *
 * sendbuf: the blocks for all; or, in all processes, MPI_IN_PLACE: they are in recvbuf, and
 *   replaced there
 * sendcounts: number of elements for each rank; unused where sendbuf is MPI_IN_PLACE
 * sdispls: where the block for each rank begins, in extents of sendtype from sendbuf on; unused
 *   where sendbuf is MPI_IN_PLACE
 * sendtype: type of each element; unused where sendbuf is MPI_IN_PLACE
 * recvbuf: the blocks from all
 * recvcounts: number of elements from each rank
 * rdispls: where the block from each rank begins, in extents of recvtype from recvbuf on
 *
 * MPI_ERR_ARG: an array of counts or displacements is NULL.
 *
 * MPI-5.0 6.8
 */
int PMPI_Alltoallv_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct coll_call call = CALL_OF_ARRAYS(COLL_ALLTOALL | COLL_UNEVEN);
    return coll_call_run(&call);
}

/*
 * Send a block of its own type to every process, and receive one from each.
 *
 * As MPI_Alltoallv, with a datatype for each block, and places in bytes.
 *
 * sendbuf: the blocks for all; or, in all processes, MPI_IN_PLACE: they are in recvbuf, and
 *   replaced there
 * sendcounts: number of elements for each rank; unused where sendbuf is MPI_IN_PLACE
 * sdispls: where the block for each rank begins, in bytes from sendbuf on; unused where sendbuf
 *   is MPI_IN_PLACE
 * sendtypes: type of the elements for each rank; unused where sendbuf is MPI_IN_PLACE
 * recvbuf: the blocks from all
 * recvcounts: number of elements from each rank
 * rdispls: where the block from each rank begins, in bytes from recvbuf on
 * recvtypes: type of the elements from each rank
 *
 * MPI_ERR_ARG: an array of counts or displacements is NULL.
 *
 * MPI-5.0 6.8
 */
int PMPI_Alltoallw_c(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                     const MPI_Datatype sendtypes[], void *recvbuf, const MPI_Count recvcounts[],
                     const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct coll_call call = CALL_OF_TYPED(COLL_ALLTOALL | COLL_UNEVEN);
    return coll_call_run(&call);
}

/* ---- reductions ---- */

/*
 * Combine the data of all processes, element by element, at the root.
 *
 * Element i of the result is element i of rank 0, op, element i of rank 1, and so on; where the
 * operation is commutative, in any order, so that a floating-point result may differ in its last
 * bits with the number of processes. The call returns when this process's buffers may be used
 * again. Over an intercommunicator, the root (MPI_ROOT) gets the result of the other group's data,
 * who name the root's rank; the rest of its own group (MPI_PROC_NULL) have no part in it.
 *
 * sendbuf: this process's elements; at the root maybe MPI_IN_PLACE: they are in recvbuf
 * recvbuf: the result; only used at the root
 * count: number of elements, the same in all processes
 *
 * MPI-5.0 6.9.1
 */
int PMPI_Reduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, int root, MPI_Comm comm)
{
    struct coll_call call = CALL_OF_ELEMENTS(COLL_REDUCE, .c.root = root, .op = op);
    return coll_call_run(&call);
}

/*
 * Combine the data of all processes, element by element, at every process.
 *
 * As MPI_Reduce, with the same result everywhere; over an intercommunicator, each side gets the
 * result of the other side's data.
 *
 * sendbuf: this process's elements; or, in all processes, MPI_IN_PLACE: they are in recvbuf
 * recvbuf: the result
 * count: number of elements, the same in all processes
 *
 * MPI-5.0 6.9.6
 */
int PMPI_Allreduce_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                     MPI_Op op, MPI_Comm comm)
{
    struct coll_call call = CALL_OF_ELEMENTS(COLL_ALLREDUCE, .op = op);
    return coll_call_run(&call);
}

/*
 * Combine the data of the processes up to this one, element by element.
 *
 * As MPI_Reduce, over the ranks from 0 to this process's, and that included.
 *
 * sendbuf: this process's elements; or, in all processes, MPI_IN_PLACE: they are in recvbuf
 * recvbuf: the result
 * count: number of elements, the same in all processes
 *
 * MPI_ERR_COMM: not a communicator, one that was freed, or an intercommunicator.
 *
 * MPI-5.0 6.11.1
 */
int PMPI_Scan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                MPI_Op op, MPI_Comm comm)
{
    struct coll_call call = CALL_OF_ELEMENTS(COLL_SCAN, .op = op);
    return coll_call_run(&call);
}

/*
 * Combine the data of the processes before this one, element by element.
 *
 * As MPI_Scan, without this process's own elements. At rank 0 recvbuf is left as it was.
 *
 * sendbuf: this process's elements; or, in all processes, MPI_IN_PLACE: they are in recvbuf
 * recvbuf: the result
 * count: number of elements, the same in all processes
 *
 * MPI_ERR_COMM: not a communicator, one that was freed, or an intercommunicator.
 *
 * MPI-5.0 6.11.2
 */
int PMPI_Exscan_c(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype,
                  MPI_Op op, MPI_Comm comm)
{
    struct coll_call call = CALL_OF_ELEMENTS(COLL_EXSCAN, .op = op);
    return coll_call_run(&call);
}

/*
 * Combine the data of all processes, and give each its block of the result.
 *
 * As MPI_Reduce of as many blocks as there are processes; rank i gets block i. Over an
 * intercommunicator, each group gets the result of the other's data, in as many blocks as it has
 * processes itself; all blocks of one are as much as all of the other.
 *
 * sendbuf: a block for each rank; or, in all processes, MPI_IN_PLACE: they are in recvbuf
 * recvbuf: this process's block of the result; with MPI_IN_PLACE it needs room for the blocks of
 *   all
 * recvcount: number of elements of each block, not of all
 *
 * MPI-5.0 6.10.1
 */
int PMPI_Reduce_scatter_block_c(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct coll_call call =
        COLL_CALL(COLL_REDUCE_SCATTER, coll_data_of(sendbuf, recvcount, datatype),
                  coll_data_of(recvbuf, recvcount, datatype), .op = op);
    return coll_call_run(&call);
}

/*
 * Combine the data of all processes, and give each its block, of a length of its own, of the
 * result.
 *
 * As MPI_Reduce_scatter_block, with the length of each rank's block; the blocks follow one
 * another. Over an intercommunicator, the lengths are those of this process's group.
 *
 * sendbuf: a block for each rank; or, in all processes, MPI_IN_PLACE: they are in recvbuf
 * recvbuf: this process's block of the result; with MPI_IN_PLACE it needs room for the blocks of
 *   all
 * recvcounts: number of elements of each rank's block, the same in all processes
 *
 * MPI_ERR_ARG: recvcounts is NULL.
 *
 * MPI-5.0 6.10.2
 */
int PMPI_Reduce_scatter_c(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[],
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct coll_call call = COLL_CALL(
        COLL_REDUCE_SCATTER | COLL_UNEVEN, coll_arrays_of(sendbuf, recvcounts, NULL, datatype),
        coll_arrays_of(recvbuf, recvcounts, NULL, datatype), .op = op);
    return coll_call_run(&call);
}

#include "coll.gen.h"
