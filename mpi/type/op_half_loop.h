/* SPDX-License-Identifier: BSD-3-Clause */

/* Kernels of numbers of half precision, for any processor. */
#ifndef MPI_OP_HALF_LOOP_H
#define MPI_OP_HALF_LOOP_H

#include <stddef.h>
#include <stdint.h>

#include "mpi/type/op_half.h"

/* b[i] = a[i] OPERATOR b[i] */
#define HALF_KERNEL(name, operator)                                                                \
    static void name(const void *restrict in, void *restrict inout, size_t count)                  \
    {                                                                                              \
        const uint16_t *a = in;                                                                    \
        uint16_t *b = inout;                                                                       \
        for (size_t i = 0; i < count; i++)                                                         \
            b[i] = to_half(from_half(a[i]) operator from_half(b[i]));                              \
    }

#endif
