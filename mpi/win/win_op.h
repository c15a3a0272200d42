/* SPDX-License-Identifier: BSD-3-Clause */

/* One-sided operations: checked, and carried out or sent. */
#ifndef MPI_WIN_OP_H
#define MPI_WIN_OP_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpi/type/op.h"
#include "mpi/type/op_kernels.h"
#include "mpi/type/type.h"

struct win;

enum win_kind {
    WIN_OP_PUT,
    WIN_OP_GET,
    WIN_OP_ACCUMULATE,
    WIN_OP_FETCH,
    WIN_OP_COMPARE
};

struct win_data {
    const void *buf;
    MPI_Count count;
    MPI_Datatype type;
};

/* As MPI names the arguments. from: what the operation takes to the target; to: where what it
 * brings goes. COMPARE: compare is an element like from's. */
struct win_op {
    enum win_kind kind;
    struct win_data from, to;
    const void *compare;
    int rank;
    MPI_Aint disp;
    MPI_Count count; /* at the target */
    MPI_Datatype type;
    MPI_Op op;
    const char *function; /* for errors */

    /* Found by win_run(). */
    bool requests;                          /* the program gets a request of it */
    const struct op *how;                   /* of FETCH and ACCUMULATE */
    const struct type *target_type, *basic; /* basic: of what is accumulated, otherwise NULL */
};

/* Check and start an operation, and, with request, give a request of it. Returns MPI_SUCCESS or the
 * code of an error that was raised. */
int win_run(struct win *win, struct win_op *op, MPI_Request *request);

/* Whether it takes data to the target, and whether it brings some back. */
static inline bool win_op_takes(const struct win_op *op)
{
    return op->kind != WIN_OP_GET && !(op->how && op->how->code == OP_CODE_NO_OP);
}

static inline bool win_op_brings(const struct win_op *op)
{
    return op->kind != WIN_OP_PUT && op->kind != WIN_OP_ACCUMULATE;
}

/* Data bytes at the target. */
static inline uint64_t win_op_bytes(const struct win_op *op)
{
    return (uint64_t)op->target_type->size * (uint64_t)op->count;
}

#endif
