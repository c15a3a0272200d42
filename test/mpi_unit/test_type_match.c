/* SPDX-License-Identifier: BSD-3-Clause */

/* Predefined types by what they hold, and external32 by the bytes of the standard's table. */

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include <cmocka.h>
#include <mpi.h>

#include "mpi/type/type.h"
#include "os/quad.h"

/* ---- classes and sizes ---- */

static void a_class_and_a_size_name_a_type(void **unused)
{
    static const struct {
        int typeclass, size;
        MPI_Datatype type;
    } rows[] = {
        {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},  {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16},
        {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},  {MPI_TYPECLASS_REAL, 4, MPI_REAL4},
        {MPI_TYPECLASS_REAL, 8, MPI_REAL8},        {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},
        {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}};
    MPI_Datatype type;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(PMPI_Type_match_size(rows[i].typeclass, rows[i].size, &type), 0);
        assert_ptr_equal(type, rows[i].type);
    }
    assert_int_equal(PMPI_Type_match_size(MPI_TYPECLASS_INTEGER, 3, &type), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 64, &type), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_match_size(17, 4, &type), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_match_size(MPI_TYPECLASS_REAL, 4, NULL), MPI_ERR_ARG);
}

/* ---- Fortran's kinds ---- */

static void reals_are_as_precise_as_asked(void **unused)
{
    static const struct {
        int p, r, size;
    } rows[] = {{6, 37, 4},
                {0, 0, 4},
                {7, 0, 8},
                {6, 38, 8},
                {15, 307, 8},
                {16, 0, 16},
                {2, 308, 16},
                {33, 4931, 16},
                {6, MPI_UNDEFINED, 4},
                {MPI_UNDEFINED, 300, 8}};
    MPI_Datatype type, again, none;
    int size, ints, addresses, types, combiner, args[2];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(PMPI_Type_create_f90_real(rows[i].p, rows[i].r, &type), 0);
        assert_int_equal(PMPI_Type_create_f90_real(rows[i].p, rows[i].r, &again), 0);
        assert_ptr_equal(type, again);
        assert_int_equal(PMPI_Type_size(type, &size), 0);
        assert_int_equal(size, rows[i].size);
        assert_int_equal(PMPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner), 0);
        assert_true(ints == 2 && addresses == 0 && types == 0);
        assert_int_equal(combiner, MPI_COMBINER_F90_REAL);
        assert_int_equal(PMPI_Type_get_contents(type, 2, 0, 0, args, NULL, &none), 0);
        assert_true(args[0] == rows[i].p && args[1] == rows[i].r);
        assert_int_equal(PMPI_Type_free(&again), MPI_ERR_TYPE);
        assert_int_equal(PMPI_Type_create_f90_complex(rows[i].p, rows[i].r, &again), 0);
        assert_ptr_not_equal(type, again);
        assert_int_equal(PMPI_Type_size(again, &size), 0);
        assert_int_equal(size, 2 * rows[i].size);
        assert_int_equal(PMPI_Type_get_envelope(again, &ints, &addresses, &types, &combiner), 0);
        assert_int_equal(combiner, MPI_COMBINER_F90_COMPLEX);
    }
    assert_int_equal(PMPI_Type_create_f90_real(34, 0, &type), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_create_f90_real(6, 4932, &type), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_create_f90_real(-3, 4, &type), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_create_f90_complex(MPI_UNDEFINED, MPI_UNDEFINED, &type),
                     MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_create_f90_real(6, 37, NULL), MPI_ERR_ARG);
}

static void integers_have_the_range_asked_for(void **unused)
{
    static const int rows[][2] = {{0, 1}, {2, 1},  {3, 2},  {4, 2},
                                  {9, 4}, {10, 8}, {18, 8}, {38, 16}};
    MPI_Datatype type, none;
    int size, arg, ints, addresses, types, combiner;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(PMPI_Type_create_f90_integer(rows[i][0], &type), 0);
        assert_int_equal(PMPI_Type_size(type, &size), 0);
        assert_int_equal(size, rows[i][1]);
        assert_int_equal(PMPI_Type_get_envelope(type, &ints, &addresses, &types, &combiner), 0);
        assert_true(ints == 1 && combiner == MPI_COMBINER_F90_INTEGER);
        assert_int_equal(PMPI_Type_get_contents(type, 1, 0, 0, &arg, NULL, &none), 0);
        assert_int_equal(arg, rows[i][0]);
    }
    assert_int_equal(PMPI_Type_create_f90_integer(39, &type), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_create_f90_integer(MPI_UNDEFINED, &type), MPI_ERR_ARG);
}

/* They are as good as those with names: to communicate, and to make others of. */
static void kinds_can_be_used(void **unused)
{
    double from[4] = {1.5, -2, 3e300, 4}, to[4] = {0};
    MPI_Datatype real, pair;
    MPI_Count size;

    assert_int_equal(PMPI_Type_create_f90_real(12, MPI_UNDEFINED, &real), 0);
    assert_int_equal(type_copy(from, 4, real, to, 4, MPI_DOUBLE), 0);
    assert_memory_equal(from, to, sizeof(from));
    assert_int_equal(PMPI_Type_contiguous(2, real, &pair), 0);
    assert_int_equal(PMPI_Type_commit(&pair), 0);
    assert_int_equal(PMPI_Type_commit(&real), 0);
    memset(to, 0, sizeof(to));
    assert_int_equal(type_copy(from, 2, pair, to, 4, real), 0);
    assert_memory_equal(from, to, sizeof(from));
    assert_int_equal(PMPI_Pack_external_size_c("external32", 3, pair, &size), 0);
    assert_int_equal(size, 48);
    assert_int_equal(PMPI_Type_free(&pair), 0);
}

/* ---- pairs ---- */

static void a_value_and_an_index_make_a_pair(void **unused)
{
    static const struct {
        MPI_Datatype value, index, pair;
    } named[] = {{MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
                 {MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
                 {MPI_LONG, MPI_INT, MPI_LONG_INT},
                 {MPI_INT, MPI_INT, MPI_2INT},
                 {MPI_SHORT, MPI_INT, MPI_SHORT_INT},
                 {MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
                 {MPI_REAL, MPI_REAL, MPI_2REAL},
                 {MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
                 {MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER},
                 {MPI_COMPLEX, MPI_INT, MPI_DATATYPE_NULL},
                 {MPI_DOUBLE, MPI_FLOAT, MPI_DATATYPE_NULL},
                 {MPI_BYTE, MPI_INT, MPI_DATATYPE_NULL}};
    MPI_Datatype pair, again, parts[2];
    MPI_Count ints, addresses, larges, types, lb, extent, true_lb, true_extent;
    int combiner;

    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        assert_int_equal(PMPI_Type_get_value_index(named[i].value, named[i].index, &pair), 0);
        assert_ptr_equal(pair, named[i].pair);
    }
    assert_int_equal(PMPI_Type_get_value_index(MPI_DOUBLE, MPI_INT64_T, &pair), 0);
    assert_int_equal(PMPI_Type_get_value_index(MPI_DOUBLE, MPI_INT64_T, &again), 0);
    assert_ptr_equal(pair, again);
    assert_int_equal(PMPI_Type_get_envelope_c(pair, &ints, &addresses, &larges, &types, &combiner),
                     0);
    assert_true(ints == 0 && addresses == 0 && larges == 0 && types == 2);
    assert_int_equal(combiner, MPI_COMBINER_VALUE_INDEX);
    assert_int_equal(PMPI_Type_get_contents_c(pair, 0, 0, 0, 2, NULL, NULL, NULL, parts), 0);
    assert_true(parts[0] == MPI_DOUBLE && parts[1] == MPI_INT64_T);
    assert_int_equal(PMPI_Type_free(&again), MPI_ERR_TYPE);

    struct {
        char value;
        int64_t index;
        char end;
    } gap;
    assert_int_equal(PMPI_Type_get_value_index(MPI_SIGNED_CHAR, MPI_INT64_T, &pair), 0);
    assert_int_equal(PMPI_Type_get_extent_c(pair, &lb, &extent), 0);
    assert_true(lb == 0 && extent == 16);
    assert_int_equal(PMPI_Type_get_true_extent_c(pair, &true_lb, &true_extent), 0);
    assert_true(true_lb == 0 && true_extent == offsetof(__typeof__(gap), end));
    assert_int_equal(PMPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &pair), MPI_ERR_TYPE);
    assert_int_equal(PMPI_Type_get_value_index(MPI_INT, MPI_INT, NULL), MPI_ERR_ARG);
}

/* ---- external32 ---- */

static void check_bytes(MPI_Datatype type, const void *value, const char *expected, int len)
{
    char external[64], back[64] = {0};
    MPI_Aint size, at = 0;

    assert_int_equal(PMPI_Pack_external_size("external32", 1, type, &size), 0);
    assert_int_equal(size, len);
    assert_int_equal(PMPI_Pack_external("external32", value, 1, type, external, len, &at), 0);
    assert_int_equal(at, len);
    assert_memory_equal(external, expected, (size_t)len);
    at = 0;
    assert_int_equal(PMPI_Unpack_external("external32", external, len, &at, back, 1, type), 0);
    assert_int_equal(at, len);
    memset(external, 1, sizeof(external)); /* a value may have padding: compare it packed */
    at = 0;
    assert_int_equal(PMPI_Pack_external("external32", back, 1, type, external, len, &at), 0);
    assert_memory_equal(external, expected, (size_t)len);
}

#define BYTES(type, ctype, value, text)                       \
    do {                                                      \
        ctype own;                                            \
        memset(&own, 0, sizeof(own));                         \
        own = value;                                          \
        check_bytes(type, &own, text, (int)sizeof(text) - 1); \
    } while (0)

static void external32_is_big_endian_and_of_its_own_sizes(void **unused)
{
    BYTES(MPI_BYTE, char, 7, "\x07");
    BYTES(MPI_CHAR, char, 'A', "A");
    BYTES(MPI_SIGNED_CHAR, signed char, -2, "\xfe");
    BYTES(MPI_WCHAR, wchar_t, 0x20ac, "\x20\xac");
    BYTES(MPI_SHORT, short, -2, "\xff\xfe");
    BYTES(MPI_INT, int, 0x01020304, "\1\2\3\4");
    BYTES(MPI_LONG, long, -3, "\xff\xff\xff\xfd");
    BYTES(MPI_UNSIGNED_LONG, unsigned long, 0xfffffffd, "\xff\xff\xff\xfd");
    BYTES(MPI_LONG_LONG, long long, 0x0102030405060708, "\1\2\3\4\5\6\7\x08");
    BYTES(MPI_FLOAT, float, -1.5f, "\xbf\xc0\0\0");
    BYTES(MPI_DOUBLE, double, 1, "\x3f\xf0\0\0\0\0\0\0");
    BYTES(MPI_LONG_DOUBLE, long double, -2.5L, "\xc0\0\x40\0\0\0\0\0\0\0\0\0\0\0\0\0");
    BYTES(MPI_LONG_DOUBLE, long double, LDBL_MAX / LDBL_MAX,
          "\x3f\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    BYTES(MPI_REAL16, os_quad, 1, "\x3f\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    BYTES(MPI_C_BOOL, _Bool, 1, "\1");
    BYTES(MPI_AINT, MPI_Aint, -1, "\xff\xff\xff\xff\xff\xff\xff\xff");
    BYTES(MPI_COUNT, MPI_Count, 258, "\0\0\0\0\0\0\1\2");
    BYTES(MPI_OFFSET, MPI_Offset, 258, "\0\0\0\0\0\0\1\2");
    BYTES(MPI_C_DOUBLE_COMPLEX, double _Complex, 1 + 2.0i,
          "\x3f\xf0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0");
    BYTES(MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex, 1 + 2.0Li,
          "\x3f\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    BYTES(MPI_INTEGER16, __int128, (__int128)1 << 64 | 2, "\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2");
    BYTES(MPI_LOGICAL, int, 1, "\0\0\0\1");
    BYTES(MPI_INTEGER2, int16_t, 258, "\1\2");
    BYTES(MPI_REAL2, uint16_t, 0x3c00, "\x3c\0");
}

static void external32_refuses_what_is_wrong(void **unused)
{
    char external[16];
    int value = 1;
    MPI_Aint size, at = 0;

    assert_int_equal(PMPI_Pack_external_size("native", 1, MPI_INT, &size), MPI_ERR_ARG);
    assert_int_equal(PMPI_Pack_external_size(NULL, 1, MPI_INT, &size), MPI_ERR_ARG);
    assert_int_equal(PMPI_Pack_external_size("external32", -1, MPI_INT, &size), MPI_ERR_COUNT);
    assert_int_equal(PMPI_Pack_external_size("external32", 1, MPI_DATATYPE_NULL, &size),
                     MPI_ERR_TYPE);
    assert_int_equal(PMPI_Pack_external("external32", &value, 1, MPI_INT, external, 3, &at),
                     MPI_ERR_TRUNCATE);
    assert_int_equal(at, 0);
    at = 4;
    assert_int_equal(PMPI_Pack_external("external32", &value, 1, MPI_INT, external, 3, &at),
                     MPI_ERR_ARG);
    assert_int_equal(PMPI_Unpack_external("external32", external, 7, &at, &value, 1, MPI_INT),
                     MPI_ERR_TRUNCATE);
    at = 0;
    assert_int_equal(PMPI_Unpack_external("external32", NULL, 4, &at, &value, 1, MPI_INT),
                     MPI_ERR_BUFFER);
    assert_int_equal(PMPI_Pack_external("external32", NULL, 1, MPI_INT, external, 4, &at),
                     MPI_ERR_BUFFER);
    assert_int_equal(PMPI_Pack_external("external32", &value, 1, MPI_INT, external, 4, NULL),
                     MPI_ERR_ARG);
}

static int start(void **unused)
{
    return type_init();
}

static int stop(void **unused)
{
    type_fini();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_class_and_a_size_name_a_type),
        cmocka_unit_test(reals_are_as_precise_as_asked),
        cmocka_unit_test(integers_have_the_range_asked_for),
        cmocka_unit_test(kinds_can_be_used),
        cmocka_unit_test(a_value_and_an_index_make_a_pair),
        cmocka_unit_test(external32_is_big_endian_and_of_its_own_sizes),
        cmocka_unit_test(external32_refuses_what_is_wrong)};

    return cmocka_run_group_tests(tests, start, stop);
}
