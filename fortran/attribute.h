/* SPDX-License-Identifier: BSD-3-Clause */

/* Attributes of Fortran, as C keeps them. */
#ifndef FORTRAN_ATTRIBUTE_H
#define FORTRAN_ATTRIBUTE_H

#include <mpi.h>

void *attribute_of_value(MPI_Aint value); /* what C keeps for an integer of Fortran */
MPI_Aint attribute_value(void *attribute); /* the integer for what C keeps */
/* The same for the attribute of a key, which may be one of the library's own. */
MPI_Aint attribute_of_c(int keyval, void *attribute);

#endif
