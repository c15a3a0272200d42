/* SPDX-License-Identifier: BSD-3-Clause */

/* What is beyond the standard and needs thought; the rest is made by tools/gen_fortran.py. */
#define FORTRAN_EXTENSION

#include <stdlib.h>

#include "fortran/entry.h"

#pragma weak MPIX_Comm_ishrink
#pragma weak PMPIX_Comm_ishrink
#pragma weak PMPIX_Request_attach

/* A communicator that is there once a request is complete. */
struct later {
    MPI_Comm comm;
    int *number; /* of the caller's */
};

static void on_event(int event, void *state)
{
    struct later *later = state;
    if (event == MPIX_REQUEST_COMPLETE)
        *later->number = fortran_comm_int(later->comm);
    else if (event == MPIX_REQUEST_FREED)
        free(later);
}

FORTRAN_ENTRY(comm_ishrink, const int *comm, int *newcomm, int *request, int *ierror)
{
    if (!MPI_(Comm_ishrink)) {
        fortran_error(ierror, MPI_ERR_UNSUPPORTED_OPERATION);
        return;
    }
    MPI_Request c_request;
    struct later *later = malloc(sizeof(*later));
    if (!later)
        fortran_end("out of memory for a communicator that is to come");
    *later = (struct later){.comm = MPI_COMM_NULL, .number = newcomm};
    int rc = MPI_(Comm_ishrink)(fortran_comm(*comm), &later->comm, &c_request);
    if (rc == MPI_SUCCESS)
        rc = PMPIX_Request_attach(&c_request, on_event, later);
    if (rc == MPI_SUCCESS)
        *request = fortran_request_int(c_request);
    else
        free(later);
    fortran_error(ierror, rc);
}
