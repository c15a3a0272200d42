/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Predefined types by their contents: a class and a size, a decimal precision and range, a value
 * and its index. Types without a name are made on first use, and stay.
 */
#ifndef MPI_TYPE_MATCH_H
#define MPI_TYPE_MATCH_H

#include "mpi/type/type.h"

/* MPI_TYPECLASS_ and bytes; NULL: there is none. */
struct type *type_match_size(int typeclass, int size);

/* combiner: MPI_COMBINER_F90_REAL, _COMPLEX, or _INTEGER (which has no p). p or r may be
 * MPI_UNDEFINED, not both. Equal arguments give the same type. Returns 0, MPI_ERR_ARG where no
 * Fortran kind is so precise, or MPI_ERR_NO_MEM. */
int type_match_f90(int combiner, int p, int r, struct type **found);

/* The pair of two basic types that MPI_MINLOC and MPI_MAXLOC take. Returns 0, with *found NULL if
 * there is none, or MPI_ERR_NO_MEM. */
int type_match_pair(struct type *value, struct type *index, struct type **found);

#endif
