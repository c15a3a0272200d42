/* SPDX-License-Identifier: BSD-3-Clause */

/* Datatypes of ints, with gaps, lower bounds and backwards, and operations on any of them. */
#ifndef VALUES_H
#define VALUES_H

#include <mpi.h>

struct op;

enum { VALUES_TYPES = 8 };

struct values_type {
    MPI_Datatype type;
    int ints; /* in an element: 1, 2 or 4 */
};

extern struct values_type values_types[VALUES_TYPES]; /* the first is MPI_INT */

/* values_sum adds ints. values_composed takes pairs (a, b) as x -> a x + b, and two of them as one
 * after the other, which does not commute. */
extern struct op *values_sum, *values_composed;

void values_init(void);
void values_fini(void);

/* Between count elements at buf and as many ints as they have. */
void values_pack(const void *buf, MPI_Count count, MPI_Datatype type, int *ints);
void values_unpack(void *buf, MPI_Count count, MPI_Datatype type, const int *ints);

/* second = first, then second: both are pairs. */
void values_compose(const unsigned *first, unsigned *second);

#endif
