/* SPDX-License-Identifier: BSD-3-Clause */

/* Minimum and maximum of pairs that have no kernel of their own: any value, any index. */
#include "mpi/type/op_kernels.h"

#include <stdint.h>
#include <string.h>

#include "mpi/type/op_half.h"
#include "os/quad.h"

/* -1, 0 or 1 as a is less than, equal to, greater than b; UNORDERED. */
enum {
    UNORDERED = 2
};

#define ORDER(kind, type)                                              \
    static void order_##kind(const void *a, const void *b, int *order) \
    {                                                                  \
        type x, y;                                                     \
        memcpy(&x, a, sizeof(x));                                      \
        memcpy(&y, b, sizeof(y));                                      \
        *order = x < y ? -1 : x > y ? 1 : x == y ? 0 : UNORDERED;      \
    }

ORDER(u8, uint8_t)
ORDER(u16, uint16_t)
ORDER(u32, uint32_t)
ORDER(u64, uint64_t)
ORDER(i8, int8_t)
ORDER(i16, int16_t)
ORDER(i32, int32_t)
ORDER(i64, int64_t)
ORDER(i128, __int128)
ORDER(f32, float)
ORDER(f64, double)
ORDER(flong, long double)
ORDER(f128, os_quad)

static void order_f16(const void *a, const void *b, int *order)
{
    uint16_t half[2];
    memcpy(&half[0], a, 2);
    memcpy(&half[1], b, 2);
    const float x = from_half(half[0]), y = from_half(half[1]);
    order_f32(&x, &y, order);
}

typedef void (*order_fn)(const void *a, const void *b, int *order);

static const order_fn orders[OP_KIND_COUNT] = {
    [OP_KIND_I8] = order_i8,       [OP_KIND_I16] = order_i16,   [OP_KIND_I32] = order_i32,
    [OP_KIND_I64] = order_i64,     [OP_KIND_I128] = order_i128, [OP_KIND_U8] = order_u8,
    [OP_KIND_U16] = order_u16,     [OP_KIND_U32] = order_u32,   [OP_KIND_U64] = order_u64,
    [OP_KIND_F16] = order_f16,     [OP_KIND_F32] = order_f32,   [OP_KIND_F64] = order_f64,
    [OP_KIND_FLONG] = order_flong, [OP_KIND_F128] = order_f128,
};

void op_pair_apply(enum op_code code, const struct op_pair *pair, const void *in, void *inout,
                   size_t count)
{
    const order_fn value = orders[pair->value], index = orders[pair->index];
    const int better = code == OP_CODE_MINLOC ? -1 : 1;
    const char *a = in;
    char *b = inout;

    for (size_t i = 0; i < count; i++) {
        int order, before = 0;
        value(a, b, &order);
        if (order == 0)
            index(a + pair->index_at, b + pair->index_at, &before);
        if (order == better || before < 0) {
            memcpy(b, a, pair->value_size); /* not the gap between the two */
            memcpy(b + pair->index_at, a + pair->index_at, pair->index_size);
        }
        a += pair->extent;
        b += pair->extent;
    }
}
