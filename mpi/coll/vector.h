/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reductions of long vectors: each process reduces one block of the vector, and then the
 * blocks are gathered. For commutative operations. Elements are reduced by one process each, so
 * all see the same result.
 */
#ifndef MPI_COLL_VECTOR_H
#define MPI_COLL_VECTOR_H

#include "mpi/coll/coll.h"

struct vector {
    struct sched *s;
    int rank, size;
    const void *in; /* my operands; not written unless equal to out */
    void *out;      /* room for the whole vector: blocks come to be here */
    MPI_Datatype type;
    const MPI_Count *start; /* [size + 1]: first element of each block, and the end */
};

/* Describe the vector of a call; in may be MPI_IN_PLACE: it is where out is. counts: of the
 * blocks; NULL: equal shares of count. */
void vector_init(struct vector *v, struct sched *s, const struct coll *c, void *out);

/* Have my block reduced, in out: around a ring; or, with 2^k processes, by halves. */
void vector_reduce_ring(const struct vector *v);
void vector_reduce_halving(const struct vector *v);
/* Have all blocks in out. */
void vector_gather_ring(const struct vector *v);
void vector_gather_doubling(const struct vector *v);

#endif
