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
struct mpid_wait_report;
struct sched;

/* Check a collective, and start it. Returns MPI_SUCCESS, or the code of the error that it has
 * reported; later errors are told by the call that completes the request. */
int coll_request_start(struct coll_call *call, MPI_Request *request);
/* The same, to be started by MPI_Start. */
int coll_request_create(struct coll_call *call, MPI_Info info, MPI_Request *request);

/* Say for whom a schedule waits that goes on in the background, as collective number of its
 * communicator; locked, as tell of a request is. */
void coll_request_tell(const struct sched *s, int number, struct mpid_wait_report *report);

#endif
