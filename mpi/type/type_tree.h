/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How a type was made: the constructor's combiner, its arguments and its types, in the order
 * of MPI_Type_get_contents (MPI-5.0 5.1.13). Each use of an argument is here too: the
 * kernels are made from it, partly received elements counted with it.
 *
 * args, by combiner (n: args[0], then a list has n elements):
 *   CONTIGUOUS      count
 *   VECTOR, HVECTOR count, blocklength, stride
 *   INDEXED, HINDEXED             n, blocklengths, displacements
 *   INDEXED_BLOCK, HINDEXED_BLOCK n, blocklength, displacements
 *   STRUCT          n, blocklengths, displacements; and n types
 *   SUBARRAY        n, sizes, subsizes, starts, order
 *   DARRAY          size, rank, ndims, gsizes, distribs, dargs, psizes, order
 *   RESIZED         lb, extent
 *   DUP, VALUE_INDEX none; the latter has two types
 *   F90_REAL, F90_COMPLEX p, r
 *   F90_INTEGER     r
 */
#ifndef MPI_TYPE_TREE_H
#define MPI_TYPE_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "mpi/type/type.h"

struct type_tree {
    int combiner;
    bool large; /* made by a function that takes counts as MPI_Count */
    int64_t arg_count, type_count;
    int64_t *args;
    struct type **types; /* referenced */
    struct type *body;   /* referenced; arrays: the same made of simpler constructors; or NULL */
};

/* Make one with room for the arguments and types (all NULL). NULL: no memory. */
struct type_tree *type_tree_create(int combiner, int64_t arg_count, int64_t type_count);
void type_tree_destroy(struct type_tree *tree); /* accepts NULL */
/* Copy one; the copy has the same types. NULL: no memory. */
struct type_tree *type_tree_copy(const struct type_tree *tree);

/* How many arguments of each sort MPI_Type_get_contents gives. */
struct type_tree_counts {
    int64_t integers, addresses, larges, types;
    int combiner;
};
void type_tree_envelope(const struct type *type, struct type_tree_counts *counts);

/* Copy the arguments except the types into arrays as long as type_tree_envelope() says. */
void type_tree_contents(const struct type *type, int *integers, MPI_Aint *addresses,
                        MPI_Count *larges);

/* How many basic elements bytes of data make, from the first element of type on; or
 * MPI_UNDEFINED where the last is not whole. */
MPI_Count type_tree_elements(const struct type *type, MPI_Count bytes);
/* How many bytes a number of basic elements takes; negative: too many. */
MPI_Count type_tree_bytes(const struct type *type, MPI_Count elements);

#endif
