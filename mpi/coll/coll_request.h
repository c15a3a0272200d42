/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Requests of collectives that go on in the background: nonblocking ones, and persistent ones, whose
 * schedule is built once and run at each start. A request keeps the schedule, and what its steps name:
 * the datatypes, the operation and the communicator may be freed by the user meanwhile.
 */
#ifndef MPI_COLL_REQUEST_H
#define MPI_COLL_REQUEST_H

#include <mpi.h>

struct coll_call;

/* Check a collective, and start it. Returns MPI_SUCCESS, or the code of what it has reported; what goes
 * wrong later is told by the call that completes the request. */
int coll_request_start(struct coll_call *call, MPI_Request *request);
/* The same, to be started by MPI_Start. */
int coll_request_create(struct coll_call *call, MPI_Info info, MPI_Request *request);

#endif
