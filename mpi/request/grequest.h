/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Generalized requests (MPI-5.0 13.2): the user does the work of these requests, and says when it
 * is over, from any thread.
 *
 * The request's own mpid_request, which the device never sees, counts as the device's do:
 * pending is 0 once the user has said so. A request freed before stays until then.
 *
 * Callbacks run in the thread whose call brings them about, unlocked. The functions here return
 * what they return, or MPI_SUCCESS.
 */
#ifndef MPI_GREQUEST_H
#define MPI_GREQUEST_H

#include <mpi.h>
#include <stdbool.h>

struct request;

struct grequest {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra_state;
};

/* NULL: no memory. */
struct request *grequest_create(const struct grequest *what);
/* Mark as complete, and wake waiting threads. Returns false, with nothing done, if it is complete
 * already. If this freed the request, *rc is the value returned by the callback that freed it. */
bool grequest_complete(struct request *request, int *rc);
/* Whether it is one. */
bool grequest_is(const struct request *request);

#endif
