/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Calls of collectives by the shape of their data, for the blocking, nonblocking and persistent bodies:
 * each names parameters as MPI-5.0 does. what, and what follows the shape, are as in COLL_CALL().
 */
#ifndef MPI_API_COLL_CALLS_H
#define MPI_API_COLL_CALLS_H

#include "mpi/calls/call.h"

#define SENT_BLOCKS coll_data_of(sendbuf, sendcount, sendtype)
#define RECEIVED_BLOCKS coll_data_of(recvbuf, recvcount, recvtype)

/* Even blocks, or one, on both sides; arrays of counts on one; on both; and of types, too. */
#define CALL_OF_BLOCKS(what, ...) COLL_CALL(what, SENT_BLOCKS, RECEIVED_BLOCKS, __VA_ARGS__)
#define CALL_TO_ARRAYS(what, ...)                                                                  \
    COLL_CALL(what, SENT_BLOCKS, coll_arrays_of(recvbuf, recvcounts, displs, recvtype),            \
              __VA_ARGS__)
#define CALL_FROM_ARRAYS(what, ...)                                                                \
    COLL_CALL(what, coll_arrays_of(sendbuf, sendcounts, displs, sendtype), RECEIVED_BLOCKS,        \
              __VA_ARGS__)
#define CALL_OF_ARRAYS(what, ...)                                                                  \
    COLL_CALL(what, coll_arrays_of(sendbuf, sendcounts, sdispls, sendtype),                        \
              coll_arrays_of(recvbuf, recvcounts, rdispls, recvtype), __VA_ARGS__)
#define CALL_OF_TYPED(what, ...)                                                                   \
    COLL_CALL(what, coll_typed_of(sendbuf, sendcounts, sdispls, sendtypes),                        \
              coll_typed_of(recvbuf, recvcounts, rdispls, recvtypes), __VA_ARGS__)

/* Elements to be reduced. */
#define CALL_OF_ELEMENTS(what, ...)                                                                \
    COLL_CALL(what, coll_data_of(sendbuf, count, datatype),                                        \
              coll_data_of(recvbuf, count, datatype), __VA_ARGS__)

#endif
