/* SPDX-License-Identifier: BSD-3-Clause */

/* Arguments of the calls about datatypes, judged: what is wrong is reported as the function's error. */
#ifndef MPI_API_TYPE_ARGUMENT_H
#define MPI_API_TYPE_ARGUMENT_H

#include <mpi.h>

struct type;

/* Find the type of a handle. Returns MPI_SUCCESS, or the code of the error that there is none. */
int type_argument(const char *function, MPI_Datatype handle, struct type **type);

/* Report that an argument of this name is NULL. */
int type_no_pointer(const char *function, const char *name);

#endif
