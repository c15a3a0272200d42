/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reduction operations (MPI-5.0 6.9). Predefined ones are kernels by element
 * type; user functions are called as the standard says, int or large count.
 */
#ifndef MPI_OP_H
#define MPI_OP_H

#include <mpi.h>
#include <stdbool.h>

#include "mpi/handle.h"

struct op {
    struct object object;
    bool predefined;
    bool commutative;
    int code; /* of a predefined operation */
    MPI_User_function *function;     /* or */
    MPI_User_function_c *function_c; /* the large-count form */
};

int op_init(void);
void op_fini(void);
struct op *op_from(MPI_Op handle); /* NULL: none */
void op_ref(struct op *op);
void op_unref(struct op *op);

/* Whether op may be applied to type: MPI_SUCCESS or the error class. */
int op_check(const struct op *op, MPI_Datatype type);
/* inout[i] = in[i] op inout[i] for count elements. */
int op_apply(const struct op *op, const void *in, void *inout, MPI_Count count,
             MPI_Datatype type);

#endif
