/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reduction operations (MPI-5.0 6.9). Predefined ones are kernels by element
 * type; user functions are called as the standard says, int or large count, or with a state.
 */
#ifndef MPI_OP_H
#define MPI_OP_H

#include <mpi.h>
#include <stdbool.h>

#include "mpi/handle.h"

/* A function of the user's: one of the first three. */
struct op_user {
    MPI_User_function *function;
    MPI_User_function_c *function_c; /* the large-count form */
    MPIX_User_function_x *function_x;
    MPIX_Destructor_function *destroy; /* NULL: nothing is to be done with the state */
    void *state;                       /* of function_x */
};

struct op {
    struct object object;
    bool predefined;
    bool commutative;
    int code; /* of a predefined operation */
    struct op_user user; /* of another */
};

struct op *op_from(MPI_Op handle); /* NULL: none */
struct op *op_create(const struct op_user *user, bool commutative); /* NULL: no memory */
void op_ref(struct op *op); /* nothing for predefined operations */
void op_unref(struct op *op);
/* Drop the user's reference: handles are invalid from here on. Not for predefined operations. */
void op_free(struct op *op);

/* Whether op may reduce elements of type: MPI_SUCCESS or MPI_ERR_OP. MPI_REPLACE and MPI_NO_OP, which
 * only accumulate to windows, may not. */
int op_check(const struct op *op, MPI_Datatype type);
/* inout[i] = in[i] op inout[i] for count elements. */
int op_apply(const struct op *op, const void *in, void *inout, MPI_Count count,
             MPI_Datatype type);

#endif
