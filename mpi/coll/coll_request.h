/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Requests of collectives that go on in the background: nonblocking ones, and persistent ones, whose
 * schedule is built once and run at each start. A request keeps the schedule, and what its steps name:
 * the datatypes, the operation and the communicator may be freed by the user meanwhile.
 */
#ifndef MPI_COLL_REQUEST_H
#define MPI_COLL_REQUEST_H

struct coll_call;
struct request;

/* Start a collective that was checked. Returns MPI_SUCCESS or MPI_ERR_NO_MEM; what goes wrong later
 * is told by the call that completes the request. */
int coll_request_start(const struct coll_call *call, struct request **request);
/* The same, to be started by MPI_Start. */
int coll_request_create(const struct coll_call *call, struct request **request);

#endif
