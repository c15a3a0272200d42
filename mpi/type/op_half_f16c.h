/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Kernels of numbers of half precision, for x86 processors that convert eight at once (F16C). The bits
 * are those that op_half.h computes: both round to even, and keep numbers below the normal ones.
 */
#ifndef MPI_OP_HALF_F16C_H
#define MPI_OP_HALF_F16C_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "mpi/type/op_half.h"

#define HALVES_AT(place) ((__m128i *)(uintptr_t)(place))
#define FLOATS_OF(place) _mm256_cvtph_ps(_mm_loadu_si128(HALVES_AT(place)))
#define PUT_HALVES(place, floats)                                                                  \
    _mm_storeu_si128(HALVES_AT(place), _mm256_cvtps_ph(floats, _MM_FROUND_TO_NEAREST_INT))

/* b[i] = a[i] OPERATOR b[i] */
#define HALF_KERNEL(name, operator)                                                                \
    static void name(const void *restrict in, void *restrict inout, size_t count)                  \
    {                                                                                              \
        const uint16_t *a = in, *end = a + count;                                                  \
        uint16_t *b = inout;                                                                       \
        for (; end - a >= 8; a += 8, b += 8)                                                       \
            PUT_HALVES(b, FLOATS_OF(a) operator FLOATS_OF(b));                                     \
        for (; a < end; a++, b++)                                                                  \
            *b = to_half(from_half(*a) operator from_half(*b));                                    \
    }

#endif
