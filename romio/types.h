/* SPDX-License-Identifier: BSD-3-Clause */

/* Datatypes that the I/O library holds and makes. */
#ifndef ROMIO_TYPES_H
#define ROMIO_TYPES_H

#include <mpi.h>
#include <stdbool.h>

/* A type that means the same and stays when the user frees the original; predefined types are
 * returned as they are. MPI_DATATYPE_NULL: no memory. */
MPI_Datatype types_hold(MPI_Datatype type);
/* Give a type back. Does nothing for a predefined one or MPI_DATATYPE_NULL; the variable becomes
 * MPI_DATATYPE_NULL. */
void types_release(MPI_Datatype *type);
/* Count elements as one of a type that is made; MPI_DATATYPE_NULL: no memory. */
MPI_Datatype types_many(MPI_Count count, MPI_Datatype type);
bool types_is_predefined(MPI_Datatype type);

#endif
