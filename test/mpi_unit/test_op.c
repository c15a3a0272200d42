/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Predefined operations: what they compute, on every type, and on which types they are allowed; and
 * those of the user.
 */
#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mpi.h>

#include "fake_errh.h"
#include "mpi/type/op.h"
#include "mpi/type/op_kernels.h"
#include "mpi/type/type.h"
#include "os/quad.h"

/* ---- numbers: every type of a group, by a C type that holds its values ---- */

enum { N = 37 };

#define TEST_TYPE(ctype, type, op, expr)                                                           \
    {                                                                                              \
        ctype x[N], y[N], a, b;                                                                    \
        for (int i = 0; i < N; i++)                                                                \
            x[i] = (ctype)(i % 5), y[i] = (ctype)((i * 7) % 6);                                    \
        assert_int_equal(PMPI_Reduce_local_c(x, y, N, type, op), MPI_SUCCESS);                     \
        for (int i = 0; i < N; i++)                                                                \
            a = (ctype)(i % 5), b = (ctype)((i * 7) % 6), assert_true(y[i] == (ctype)(expr));      \
    }

#define TEST_ARITHMETIC(ctype, type)                                                               \
    TEST_TYPE(ctype, type, MPI_SUM, a + b)                                                         \
    TEST_TYPE(ctype, type, MPI_PROD, a * b)
#define TEST_ORDER(ctype, type)                                                                    \
    TEST_TYPE(ctype, type, MPI_MIN, a < b ? a : b)                                                 \
    TEST_TYPE(ctype, type, MPI_MAX, a > b ? a : b)
#define TEST_BITS(ctype, type)                                                                     \
    TEST_TYPE(ctype, type, MPI_BAND, a & b)                                                        \
    TEST_TYPE(ctype, type, MPI_BOR, a | b)                                                         \
    TEST_TYPE(ctype, type, MPI_BXOR, a ^ b)
#define TEST_LOGICAL(ctype, type)                                                                  \
    TEST_TYPE(ctype, type, MPI_LAND, a && b)                                                       \
    TEST_TYPE(ctype, type, MPI_LOR, a || b)                                                        \
    TEST_TYPE(ctype, type, MPI_LXOR, !a != !b)
#define TEST_FORTRAN_INTEGER(ctype, type)                                                          \
    TEST_ARITHMETIC(ctype, type)                                                                   \
    TEST_ORDER(ctype, type)                                                                        \
    TEST_BITS(ctype, type)
#define TEST_C_INTEGER(ctype, type)                                                                \
    TEST_FORTRAN_INTEGER(ctype, type)                                                              \
    TEST_LOGICAL(ctype, type)
#define TEST_FLOAT(ctype, type)                                                                    \
    TEST_ARITHMETIC(ctype, type)                                                                   \
    TEST_ORDER(ctype, type)

static void test_c_integers(void **unused)
{
    TEST_C_INTEGER(signed char, MPI_SIGNED_CHAR)
    TEST_C_INTEGER(unsigned char, MPI_UNSIGNED_CHAR)
    TEST_C_INTEGER(short, MPI_SHORT)
    TEST_C_INTEGER(unsigned short, MPI_UNSIGNED_SHORT)
    TEST_C_INTEGER(int, MPI_INT)
    TEST_C_INTEGER(unsigned, MPI_UNSIGNED)
    TEST_C_INTEGER(long, MPI_LONG)
    TEST_C_INTEGER(unsigned long, MPI_UNSIGNED_LONG)
    TEST_C_INTEGER(long long, MPI_LONG_LONG)
    TEST_C_INTEGER(unsigned long long, MPI_UNSIGNED_LONG_LONG)
    TEST_C_INTEGER(int8_t, MPI_INT8_T)
    TEST_C_INTEGER(uint8_t, MPI_UINT8_T)
    TEST_C_INTEGER(int16_t, MPI_INT16_T)
    TEST_C_INTEGER(uint16_t, MPI_UINT16_T)
    TEST_C_INTEGER(int32_t, MPI_INT32_T)
    TEST_C_INTEGER(uint32_t, MPI_UINT32_T)
    TEST_C_INTEGER(int64_t, MPI_INT64_T)
    TEST_C_INTEGER(uint64_t, MPI_UINT64_T)
}

static void test_fortran_integers(void **unused)
{
    TEST_FORTRAN_INTEGER(int32_t, MPI_INTEGER)
    TEST_FORTRAN_INTEGER(int8_t, MPI_INTEGER1)
    TEST_FORTRAN_INTEGER(int16_t, MPI_INTEGER2)
    TEST_FORTRAN_INTEGER(int32_t, MPI_INTEGER4)
    TEST_FORTRAN_INTEGER(int64_t, MPI_INTEGER8)
    TEST_FORTRAN_INTEGER(__int128, MPI_INTEGER16)
}

static void test_floats(void **unused)
{
    TEST_FLOAT(float, MPI_FLOAT)
    TEST_FLOAT(double, MPI_DOUBLE)
    TEST_FLOAT(long double, MPI_LONG_DOUBLE)
    TEST_FLOAT(float, MPI_REAL)
    TEST_FLOAT(double, MPI_DOUBLE_PRECISION)
    TEST_FLOAT(float, MPI_REAL4)
    TEST_FLOAT(double, MPI_REAL8)
    TEST_FLOAT(os_quad, MPI_REAL16)
}

static void test_others(void **unused)
{
    TEST_FORTRAN_INTEGER(MPI_Aint, MPI_AINT)
    TEST_FORTRAN_INTEGER(MPI_Count, MPI_COUNT)
    TEST_FORTRAN_INTEGER(MPI_Offset, MPI_OFFSET)
    TEST_BITS(unsigned char, MPI_BYTE)
    TEST_LOGICAL(_Bool, MPI_C_BOOL)
    TEST_LOGICAL(_Bool, MPI_CXX_BOOL)
    TEST_LOGICAL(int32_t, MPI_LOGICAL)
    TEST_LOGICAL(int8_t, MPI_LOGICAL1)
    TEST_LOGICAL(int16_t, MPI_LOGICAL2)
    TEST_LOGICAL(int32_t, MPI_LOGICAL4)
    TEST_LOGICAL(int64_t, MPI_LOGICAL8)
    TEST_LOGICAL(__int128, MPI_LOGICAL16)
}

/* ---- complex numbers: (1 + 2i) and (3 - i) ---- */

#define TEST_COMPLEX(part, type)                                                                   \
    {                                                                                              \
        part x[2][2] = {{1, 2}, {1, 2}}, y[2][2] = {{3, -1}, {0, 1}};                              \
        assert_int_equal(PMPI_Reduce_local_c(x, y, 2, type, MPI_PROD), MPI_SUCCESS);               \
        assert_true(y[0][0] == 5 && y[0][1] == 5 && y[1][0] == -2 && y[1][1] == 1);                \
        assert_int_equal(PMPI_Reduce_local_c(x, y, 2, type, MPI_SUM), MPI_SUCCESS);                \
        assert_true(y[0][0] == 6 && y[0][1] == 7 && y[1][0] == -1 && y[1][1] == 3);                \
    }

static void test_complex(void **unused)
{
    TEST_COMPLEX(float, MPI_C_COMPLEX)
    TEST_COMPLEX(float, MPI_C_FLOAT_COMPLEX)
    TEST_COMPLEX(double, MPI_C_DOUBLE_COMPLEX)
    TEST_COMPLEX(long double, MPI_C_LONG_DOUBLE_COMPLEX)
    TEST_COMPLEX(float, MPI_CXX_FLOAT_COMPLEX)
    TEST_COMPLEX(double, MPI_CXX_DOUBLE_COMPLEX)
    TEST_COMPLEX(long double, MPI_CXX_LONG_DOUBLE_COMPLEX)
    TEST_COMPLEX(float, MPI_COMPLEX)
    TEST_COMPLEX(double, MPI_DOUBLE_COMPLEX)
    TEST_COMPLEX(float, MPI_COMPLEX8)
    TEST_COMPLEX(double, MPI_COMPLEX16)
    TEST_COMPLEX(os_quad, MPI_COMPLEX32)
}

/* ---- half precision ---- */

/* The value of a half, from its definition. */
static double half_value(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 0x3ff;
    double value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    if (exponent == 31)
        value = fraction ? NAN : INFINITY;
    return half & 0x8000 ? -value : value;
}

/* The half nearest to a value, of two equally near ones the even, found by looking at all. */
static uint16_t nearest_half(double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0, best = 0;
    double most = 65520; /* half a step above the largest */
    value = fabs(value);
    if (value >= most)
        return sign | 0x7c00;
    for (uint16_t half = 0; half < 0x7c00; half++) {
        double off = fabs(half_value(half) - value), best_off = fabs(half_value(best) - value);
        if (off < best_off || (off == best_off && half % 2 == 0))
            best = half;
    }
    return sign | best;
}

/* All pairs of halves in one call, so that what a kernel does with several at once counts, and what is
 * left behind those. */
static void reduce_halves(MPI_Op op, const uint16_t *a, const uint16_t *b, uint16_t *result, int count)
{
    memcpy(result, b, (size_t)count * sizeof(*b));
    assert_int_equal(PMPI_Reduce_local_c(a, result, count, MPI_REAL2, op), MPI_SUCCESS);
}

static void test_half(void **unused)
{
    enum { PAIRS = 700 };
    static uint16_t a[PAIRS], b[PAIRS], sum[PAIRS], product[PAIRS], max[PAIRS];
    unsigned seed = 1;
    for (int i = 0; i < PAIRS; i++) {
        seed = seed * 1103515245u + 12345;
        a[i] = (uint16_t)(seed >> 8);
        seed = seed * 1103515245u + 12345;
        b[i] = (uint16_t)(seed >> 8);
    }
    reduce_halves(MPI_SUM, a, b, sum, PAIRS);
    reduce_halves(MPI_PROD, a, b, product, PAIRS);
    reduce_halves(MPI_MAX, a, b, max, PAIRS);
    for (int i = 0; i < PAIRS; i++) {
        if ((a[i] & 0x7c00) == 0x7c00 || (b[i] & 0x7c00) == 0x7c00)
            continue;
        assert_int_equal(sum[i], nearest_half(half_value(a[i]) + half_value(b[i])));
        assert_int_equal(product[i], nearest_half(half_value(a[i]) * half_value(b[i])));
        assert_true(half_value(max[i]) == fmax(half_value(a[i]), half_value(b[i])));
    }
    uint16_t infinite = 0x7c00, one = 0x3c00, x[2] = {0x3c00, 0x4000}, y[2] = {0x4200, 0xbc00};
    PMPI_Reduce_local_c(&one, &infinite, 1, MPI_REAL2, MPI_SUM);
    assert_int_equal(infinite, 0x7c00);
    PMPI_Reduce_local_c(x, y, 1, MPI_COMPLEX4, MPI_PROD); /* (1 + 2i)(3 - i) = 5 + 5i */
    assert_true(half_value(y[0]) == 5 && half_value(y[1]) == 5);
}

/* ---- pairs ---- */

#define TEST_PAIR(value, index, type)                                                              \
    {                                                                                              \
        struct {                                                                                   \
            value v;                                                                               \
            index i;                                                                               \
        } x[3] = {{1, 7}, {2, 8}, {3, 4}}, y[3] = {{2, 3}, {2, 5}, {3, 9}}, z[3];                  \
        reduce_pairs(x, memcpy(z, y, sizeof(y)), y, type);                                         \
        for (int k = 0; k < 3; k++)                                                                \
            check_pair(k, (double)y[k].v, (double)y[k].i, (double)z[k].v, (double)z[k].i);         \
    }

static void reduce_pairs(const void *x, void *max, void *min, MPI_Datatype type)
{
    assert_int_equal(PMPI_Reduce_local_c(x, min, 3, type, MPI_MINLOC), MPI_SUCCESS);
    assert_int_equal(PMPI_Reduce_local_c(x, max, 3, type, MPI_MAXLOC), MPI_SUCCESS);
}

static void check_pair(int k, double min, double min_at, double max, double max_at)
{
    static const double expected[3][4] = {{1, 7, 2, 3}, {2, 5, 2, 5}, {3, 4, 3, 4}};
    assert_true(min == expected[k][0] && min_at == expected[k][1]);
    assert_true(max == expected[k][2] && max_at == expected[k][3]);
}

static void test_pairs(void **unused)
{
    TEST_PAIR(float, int, MPI_FLOAT_INT)
    TEST_PAIR(double, int, MPI_DOUBLE_INT)
    TEST_PAIR(long, int, MPI_LONG_INT)
    TEST_PAIR(int, int, MPI_2INT)
    TEST_PAIR(short, int, MPI_SHORT_INT)
    TEST_PAIR(long double, int, MPI_LONG_DOUBLE_INT)
    TEST_PAIR(float, float, MPI_2REAL)
    TEST_PAIR(double, double, MPI_2DOUBLE_PRECISION)
    TEST_PAIR(int, int, MPI_2INTEGER)
}

/* Pairs and kinds without names of their own. */
static void test_unnamed(void **unused)
{
    struct {
        unsigned char v;
        int64_t i;
    } x[4] = {{200, 5}, {3, 9}, {7, 1}, {4, 4}}, y[4] = {{100, 1}, {3, 8}, {7, 2}, {9, 9}}, z[4];
    double a[2] = {1.5, 2}, b[2] = {4, -1};
    MPI_Datatype pair, real, derived;

    memcpy(z, y, sizeof(y));
    assert_int_equal(PMPI_Type_get_value_index(MPI_UINT8_T, MPI_INT64_T, &pair), 0);
    assert_int_equal(PMPI_Reduce_local_c(x, y, 4, pair, MPI_MAXLOC), 0);
    assert_true(y[0].v == 200 && y[0].i == 5 && y[1].v == 3 && y[1].i == 8);
    assert_true(y[2].v == 7 && y[2].i == 1 && y[3].v == 9 && y[3].i == 9);
    assert_int_equal(PMPI_Reduce_local_c(x, z, 4, pair, MPI_MINLOC), 0);
    assert_true(z[0].v == 100 && z[0].i == 1 && z[3].v == 4 && z[3].i == 4);
    assert_int_equal(PMPI_Reduce_local_c(x, z, 4, pair, MPI_SUM), MPI_ERR_OP);
    assert_int_equal(PMPI_Type_create_f90_real(15, MPI_UNDEFINED, &real), 0);
    assert_int_equal(PMPI_Reduce_local_c(a, b, 2, real, MPI_SUM), 0);
    assert_true(b[0] == 5.5 && b[1] == 1);
    assert_int_equal(PMPI_Reduce_local_c(a, b, 2, real, MPI_BAND), MPI_ERR_OP);
    struct {
        float v;
        int64_t i;
    } f[2] = {{NAN, 1}, {2, 1}}, g[2] = {{1, 2}, {1, 2}};
    assert_int_equal(PMPI_Type_create_f90_real(6, MPI_UNDEFINED, &real), 0);
    assert_int_equal(PMPI_Type_get_value_index(real, MPI_INT64_T, &pair), 0);
    assert_int_equal(PMPI_Reduce_local_c(f, g, 2, pair, MPI_MAXLOC), 0);
    assert_true(g[0].v == 1 && g[0].i == 2 && g[1].v == 2 && g[1].i == 1);
    assert_int_equal(PMPI_Type_contiguous(2, MPI_INT, &derived), 0);
    assert_int_equal(PMPI_Type_commit(&derived), 0);
    assert_int_equal(PMPI_Reduce_local_c(a, b, 1, derived, MPI_SUM), MPI_ERR_OP);
    assert_int_equal(PMPI_Type_free(&derived), 0);
}

/* ---- limits ---- */

static void test_wrap(void **unused)
{
    int most = INT_MAX, one = 1;
    uint16_t large = 65535, larger = 65535;
    assert_int_equal(PMPI_Reduce_local_c(&one, &most, 1, MPI_INT, MPI_SUM), MPI_SUCCESS);
    assert_int_equal(most, INT_MIN);
    assert_int_equal(PMPI_Reduce_local_c(&large, &larger, 1, MPI_UINT16_T, MPI_PROD), MPI_SUCCESS);
    assert_int_equal(larger, 1);
    int8_t minus = -1, plus = 1;
    uint8_t all = 255, some = 1;
    PMPI_Reduce_local_c(&minus, &plus, 1, MPI_INT8_T, MPI_MAX);
    PMPI_Reduce_local_c(&all, &some, 1, MPI_UINT8_T, MPI_MAX);
    assert_int_equal(plus, 1);
    assert_int_equal(some, 255);
}

/* ---- what is allowed ---- */

static MPI_Datatype type_at(int place)
{
    return (MPI_Datatype)((uintptr_t)MPI_DATATYPE_NULL + (uintptr_t)place);
}

/* By MPI-5.0 6.9.2, and MPI_CHAR: how many of the predefined types each operation takes. */
static void test_allowed(void **unused)
{
    static const struct {
        MPI_Op op;
        int types;
        const char *claim;
    } cases[] = {
        {MPI_SUM, 19 + 6 + 9 + 3 + 12, "integers and MPI_CHAR, floats, complex, multi-language"},
        {MPI_PROD, 19 + 6 + 9 + 3 + 12, "likewise"},
        {MPI_MIN, 19 + 6 + 9 + 3, "all but complex"},
        {MPI_MAX, 19 + 6 + 9 + 3, "likewise"},
        {MPI_BAND, 19 + 6 + 3 + 1, "integers, multi-language, byte"},
        {MPI_BOR, 19 + 6 + 3 + 1, "likewise"},
        {MPI_BXOR, 19 + 6 + 3 + 1, "likewise"},
        {MPI_LAND, 19 + 8 + 3, "C integers, logical, multi-language"},
        {MPI_LOR, 19 + 8 + 3, "likewise"},
        {MPI_LXOR, 19 + 8 + 3, "likewise"},
        {MPI_MINLOC, 9, "pairs"},
        {MPI_MAXLOC, 9, "likewise"},
        {MPI_REPLACE, 0, "only for accumulating"},
        {MPI_NO_OP, 0, "likewise"},
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        const struct op *op = op_from(cases[k].op);
        int allowed = 0;
        assert_non_null(op);
        for (int i = 0; i < 256; i++) {
            char in[64] = {0}, inout[64] = {0};
            bool good = op_check(op, type_at(i)) == MPI_SUCCESS;
            allowed += good;
            /* what is allowed is there */
            assert_false(good && (!type_from(type_at(i)) ||
                                  op_apply(op, in, inout, 1, type_at(i)) != MPI_SUCCESS));
        }
        if (allowed != cases[k].types)
            fail_msg("%zu (%s): %d types", k, cases[k].claim, allowed);
    }
    assert_int_equal(op_check(op_from(MPI_SUM), MPI_CHAR), MPI_SUCCESS); /* as in other libraries */
    assert_int_equal(op_check(op_from(MPI_SUM), MPI_CHARACTER), MPI_ERR_OP);
    assert_int_equal(op_check(op_from(MPI_SUM), MPI_WCHAR), MPI_ERR_OP);
    assert_int_equal(op_check(op_from(MPI_LAND), MPI_DOUBLE), MPI_ERR_OP);
    assert_null(op_from(MPI_OP_NULL));
}

/* An operation touches its elements and no byte more. */
static void test_sizes(void **unused)
{
    for (int i = 0; i < 256; i++)
        for (int k = 0; k < 32; k++) {
            struct op *op = op_from((MPI_Op)((uintptr_t)MPI_OP_NULL + (uintptr_t)k));
            _Alignas(16) char in[128] = {0}, inout[128];
            if (!op || op_check(op, type_at(i)))
                continue;
            memset(inout, 0x55, sizeof(inout));
            size_t len = 2 * (size_t)type_from(type_at(i))->extent;
            memset(inout, 0, len);
            op_apply(op, in, inout, 2, type_at(i));
            for (size_t at = len; at < sizeof(inout); at++)
                assert_int_equal(inout[at], 0x55);
        }
}

/* Elements of 16 bytes may lie at any address. */
static void test_unaligned(void **unused)
{
    const MPI_Datatype types[] = {MPI_INTEGER16, MPI_REAL16, MPI_COMPLEX32, MPI_LONG_DOUBLE,
                                  MPI_C_LONG_DOUBLE_COMPLEX};
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        for (int code = 0; code < 32; code++) {
            struct op *op = op_from((MPI_Op)((uintptr_t)MPI_OP_NULL + (uintptr_t)code));
            _Alignas(16) char in[128] = {0}, inout[128] = {0}, odd_in[129] = {0}, odd_inout[129] = {0};
            if (!op || op_check(op, types[i]))
                continue;
            for (int at = 0; at < 128; at += 16) /* 1 and so on, whatever the format */
                in[at] = inout[at] = (char)(1 + at / 16);
            memcpy(odd_in + 1, in, 128);
            memcpy(odd_inout + 1, inout, 128);
            assert_int_equal(op_apply(op, in, inout, 2, types[i]), MPI_SUCCESS);
            assert_int_equal(op_apply(op, odd_in + 1, odd_inout + 1, 2, types[i]), MPI_SUCCESS);
            assert_memory_equal(inout, odd_inout + 1, 10); /* the rest of a long double is no number */
        }
}

static void test_accumulating(void **unused)
{
    int in = 3, inout = 4;
    assert_int_equal(op_apply(op_from(MPI_NO_OP), &in, &inout, 1, MPI_INT), MPI_SUCCESS);
    assert_int_equal(inout, 4);
    assert_int_equal(op_apply(op_from(MPI_REPLACE), &in, &inout, 1, MPI_INT), MPI_SUCCESS);
    assert_int_equal(inout, 3);
}

/* ---- the user's ---- */

static MPI_Count called, last_len;
static char *last_in;

static void count_calls(void *in, void *inout, int *len, MPI_Datatype *type)
{
    called++;
    last_len = *len;
    last_in = in;
    assert_true(*type == MPI_BYTE);
}

static void minus(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    for (MPI_Count i = 0; i < *len; i++)
        ((int *)inout)[i] = ((int *)in)[i] - ((int *)inout)[i];
}

static void test_user(void **unused)
{
    MPI_Op op, op_c;
    int commutes = -1, x[2] = {9, 8}, y[2] = {1, 2};
    assert_int_equal(PMPI_Op_create(count_calls, 1, &op), MPI_SUCCESS);
    assert_int_equal(PMPI_Op_create_c(minus, 0, &op_c), MPI_SUCCESS);
    assert_int_equal(PMPI_Op_commutative(op, &commutes), MPI_SUCCESS);
    assert_int_equal(commutes, 1);
    assert_int_equal(PMPI_Op_commutative(op_c, &commutes), MPI_SUCCESS);
    assert_int_equal(commutes, 0);
    assert_int_equal(PMPI_Op_commutative(MPI_SUM, &commutes), MPI_SUCCESS);
    assert_int_equal(commutes, 1);

    assert_int_equal(PMPI_Reduce_local_c(x, y, 2, MPI_INT, op_c), MPI_SUCCESS);
    assert_true(y[0] == 8 && y[1] == 6);

    /* more elements than an int holds: some at a time; the function looks at none */
    char *far = (char *)0x10000;
    MPI_Count many = 2 * (MPI_Count)INT_MAX + 5;
    called = 0;
    assert_int_equal(op_apply(op_from(op), far, far + 8, many, MPI_BYTE), MPI_SUCCESS);
    assert_true(called == 3 && last_len == 5 && last_in == far + 2 * (MPI_Count)INT_MAX);
    called = 0;
    assert_int_equal(op_apply(op_from(op), x, y, 0, MPI_BYTE), MPI_SUCCESS);
    assert_int_equal(called, 0);

    MPI_Op copy = op;
    assert_int_equal(PMPI_Op_free(&op), MPI_SUCCESS);
    assert_int_equal(PMPI_Op_free(&op_c), MPI_SUCCESS);
    assert_true(op == MPI_OP_NULL && copy != MPI_OP_NULL);
}

static void test_errors(void **unused)
{
    MPI_Op sum = MPI_SUM, null = MPI_OP_NULL, made;
    int x = 1, y = 2;
    assert_int_equal(PMPI_Op_free(&sum), MPI_ERR_OP);
    assert_non_null(strstr(fake_errh_text, "predefined"));
    assert_int_equal(PMPI_Op_free(&null), MPI_ERR_OP);
    assert_int_equal(PMPI_Op_create(NULL, 0, &made), MPI_ERR_ARG);
    assert_int_equal(PMPI_Reduce_local_c(&x, &y, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
    assert_int_equal(PMPI_Reduce_local_c(&x, &y, 1, MPI_DATATYPE_NULL, MPI_SUM), MPI_ERR_TYPE);
    assert_int_equal(PMPI_Reduce_local_c(&x, &y, 1, MPI_INT, MPI_OP_NULL), MPI_ERR_OP);
    assert_int_equal(PMPI_Reduce_local_c(&x, &y, 1, MPI_INT, MPI_MINLOC), MPI_ERR_OP);
    assert_int_equal(PMPI_Reduce_local_c(NULL, &y, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    assert_int_equal(PMPI_Reduce_local_c(&x, &x, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    assert_int_equal(PMPI_Reduce_local_c(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    assert_true(x == 1 && y == 2);
}

/* The kernels for this processor and those for any compute the same bits, however long vectors are
 * and wherever they begin. No byte has the bit that makes a float's exponent large. */
static void test_alike(void **unused)
{
    static unsigned char in[4096], mine[4096], any[4096];
    for (int turn = 0; turn < 50; turn++)
        for (int kind = 0; kind < OP_KIND_COUNT; kind++)
            for (int code = 0; code < OP_CODE_COUNT; code++) {
                op_kernel_fn best = op_kernel((enum op_code)code, (enum op_kind)kind);
                op_kernel_fn other = op_kernels_any[kind][code];
                size_t count = (size_t)rand() % 60, at = 32 * ((size_t)rand() % 4);
                for (size_t i = 0; i < sizeof(in); i++) {
                    in[i] = (unsigned char)(rand() >> 8 & 0xbf);
                    any[i] = mine[i] = (unsigned char)(rand() >> 8 & 0xbf);
                }
                assert_int_equal(!best, !other);
                if (!best)
                    continue;
                best(in + at, mine + at, count);
                other(in + at, any + at, count);
                assert_memory_equal(mine, any, sizeof(any));
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c_integers), cmocka_unit_test(test_fortran_integers),
        cmocka_unit_test(test_floats),     cmocka_unit_test(test_others),
        cmocka_unit_test(test_complex),    cmocka_unit_test(test_half),
        cmocka_unit_test(test_pairs),      cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_unnamed),
        cmocka_unit_test(test_allowed),    cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_unaligned),
        cmocka_unit_test(test_accumulating), cmocka_unit_test(test_user),
        cmocka_unit_test(test_errors),     cmocka_unit_test(test_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
