/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Errors. Every API function ends a failure with
 *     return errh_comm(comm, MPI_ERR_TAG, __func__, "tag %d: must be 0 to %d", tag, ub);
 * which makes the text "MPI_Send: tag -3: must be ... (communicator 'x', rank 2 on host)",
 * remembers it behind the code that it returns (MPI_Error_string gives the
 * whole text while it is among the recent ones, then that of its class), and
 * calls the error handler. __func__ may carry PMPI_ and _c: both are cut off.
 *
 * Codes: an error class is a code; codes with a text are class + k *
 * ERRH_TEXT_STEP. MPI_Error_class gives the class of any.
 */
#ifndef MPI_ERRH_H
#define MPI_ERRH_H

#include <mpi.h>

#include "mpi/handle.h"

struct comm;

struct errhandler {
    struct object object;
    int kind; /* 0: user function on a communicator */
    MPI_Comm_errhandler_function *function;
};

int errh_init(void);
void errh_fini(void);

struct errhandler *errh_from(MPI_Errhandler handle); /* NULL: none */
MPI_Errhandler errh_handle(struct errhandler *errhandler);
void errh_ref(struct errhandler *errhandler);
void errh_unref(struct errhandler *errhandler);

/* Report an error on a communicator (NULL: on MPI_COMM_SELF, as MPI-5.0 9.3
 * asks). Returns the code for the caller to return. */
int errh_comm(struct comm *comm, int error_class, const char *function, const char *fmt, ...)
    __attribute__((format(printf, 4, 5), cold));

/* The class of a code; MPI_ERR_UNKNOWN for what is no code. */
int errh_class(int code);

/* Whether calls are allowed: between MPI_Init and MPI_Finalize. */
extern int mpi_state; /* enum mpi_state */
enum mpi_state { MPI_STATE_BEFORE, MPI_STATE_READY, MPI_STATE_FINALIZED };
/* Report, fatally, a call outside that time. */
int errh_not_ready(const char *function);

#endif
