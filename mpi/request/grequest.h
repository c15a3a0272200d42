/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Generalized requests (MPI-5.0 13.2): requests whose work the user does, and of which
 * the user says when it is over, from any thread.
 *
 * The request's own mpid_request, which the device never sees, counts as the device's do:
 * pending is 0 once the user has said so. What is freed before stays until then.
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
/* Mark as complete, and wake whoever waits. Returns false, with nothing done, where it is
 * complete already. *rc is what the callback returned that freed it, where it was to be freed. */
bool grequest_complete(struct request *request, int *rc);
/* Whether it is one. */
bool grequest_is(const struct request *request);

#endif
