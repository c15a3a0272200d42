/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Operation objects, and the rules which predefined operation MPI allows on which type (MPI-5.0
 * 6.9.2).
 */
#include "mpi/type/op.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "mpi/store.h"
#include "mpi/type/op_kernels.h"
#include "mpi/type/type.h"

/* ---- allowed types ---- */

/* The groups of types of MPI-5.0 6.9.2. */
enum type_group {
    C_INTEGER = 1u << 0,
    FORTRAN_INTEGER = 1u << 1,
    FLOATING = 1u << 2,
    LOGICAL = 1u << 3,
    COMPLEX = 1u << 4,
    BYTE = 1u << 5,
    MULTI_LANGUAGE = 1u << 6,
    PAIR = 1u << 7,
    ORDERED = C_INTEGER | FORTRAN_INTEGER | FLOATING | MULTI_LANGUAGE,
    BITS = C_INTEGER | FORTRAN_INTEGER | BYTE | MULTI_LANGUAGE,
    TRUTH = C_INTEGER | LOGICAL |
            MULTI_LANGUAGE /* the last ones are not MPI's: in C they are integers */
};

static const uint8_t allowed[OP_CODE_COUNT] = {
    [OP_CODE_SUM] = ORDERED | COMPLEX, [OP_CODE_PROD] = ORDERED | COMPLEX,
    [OP_CODE_MIN] = ORDERED,           [OP_CODE_MAX] = ORDERED,
    [OP_CODE_BAND] = BITS,             [OP_CODE_BOR] = BITS,
    [OP_CODE_BXOR] = BITS,             [OP_CODE_LAND] = TRUTH,
    [OP_CODE_LOR] = TRUTH,             [OP_CODE_LXOR] = TRUTH,
    [OP_CODE_MINLOC] = PAIR,           [OP_CODE_MAXLOC] = PAIR,
};

/* The groups of the predefined types, by their place after MPI_DATATYPE_NULL
 * (mpi/type/type_list.inc) */
static const struct {
    uint8_t kind, group;
} traits[256] = {
    [0x01] = {OP_KIND_I64, MULTI_LANGUAGE},  /* MPI_AINT */
    [0x02] = {OP_KIND_I64, MULTI_LANGUAGE},  /* MPI_COUNT */
    [0x03] = {OP_KIND_I64, MULTI_LANGUAGE},  /* MPI_OFFSET */
    [0x08] = {OP_KIND_I16, C_INTEGER},       /* MPI_SHORT */
    [0x09] = {OP_KIND_I32, C_INTEGER},       /* MPI_INT */
    [0x0a] = {OP_KIND_I64, C_INTEGER},       /* MPI_LONG */
    [0x0b] = {OP_KIND_I64, C_INTEGER},       /* MPI_LONG_LONG */
    [0x0c] = {OP_KIND_U16, C_INTEGER},       /* MPI_UNSIGNED_SHORT */
    [0x0d] = {OP_KIND_U32, C_INTEGER},       /* MPI_UNSIGNED */
    [0x0e] = {OP_KIND_U64, C_INTEGER},       /* MPI_UNSIGNED_LONG */
    [0x0f] = {OP_KIND_U64, C_INTEGER},       /* MPI_UNSIGNED_LONG_LONG */
    [0x10] = {OP_KIND_F32, FLOATING},        /* MPI_FLOAT */
    [0x12] = {OP_KIND_C32, COMPLEX},         /* MPI_C_FLOAT_COMPLEX */
    [0x13] = {OP_KIND_C32, COMPLEX},         /* MPI_CXX_FLOAT_COMPLEX */
    [0x14] = {OP_KIND_F64, FLOATING},        /* MPI_DOUBLE */
    [0x16] = {OP_KIND_C64, COMPLEX},         /* MPI_C_DOUBLE_COMPLEX */
    [0x17] = {OP_KIND_C64, COMPLEX},         /* MPI_CXX_DOUBLE_COMPLEX */
    [0x18] = {OP_KIND_I32, LOGICAL},         /* MPI_LOGICAL */
    [0x19] = {OP_KIND_I32, FORTRAN_INTEGER}, /* MPI_INTEGER */
    [0x1a] = {OP_KIND_F32, FLOATING},        /* MPI_REAL */
    [0x1b] = {OP_KIND_C32, COMPLEX},         /* MPI_COMPLEX */
    [0x1c] = {OP_KIND_F64, FLOATING},        /* MPI_DOUBLE_PRECISION */
    [0x1d] = {OP_KIND_C64, COMPLEX},         /* MPI_DOUBLE_COMPLEX */
    [0x20] = {OP_KIND_FLONG, FLOATING},      /* MPI_LONG_DOUBLE */
    [0x24] = {OP_KIND_CLONG, COMPLEX},       /* MPI_C_LONG_DOUBLE_COMPLEX */
    [0x25] = {OP_KIND_CLONG, COMPLEX},       /* MPI_CXX_LONG_DOUBLE_COMPLEX */
    [0x28] = {OP_KIND_F32_INT, PAIR},        /* MPI_FLOAT_INT */
    [0x29] = {OP_KIND_F64_INT, PAIR},        /* MPI_DOUBLE_INT */
    [0x2a] = {OP_KIND_LONG_INT, PAIR},       /* MPI_LONG_INT */
    [0x2b] = {OP_KIND_INT_INT, PAIR},        /* MPI_2INT */
    [0x2c] = {OP_KIND_SHORT_INT, PAIR},      /* MPI_SHORT_INT */
    [0x2d] = {OP_KIND_FLONG_INT, PAIR},      /* MPI_LONG_DOUBLE_INT */
    [0x30] = {OP_KIND_F32_F32, PAIR},        /* MPI_2REAL */
    [0x31] = {OP_KIND_F64_F64, PAIR},        /* MPI_2DOUBLE_PRECISION */
    [0x32] = {OP_KIND_INT_INT, PAIR},        /* MPI_2INTEGER */
    [0x38] = {OP_KIND_U8, LOGICAL},          /* MPI_C_BOOL */
    [0x39] = {OP_KIND_U8, LOGICAL},          /* MPI_CXX_BOOL */
    [0x40] = {OP_KIND_I8, C_INTEGER},        /* MPI_INT8_T */
    [0x41] = {OP_KIND_U8, C_INTEGER},        /* MPI_UINT8_T */
    [0x43] = {CHAR_MIN < 0 ? OP_KIND_I8 : OP_KIND_U8, C_INTEGER}, /* MPI_CHAR, as other libraries do */
    [0x44] = {OP_KIND_I8, C_INTEGER},        /* MPI_SIGNED_CHAR */
    [0x45] = {OP_KIND_U8, C_INTEGER},        /* MPI_UNSIGNED_CHAR */
    [0x47] = {OP_KIND_U8, BYTE},             /* MPI_BYTE */
    [0x48] = {OP_KIND_I16, C_INTEGER},       /* MPI_INT16_T */
    [0x49] = {OP_KIND_U16, C_INTEGER},       /* MPI_UINT16_T */
    [0x50] = {OP_KIND_I32, C_INTEGER},       /* MPI_INT32_T */
    [0x51] = {OP_KIND_U32, C_INTEGER},       /* MPI_UINT32_T */
    [0x58] = {OP_KIND_I64, C_INTEGER},       /* MPI_INT64_T */
    [0x59] = {OP_KIND_U64, C_INTEGER},       /* MPI_UINT64_T */
    [0xc0] = {OP_KIND_I8, LOGICAL},          /* MPI_LOGICAL1 */
    [0xc1] = {OP_KIND_I8, FORTRAN_INTEGER},  /* MPI_INTEGER1 */
    [0xc8] = {OP_KIND_I16, LOGICAL},         /* MPI_LOGICAL2 */
    [0xc9] = {OP_KIND_I16, FORTRAN_INTEGER}, /* MPI_INTEGER2 */
    [0xca] = {OP_KIND_F16, FLOATING},        /* MPI_REAL2 */
    [0xd0] = {OP_KIND_I32, LOGICAL},         /* MPI_LOGICAL4 */
    [0xd1] = {OP_KIND_I32, FORTRAN_INTEGER}, /* MPI_INTEGER4 */
    [0xd2] = {OP_KIND_F32, FLOATING},        /* MPI_REAL4 */
    [0xd3] = {OP_KIND_C16, COMPLEX},         /* MPI_COMPLEX4 */
    [0xd8] = {OP_KIND_I64, LOGICAL},         /* MPI_LOGICAL8 */
    [0xd9] = {OP_KIND_I64, FORTRAN_INTEGER}, /* MPI_INTEGER8 */
    [0xda] = {OP_KIND_F64, FLOATING},        /* MPI_REAL8 */
    [0xdb] = {OP_KIND_C32, COMPLEX},         /* MPI_COMPLEX8 */
    [0xe0] = {OP_KIND_I128, LOGICAL},        /* MPI_LOGICAL16 */
    [0xe1] = {OP_KIND_I128, FORTRAN_INTEGER}, /* MPI_INTEGER16 */
    [0xe2] = {OP_KIND_F128, FLOATING},       /* MPI_REAL16 */
    [0xe3] = {OP_KIND_C64, COMPLEX},         /* MPI_COMPLEX16 */
    [0xeb] = {OP_KIND_C128, COMPLEX},        /* MPI_COMPLEX32 */
};

/* ---- objects ---- */

static struct store store = {.lock = OS_LOCK_INIT};

#define PREDEFINED(what, is_commutative)                                                           \
    [OP_CODE_##what] = {.object = {.word = OBJECT_OP, .refs = 1},                                  \
                        .predefined = true,                                                        \
                        .commutative = is_commutative,                                             \
                        .code = OP_CODE_##what}
static struct op constants[OP_CODE_COUNT] = {
    PREDEFINED(SUM, true),    PREDEFINED(MIN, true),      PREDEFINED(MAX, true),
    PREDEFINED(PROD, true),   PREDEFINED(BAND, true),     PREDEFINED(BOR, true),
    PREDEFINED(BXOR, true),   PREDEFINED(LAND, true),     PREDEFINED(LOR, true),
    PREDEFINED(LXOR, true),   PREDEFINED(MINLOC, true),   PREDEFINED(MAXLOC, true),
    PREDEFINED(REPLACE, false), PREDEFINED(NO_OP, false),
};

struct op *op_from(MPI_Op handle)
{
    if (handle_is_constant(handle)) {
        uintptr_t i = (uintptr_t)handle - (uintptr_t)MPI_OP_NULL;
        return i < OP_CODE_COUNT && constants[i].predefined ? &constants[i] : NULL;
    }
    return handle_leads_to(handle, OBJECT_OP) ? (struct op *)handle : NULL;
}

struct op *op_create(const struct op_user *user, bool commutative)
{
    struct op *op = store_make(&store, sizeof(*op), OBJECT_OP);
    if (!op)
        return NULL;
    op->commutative = commutative;
    op->user = *user;
    return op;
}

void op_ref(struct op *op)
{
    if (!op->predefined)
        object_ref(&op->object);
}

void op_unref(struct op *op)
{
    if (op->predefined || !object_unref(&op->object))
        return;
    if (op->user.destroy)
        op->user.destroy(op->user.state);
    store_free(&store, op);
}

void op_free(struct op *op)
{
    object_set_word(&op->object, 0);
    op_unref(op);
}

/* ---- use ---- */

/* The predefined type of a handle, which may have no place of its own; NULL: none. */
static const struct type *predefined(MPI_Datatype handle)
{
    const struct type *type = type_from(handle);

    return type && type->predefined ? type : NULL;
}

int op_check(const struct op *op, MPI_Datatype type)
{
    uintptr_t i = (uintptr_t)type - (uintptr_t)MPI_DATATYPE_NULL;
    unsigned group = i < 256 ? traits[i].group : 0;

    if (!op->predefined)
        return MPI_SUCCESS;
    if (i >= 256) {
        const struct type *found = predefined(type);
        struct type_pair pair;
        if (found)
            group = type_pair(found, &pair) ? PAIR : traits[found->place].group;
    }
    return group & allowed[op->code] ? MPI_SUCCESS : MPI_ERR_OP;
}

/* Call a user's function with the kind of count that it takes. */
static void apply_user(const struct op *op, const void *in, void *inout, MPI_Count count,
                       MPI_Datatype type)
{
    char *from = (char *)(uintptr_t)in, *to = inout;
    if (op->user.function_x) {
        op->user.function_x(from, to, count, type, op->user.state);
        return;
    }
    if (op->user.function_c) {
        op->user.function_c(from, to, &count, &type);
        return;
    }
    MPI_Count extent = count > INT_MAX ? type_from(type)->extent : 0;
    while (count > 0) {
        int some = count > INT_MAX ? INT_MAX : (int)count;
        MPI_Count bytes = extent * some;
        op->user.function(from, to, &some, &type);
        from += bytes;
        to += bytes;
        count -= some;
    }
}

/* Reduce elements of a predefined type without a place of its own (mpi/type/type_match.h). */
static int apply_unnamed(const struct op *op, const void *in, void *inout, MPI_Count count,
                         MPI_Datatype handle)
{
    const struct type *type = predefined(handle);
    struct type_pair pair;

    if (!type || op_check(op, handle))
        return MPI_ERR_OP;
    if (!type_pair(type, &pair))
        return op_apply(op, in, inout, count, type_of_place(type->place)->handle);
    const struct op_pair how = {.value = traits[pair.value->place].kind,
                                .index = traits[pair.index->place].kind,
                                .value_size = (size_t)pair.value->size,
                                .index_size = (size_t)pair.index->size,
                                .index_at = (size_t)pair.index_at,
                                .extent = (size_t)type->extent};
    op_pair_apply((enum op_code)op->code, &how, in, inout, (size_t)count);
    return MPI_SUCCESS;
}

/* Found at the first use; any thread finds the same. */
static const op_kernel_fn (*_Atomic kernels)[OP_CODE_COUNT];

op_kernel_fn op_kernel(enum op_code code, enum op_kind kind)
{
    const op_kernel_fn(*table)[OP_CODE_COUNT] =
        atomic_load_explicit(&kernels, memory_order_relaxed);
    if (__builtin_expect(!table, 0)) {
        table = op_kernels_best();
        atomic_store_explicit(&kernels, table, memory_order_relaxed);
    }
    return table[kind][code];
}

int op_apply(const struct op *op, const void *in, void *inout, MPI_Count count,
             MPI_Datatype type)
{
    if (count <= 0)
        return MPI_SUCCESS;
    if (!op->predefined) {
        apply_user(op, in, inout, count, type);
        return MPI_SUCCESS;
    }
    if (op->code == OP_CODE_NO_OP)
        return MPI_SUCCESS;
    if (op->code == OP_CODE_REPLACE)
        return type_copy(in, count, type, inout, count, type);
    uintptr_t i = (uintptr_t)type - (uintptr_t)MPI_DATATYPE_NULL;
    if (i >= 256)
        return apply_unnamed(op, in, inout, count, type);
    op_kernel_fn kernel = op_kernel((enum op_code)op->code, traits[i].kind);
    if (!kernel)
        return MPI_ERR_OP;
    kernel(in, inout, (size_t)count);
    return MPI_SUCCESS;
}
