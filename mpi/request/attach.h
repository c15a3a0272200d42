/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A function of the program that is told the end of a request. A binding needs it that copies a
 * buffer back when the request is complete (MPIX_Request_attach).
 */
#ifndef MPI_ATTACH_H
#define MPI_ATTACH_H

#include <mpi.h>

struct request;

/* Have function called. At most once a request. Returns MPI_SUCCESS or MPI_ERR_NO_MEM. */
int attach_to(struct request *request, MPIX_Request_function *function, void *extra_state);

#endif
