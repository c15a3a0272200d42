/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Kernels of the predefined operations: inout[i] = in[i] op inout[i]. An element is of one of a few
 * kinds, which the many MPI types share. op.c has the table which operation MPI allows on which
 * type.
 */
#ifndef MPI_OP_KERNELS_H
#define MPI_OP_KERNELS_H

#include <stddef.h>

/* The form of an element in memory. 0: no kernel works on it. */
enum op_kind {
    OP_KIND_NONE = 0,
    OP_KIND_I8, OP_KIND_I16, OP_KIND_I32, OP_KIND_I64, OP_KIND_I128,
    OP_KIND_U8, OP_KIND_U16, OP_KIND_U32, OP_KIND_U64,
    OP_KIND_F16, OP_KIND_F32, OP_KIND_F64, OP_KIND_FLONG, OP_KIND_F128,
    OP_KIND_C16, OP_KIND_C32, OP_KIND_C64, OP_KIND_CLONG, OP_KIND_C128, /* by each part */
    /* a value, and an int (or, where named twice, a value) as its index */
    OP_KIND_F32_INT, OP_KIND_F64_INT, OP_KIND_LONG_INT, OP_KIND_INT_INT, OP_KIND_SHORT_INT,
    OP_KIND_FLONG_INT, OP_KIND_F32_F32, OP_KIND_F64_F64,
    OP_KIND_COUNT
};

/* Operations, in the order of the ABI's constants from MPI_OP_NULL on. */
enum op_code {
    OP_CODE_SUM = 1, OP_CODE_MIN, OP_CODE_MAX, OP_CODE_PROD,
    OP_CODE_BAND = 8, OP_CODE_BOR, OP_CODE_BXOR,
    OP_CODE_LAND = 16, OP_CODE_LOR, OP_CODE_LXOR,
    OP_CODE_MINLOC = 24, OP_CODE_MAXLOC,
    OP_CODE_REPLACE = 28, OP_CODE_NO_OP,
    OP_CODE_COUNT
};

typedef void (*op_kernel_fn)(const void *restrict in, void *restrict inout, size_t count);

/* Pairs that have no kernel of their own: any value that can be ordered, any index. */
struct op_pair {
    enum op_kind value, index;
    size_t value_size, index_size, index_at, extent;
};
/* code: OP_CODE_MINLOC or OP_CODE_MAXLOC. */
void op_pair_apply(enum op_code code, const struct op_pair *pair, const void *in, void *inout,
                   size_t count);

/* Of any processor; of those with AVX2, where the compiler knows them: faster by 2 to 5 as long as data
 * are in caches. AVX-512 was measured to add nothing. All compute the same bits. */
extern const op_kernel_fn op_kernels_any[OP_KIND_COUNT][OP_CODE_COUNT];
extern const op_kernel_fn op_kernels_avx2[OP_KIND_COUNT][OP_CODE_COUNT];
/* The table for this processor. */
const op_kernel_fn (*op_kernels_best(void))[OP_CODE_COUNT];

/* NULL where an operation is not defined on a kind. */
op_kernel_fn op_kernel(enum op_code code, enum op_kind kind);

#endif
