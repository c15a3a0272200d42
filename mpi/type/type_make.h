/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Constructors of datatypes. Callers have checked the arguments: counts and lengths are not
 * negative, handles lead to types. Each returns 0 and the new type (one reference, the caller's),
 * or MPI_ERR_NO_MEM, or MPI_ERR_COUNT where a size, bound or displacement would not fit in 63 bits
 * or the tree would be deeper than TYPE_DEPTH_MAX.
 */
#ifndef MPI_TYPE_MAKE_H
#define MPI_TYPE_MAKE_H

#include "mpi/type/type.h"

enum {
    TYPE_DEPTH_MAX = 1024
}; /* trees are walked by recursion */

int type_make_contiguous(int64_t count, struct type *old, struct type **made);
/* combiner: MPI_COMBINER_VECTOR (stride in extents) or MPI_COMBINER_HVECTOR (in bytes). */
int type_make_vector(int combiner, int64_t count, int64_t blocklength, int64_t stride,
                     struct type *old, struct type **made);

/* Blocks of one type. combiner: MPI_COMBINER_INDEXED, _HINDEXED, with lengths [count],
 * _INDEXED_BLOCK or _HINDEXED_BLOCK, with lengths [1]. */
struct type_blocks {
    int combiner;
    int64_t count;
    const int64_t *lengths;
    const int64_t *displacements; /* [count] */
};
int type_make_indexed(const struct type_blocks *blocks, struct type *old, struct type **made);

/* types: [count] */
int type_make_struct(int64_t count, const int64_t *lengths, const int64_t *displacements,
                     struct type **types, struct type **made);
int type_make_resized(struct type *old, int64_t lb, int64_t extent, struct type **made);
int type_make_dup(struct type *old, struct type **made);
/* Make another object like old, a derived type, committed where old is, without attributes and
 * name. */
int type_make_again(struct type *old, struct type **made);

/* [ndims] each; order: MPI_ORDER_C or MPI_ORDER_FORTRAN. */
struct type_subarray {
    int ndims, order;
    const int64_t *sizes, *subsizes, *starts;
};
int type_make_subarray(const struct type_subarray *array, struct type *old, struct type **made);

/* [ndims] each; the product of psizes is size. */
struct type_darray {
    int size, rank, ndims, order;
    const int64_t *gsizes;
    const int *distribs, *dargs, *psizes;
};
int type_make_darray(const struct type_darray *array, struct type *old, struct type **made);

#endif
