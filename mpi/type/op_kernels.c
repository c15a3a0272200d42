/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Kernels of operations: plain loops, which compilers turn into vector code. The file is compiled once
 * for each kind of processor; OP_KERNELS is the name of its table,
 * OP_HALF a header with the kernels of half precision. Integer sums and products use
 * unsigned numbers, so that they wrap; the minimum of floats is the right operand where the two do
 * not compare.
 */
#include "mpi/type/op_kernels.h"

#include <stdbool.h>
#include <stdint.h>

#include OP_HALF
#include "os/quad.h"

/* a[i] and b[i] are the operands of value. */
#define KERNEL(name, type, value)                                                                  \
    static void name(const void *restrict in, void *restrict inout, size_t count)                  \
    {                                                                                              \
        const type *a = in;                                                                        \
        type *b = inout;                                                                           \
        for (size_t i = 0; i < count; i++)                                                         \
            b[i] = (type)(value);                                                                  \
    }

/* Of 16 bytes, at any address: instructions for such are used that trap on others. */
typedef unsigned __int128 loose_u128 __attribute__((aligned(1)));
typedef __int128 loose_i128 __attribute__((aligned(1)));
typedef os_quad loose_quad __attribute__((aligned(1)));
typedef long double loose_long __attribute__((aligned(1)));

/* ---- numbers ---- */

#define INTEGER(kind, type)                                                                        \
    KERNEL(sum_##kind, type, a[i] + b[i])                                                          \
    KERNEL(prod_##kind, type, 1u * a[i] * b[i])                                                    \
    KERNEL(band_##kind, type, a[i] & b[i])                                                         \
    KERNEL(bor_##kind, type, a[i] | b[i])                                                          \
    KERNEL(bxor_##kind, type, a[i] ^ b[i])                                                         \
    KERNEL(land_##kind, type, (a[i] != 0) & (b[i] != 0))                                           \
    KERNEL(lor_##kind, type, (a[i] != 0) | (b[i] != 0))                                            \
    KERNEL(lxor_##kind, type, (a[i] != 0) ^ (b[i] != 0))
#define ORDERED(kind, type)                                                                        \
    KERNEL(min_##kind, type, a[i] < b[i] ? a[i] : b[i])                                            \
    KERNEL(max_##kind, type, a[i] > b[i] ? a[i] : b[i])
#define FLOATING(kind, type)                                                                       \
    ORDERED(kind, type)                                                                            \
    KERNEL(sum_##kind, type, a[i] + b[i])                                                          \
    KERNEL(prod_##kind, type, a[i] * b[i])

INTEGER(u8, uint8_t)
INTEGER(u16, uint16_t)
INTEGER(u32, uint32_t)
INTEGER(u64, uint64_t)
INTEGER(u128, loose_u128)
ORDERED(u8, uint8_t)
ORDERED(u16, uint16_t)
ORDERED(u32, uint32_t)
ORDERED(u64, uint64_t)
ORDERED(i8, int8_t)
ORDERED(i16, int16_t)
ORDERED(i32, int32_t)
ORDERED(i64, int64_t)
ORDERED(i128, loose_i128)
FLOATING(f32, float)
FLOATING(f64, double)
FLOATING(flong, loose_long)
FLOATING(f128, loose_quad)

/* ---- complex numbers: pairs (real, imaginary) ---- */

/* Sums work on the parts of a number: twice as many numbers. */
#define COMPLEX_SUM(kind, parts)                                                                   \
    static void sum_##kind(const void *restrict in, void *restrict inout, size_t count)            \
    {                                                                                              \
        sum_##parts(in, inout, 2 * count);                                                         \
    }
#define COMPLEX_PROD(kind, part)                                                                   \
    static void prod_##kind(const void *restrict in, void *restrict inout, size_t count)           \
    {                                                                                              \
        const part(*a)[2] = in;                                                                    \
        part(*b)[2] = inout;                                                                       \
        for (size_t i = 0; i < count; i++) {                                                       \
            part re = a[i][0] * b[i][0] - a[i][1] * b[i][1];                                       \
            b[i][1] = a[i][0] * b[i][1] + a[i][1] * b[i][0], b[i][0] = re;                         \
        }                                                                                          \
    }

COMPLEX_SUM(c32, f32)
COMPLEX_SUM(c64, f64)
COMPLEX_SUM(clong, flong)
COMPLEX_SUM(c128, f128)
COMPLEX_PROD(c32, float)
COMPLEX_PROD(c64, double)
COMPLEX_PROD(clong, loose_long)
COMPLEX_PROD(c128, loose_quad)

/* ---- half precision ---- */

HALF_KERNEL(sum_f16, +)
HALF_KERNEL(prod_f16, *)
KERNEL(min_f16, uint16_t, from_half(a[i]) < from_half(b[i]) ? a[i] : b[i])
KERNEL(max_f16, uint16_t, from_half(a[i]) > from_half(b[i]) ? a[i] : b[i])
COMPLEX_SUM(c16, f16)

static void prod_c16(const void *restrict in, void *restrict inout, size_t count)
{
    const uint16_t(*a)[2] = in;
    uint16_t(*b)[2] = inout;
    for (size_t i = 0; i < count; i++) {
        float x[2] = {from_half(a[i][0]), from_half(a[i][1])};
        float y[2] = {from_half(b[i][0]), from_half(b[i][1])};
        b[i][0] = to_half(x[0] * y[0] - x[1] * y[1]);
        b[i][1] = to_half(x[0] * y[1] + x[1] * y[0]);
    }
}

/* ---- pairs of a value and its index: of equal values, the smallest index ---- */

/* is_better compares a[i].v with b[i].v */
#define LOC(name, pair, is_better)                                                                 \
    static void name(const void *restrict in, void *restrict inout, size_t count)                  \
    {                                                                                              \
        const struct pair *a = in;                                                                 \
        for (struct pair *b = inout, *end = b + count; b < end; a++, b++) {                        \
            bool takes = (a->v is_better b->v) | ((a->v == b->v) & (a->i < b->i));                 \
            b->v = takes ? a->v : b->v;                                                            \
            b->i = takes ? a->i : b->i;                                                            \
        }                                                                                          \
    }
#define PAIR(kind, value, index)                                                                   \
    struct kind {                                                                                  \
        value v;                                                                                   \
        index i;                                                                                   \
    };                                                                                             \
    LOC(minloc_##kind, kind, <)                                                                    \
    LOC(maxloc_##kind, kind, >)

PAIR(f32_int, float, int)
PAIR(f64_int, double, int)
PAIR(long_int, long, int)
PAIR(int_int, int, int)
PAIR(short_int, short, int)
PAIR(flong_int, long double, int)
PAIR(f32_f32, float, float)
PAIR(f64_f64, double, double)

/* ---- the table ---- */

/* Only minimum and maximum distinguish signed from unsigned. */
#define ROW_INTEGER(kind, ukind)                                                                   \
    {                                                                                              \
        [OP_CODE_SUM] = sum_##ukind, [OP_CODE_PROD] = prod_##ukind, [OP_CODE_MIN] = min_##kind,    \
        [OP_CODE_MAX] = max_##kind, [OP_CODE_BAND] = band_##ukind, [OP_CODE_BOR] = bor_##ukind,    \
        [OP_CODE_BXOR] = bxor_##ukind, [OP_CODE_LAND] = land_##ukind,                              \
        [OP_CODE_LOR] = lor_##ukind, [OP_CODE_LXOR] = lxor_##ukind                                 \
    }
#define ROW_FLOATING(kind)                                                                         \
    {                                                                                              \
        [OP_CODE_SUM] = sum_##kind, [OP_CODE_PROD] = prod_##kind, [OP_CODE_MIN] = min_##kind,      \
        [OP_CODE_MAX] = max_##kind                                                                 \
    }
#define ROW_COMPLEX(kind) {[OP_CODE_SUM] = sum_##kind, [OP_CODE_PROD] = prod_##kind}
#define ROW_PAIR(kind) {[OP_CODE_MINLOC] = minloc_##kind, [OP_CODE_MAXLOC] = maxloc_##kind}

const op_kernel_fn OP_KERNELS[OP_KIND_COUNT][OP_CODE_COUNT] = {
    [OP_KIND_I8] = ROW_INTEGER(i8, u8),
    [OP_KIND_I16] = ROW_INTEGER(i16, u16),
    [OP_KIND_I32] = ROW_INTEGER(i32, u32),
    [OP_KIND_I64] = ROW_INTEGER(i64, u64),
    [OP_KIND_I128] = ROW_INTEGER(i128, u128),
    [OP_KIND_U8] = ROW_INTEGER(u8, u8),
    [OP_KIND_U16] = ROW_INTEGER(u16, u16),
    [OP_KIND_U32] = ROW_INTEGER(u32, u32),
    [OP_KIND_U64] = ROW_INTEGER(u64, u64),
    [OP_KIND_F16] = ROW_FLOATING(f16),
    [OP_KIND_F32] = ROW_FLOATING(f32),
    [OP_KIND_F64] = ROW_FLOATING(f64),
    [OP_KIND_FLONG] = ROW_FLOATING(flong),
    [OP_KIND_F128] = ROW_FLOATING(f128),
    [OP_KIND_C16] = ROW_COMPLEX(c16),
    [OP_KIND_C32] = ROW_COMPLEX(c32),
    [OP_KIND_C64] = ROW_COMPLEX(c64),
    [OP_KIND_CLONG] = ROW_COMPLEX(clong),
    [OP_KIND_C128] = ROW_COMPLEX(c128),
    [OP_KIND_F32_INT] = ROW_PAIR(f32_int),
    [OP_KIND_F64_INT] = ROW_PAIR(f64_int),
    [OP_KIND_LONG_INT] = ROW_PAIR(long_int),
    [OP_KIND_INT_INT] = ROW_PAIR(int_int),
    [OP_KIND_SHORT_INT] = ROW_PAIR(short_int),
    [OP_KIND_FLONG_INT] = ROW_PAIR(flong_int),
    [OP_KIND_F32_F32] = ROW_PAIR(f32_f32),
    [OP_KIND_F64_F64] = ROW_PAIR(f64_f64),
};
