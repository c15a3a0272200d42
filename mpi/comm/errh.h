/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Errors. Every API function ends a failure with
 *     return errh_comm(comm, MPI_ERR_TAG, __func__, "tag %d: must be 0 to %d", tag, ub);
 * which makes the text "MPI_Send: tag -3: must be ... (communicator 'x', rank 2 on host)",
 * remembers it behind the code that it returns (MPI_Error_string gives the
 * whole text while it is among the recent ones, then that of its class), and
 * calls the error handler. __func__ may carry PMPI_ and _c: both are cut off.
 */
#ifndef MPI_ERRH_H
#define MPI_ERRH_H

#include <mpi.h>
#include <stdbool.h>

#include "mpi/errh_handler.h"

struct comm;

/* Report an error on a communicator. NULL: on MPI_COMM_SELF, or, without one, by the initial error
 * handler (MPI-5.0 9.3). Returns the code for the caller to return. */
int errh_comm(struct comm *comm, int error_class, const char *function, const char *fmt, ...)
    __attribute__((format(printf, 4, 5), cold));

/* The same with a code and a text that exist already; does not change either. */
int errh_raise(struct comm *comm, int code, const char *text);
/* The same on an object of any kind: its handle, and errh_get() of its slot, whose reference is
 * given up here. */
int errh_raise_on(struct errhandler *errhandler, void *handle, int code, const char *text);
/* Report as errh_comm() does, on an object of any kind, as errh_raise_on() takes it. */
int errh_on(struct errhandler *errhandler, void *handle, int error_class, const char *function,
            const char *fmt, ...) __attribute__((format(printf, 5, 6), cold));
/* Report as errh_comm() does, for an error of a file that does not exist. */
int errh_no_file(int error_class, const char *function, const char *fmt, ...)
    __attribute__((format(printf, 3, 4), cold));
/* Report that a user's callback has returned a code. Returns the code unchanged. */
int errh_callback(int code, const char *function) __attribute__((cold));
/* The handle as an error's text names it: MPI_GROUP_NULL, or an address. For the arguments of one
 * call. */
struct errh_name {
    char text[32];
};
struct errh_name errh_name(const void *handle);
/* Report a datatype that is invalid, freed or not committed; which is the argument's name. */
int errh_bad_type(struct comm *comm, MPI_Datatype type, const char *which, const char *function)
    __attribute__((cold));
/* Report a handle that is no communicator or, before MPI_Init and after MPI_Finalize, a call
 * outside that time. */
int errh_bad_comm(MPI_Comm handle, const char *function) __attribute__((cold));

/* End this process with a code's exit status. */
_Noreturn void errh_end(int code);

/* Report a call outside that time. Returns the code for the caller to return. */
int errh_not_ready(const char *function);

#endif
