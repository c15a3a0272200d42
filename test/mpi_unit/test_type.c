/* SPDX-License-Identifier: BSD-3-Clause */

/* Datatypes: claims that a table or a special case shows. test_type_random.c shows the rest. */

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include <cmocka.h>
#include <mpi.h>

#include "fake_errh.h"
#include "mpi/request/status.h"
#include "mpi/type/type.h"
#include "mpi/type/type_make.h"

/* ---- predefined types ---- */

#define ROW(name, size, extent) {#name, name, size, extent}

/* Aligned as the machine aligns a long double. */
struct long_double_int {
    long double value;
    int at;
};

static const struct {
    const char *name;
    MPI_Datatype type;
    int size, extent;
} predefined[] = {
    ROW(MPI_AINT, 8, 8), ROW(MPI_COUNT, 8, 8), ROW(MPI_OFFSET, 8, 8), ROW(MPI_PACKED, 1, 1),
    ROW(MPI_SHORT, 2, 2), ROW(MPI_INT, 4, 4), ROW(MPI_LONG, 8, 8), ROW(MPI_LONG_LONG_INT, 8, 8),
    ROW(MPI_UNSIGNED_SHORT, 2, 2), ROW(MPI_UNSIGNED, 4, 4), ROW(MPI_UNSIGNED_LONG, 8, 8),
    ROW(MPI_UNSIGNED_LONG_LONG, 8, 8), ROW(MPI_FLOAT, 4, 4), ROW(MPI_C_COMPLEX, 8, 8),
    ROW(MPI_CXX_FLOAT_COMPLEX, 8, 8), ROW(MPI_DOUBLE, 8, 8), ROW(MPI_C_DOUBLE_COMPLEX, 16, 16),
    ROW(MPI_CXX_DOUBLE_COMPLEX, 16, 16), ROW(MPI_LOGICAL, 4, 4), ROW(MPI_INTEGER, 4, 4),
    ROW(MPI_REAL, 4, 4), ROW(MPI_COMPLEX, 8, 8), ROW(MPI_DOUBLE_PRECISION, 8, 8),
    ROW(MPI_DOUBLE_COMPLEX, 16, 16), ROW(MPI_CHARACTER, 1, 1), ROW(MPI_LONG_DOUBLE, 16, 16),
    ROW(MPI_C_LONG_DOUBLE_COMPLEX, 32, 32), ROW(MPI_CXX_LONG_DOUBLE_COMPLEX, 32, 32),
    ROW(MPI_FLOAT_INT, 8, 8), ROW(MPI_DOUBLE_INT, 12, 16), ROW(MPI_LONG_INT, 12, 16),
    ROW(MPI_2INT, 8, 8), ROW(MPI_SHORT_INT, 6, 8),
    ROW(MPI_LONG_DOUBLE_INT, 20, sizeof(struct long_double_int)),
    ROW(MPI_2REAL, 8, 8), ROW(MPI_2DOUBLE_PRECISION, 16, 16), ROW(MPI_2INTEGER, 8, 8),
    ROW(MPI_C_BOOL, 1, 1), ROW(MPI_CXX_BOOL, 1, 1), ROW(MPI_WCHAR, 4, 4), ROW(MPI_INT8_T, 1, 1),
    ROW(MPI_UINT8_T, 1, 1), ROW(MPI_CHAR, 1, 1), ROW(MPI_SIGNED_CHAR, 1, 1),
    ROW(MPI_UNSIGNED_CHAR, 1, 1), ROW(MPI_BYTE, 1, 1), ROW(MPI_INT16_T, 2, 2),
    ROW(MPI_UINT16_T, 2, 2), ROW(MPI_INT32_T, 4, 4), ROW(MPI_UINT32_T, 4, 4),
    ROW(MPI_INT64_T, 8, 8), ROW(MPI_UINT64_T, 8, 8), ROW(MPI_LOGICAL1, 1, 1),
    ROW(MPI_INTEGER1, 1, 1), ROW(MPI_LOGICAL2, 2, 2), ROW(MPI_INTEGER2, 2, 2),
    ROW(MPI_REAL2, 2, 2), ROW(MPI_LOGICAL4, 4, 4), ROW(MPI_INTEGER4, 4, 4), ROW(MPI_REAL4, 4, 4),
    ROW(MPI_COMPLEX4, 4, 4), ROW(MPI_LOGICAL8, 8, 8), ROW(MPI_INTEGER8, 8, 8),
    ROW(MPI_REAL8, 8, 8), ROW(MPI_COMPLEX8, 8, 8), ROW(MPI_LOGICAL16, 16, 16),
    ROW(MPI_INTEGER16, 16, 16), ROW(MPI_REAL16, 16, 16), ROW(MPI_COMPLEX16, 16, 16),
    ROW(MPI_COMPLEX32, 32, 32)};

enum { PREDEFINED = sizeof(predefined) / sizeof(predefined[0]) };

static void predefined_types_have_their_sizes_and_names(void **unused)
{
    for (int i = 0; i < PREDEFINED; i++) {
        char name[MPI_MAX_OBJECT_NAME];
        int size, len, integers, addresses, types, combiner;
        MPI_Aint lb, extent;

        assert_int_equal(PMPI_Type_size(predefined[i].type, &size), 0);
        assert_int_equal(size, predefined[i].size);
        assert_int_equal(PMPI_Type_get_extent(predefined[i].type, &lb, &extent), 0);
        assert_int_equal(lb, 0);
        assert_int_equal(extent, predefined[i].extent);
        assert_int_equal(PMPI_Type_get_name(predefined[i].type, name, &len), 0);
        assert_string_equal(name, predefined[i].name);
        assert_int_equal(len, strlen(name));
        assert_int_equal(PMPI_Type_get_envelope(predefined[i].type, &integers, &addresses, &types,
                                                &combiner), 0);
        assert_int_equal(combiner, MPI_COMBINER_NAMED);
        assert_ptr_equal(type_from(predefined[i].type)->handle, predefined[i].type);
    }
}

static void no_other_constant_is_a_type(void **unused)
{
    for (uintptr_t handle = 0; handle < HANDLE_CONSTANT_MAX; handle++) {
        bool is_type = false;
        for (int i = 0; i < PREDEFINED; i++)
            is_type |= (uintptr_t)predefined[i].type == handle;
        assert_int_equal(type_from((MPI_Datatype)handle) != NULL, is_type);
    }
    for (int i = 0; i < PREDEFINED; i++) {
        uintptr_t place = (uintptr_t)predefined[i].type - (uintptr_t)MPI_DATATYPE_NULL;
        bool dense = predefined[i].size == predefined[i].extent;
        assert_int_equal(type_constant_size[place], dense ? predefined[i].size : 0);
    }
}

static void bad_handles_are_an_error_class(void **unused)
{
    uint64_t garbage[4] = {0};
    MPI_Datatype made, bad[] = {MPI_DATATYPE_NULL, NULL, (MPI_Datatype)MPI_COMM_WORLD,
                                (MPI_Datatype)garbage, (MPI_Datatype)((char *)garbage + 1)};
    int size;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(PMPI_Type_size(bad[i], &size), MPI_ERR_TYPE);
        assert_int_equal(PMPI_Type_contiguous(1, bad[i], &made), MPI_ERR_TYPE);
        assert_int_equal(PMPI_Type_commit(&bad[i]), MPI_ERR_TYPE);
    }
    made = MPI_INT;
    assert_int_equal(PMPI_Type_free(&made), MPI_ERR_TYPE);
    assert_non_null(strstr(fake_errh_text, "MPI_INT is predefined"));
}

/* ---- bounds ---- */

static void check(MPI_Datatype type, MPI_Count size, MPI_Count lb, MPI_Count extent,
                  MPI_Count true_lb, MPI_Count true_extent)
{
    const struct type *t = type_from(type);

    assert_non_null(t);
    assert_int_equal(t->size, size);
    assert_int_equal(t->lb, lb);
    assert_int_equal(t->extent, extent);
    assert_int_equal(t->true_lb, true_lb);
    assert_int_equal(t->true_extent, true_extent);
    assert_int_equal(PMPI_Type_free(&type), 0);
    assert_ptr_equal(type, MPI_DATATYPE_NULL);
}

static MPI_Datatype double_and_char(void)
{
    MPI_Datatype made, types[2] = {MPI_DOUBLE, MPI_CHAR};
    int lengths[2] = {1, 1};
    MPI_Aint at[2] = {0, 8};

    assert_int_equal(PMPI_Type_create_struct(2, lengths, at, types, &made), 0);
    return made;
}

static void extents_are_rounded_up_to_alignment(void **unused)
{
    MPI_Datatype pair = double_and_char(), made;

    assert_int_equal(PMPI_Type_contiguous(3, pair, &made), 0);
    check(made, 27, 0, 48, 0, 41);
    assert_int_equal(PMPI_Type_vector(2, 3, 4, pair, &made), 0);
    check(made, 54, 0, 112, 0, 105);
    assert_int_equal(PMPI_Type_indexed(2, (int[]){3, 1}, (int[]){4, 0}, pair, &made), 0);
    check(made, 36, 0, 112, 0, 105);
    assert_int_equal(PMPI_Type_vector(3, 1, -2, MPI_INT, &made), 0);
    check(made, 12, -16, 20, -16, 20);
    check(pair, 9, 0, 16, 0, 9);
}

static void marks_of_resized_types_stay(void **unused)
{
    MPI_Datatype sized, made, types[2];

    assert_int_equal(PMPI_Type_create_resized(MPI_INT, -3, 9, &sized), 0);
    types[0] = sized;
    types[1] = MPI_DOUBLE;
    /* the example of MPI-5.0 5.1.7: marks, not data, make the bounds */
    assert_int_equal(PMPI_Type_contiguous(2, sized, &made), 0);
    check(made, 8, -3, 18, 0, 13);
    assert_int_equal(PMPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, -100}, types, &made),
                     0);
    check(made, 12, -3, 9, -100, 104);
    /* a block of no elements has no marks either */
    assert_int_equal(PMPI_Type_create_struct(2, (int[]){0, 1}, (MPI_Aint[]){0, 16}, types, &made),
                     0);
    check(made, 8, 16, 8, 16, 8);
    check(sized, 4, -3, 9, 0, 4);
}

static void empty_types_have_no_extent(void **unused)
{
    MPI_Datatype made, twice;

    assert_int_equal(PMPI_Type_contiguous(0, MPI_INT, &made), 0);
    assert_int_equal(PMPI_Type_vector(3, 2, 100, made, &twice), 0);
    check(twice, 0, 0, 0, 0, 0);
    check(made, 0, 0, 0, 0, 0);
    assert_int_equal(PMPI_Type_create_struct(0, NULL, NULL, NULL, &made), 0);
    check(made, 0, 0, 0, 0, 0);
}

static void what_does_not_fit_is_refused(void **unused)
{
    const MPI_Count huge = (MPI_Count)1 << 62;
    MPI_Datatype made = MPI_DATATYPE_NULL;

    assert_int_equal(PMPI_Type_contiguous_c(huge, MPI_INT, &made), MPI_ERR_COUNT);
    assert_int_equal(PMPI_Type_vector_c(huge, huge, 1, MPI_BYTE, &made), MPI_ERR_COUNT);
    assert_int_equal(PMPI_Type_vector_c(3, 1, huge, MPI_INT, &made), MPI_ERR_COUNT);
    assert_int_equal(PMPI_Type_create_hindexed_block_c(2, 1, (MPI_Count[]){-huge, huge}, MPI_INT,
                                                       &made), MPI_ERR_COUNT);
    assert_int_equal(PMPI_Type_create_resized_c(MPI_INT, huge, huge, &made), MPI_ERR_COUNT);
    assert_int_equal(PMPI_Type_create_subarray_c(2, (MPI_Count[]){huge, huge}, (MPI_Count[]){1, 1},
                                                 (MPI_Count[]){0, 0}, MPI_ORDER_C, MPI_INT, &made),
                     MPI_ERR_COUNT);
    assert_int_equal(PMPI_Type_contiguous(-1, MPI_INT, &made), MPI_ERR_COUNT);
    assert_int_equal(PMPI_Type_vector(1, -1, 1, MPI_INT, &made), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_indexed(1, (int[]){-1}, (int[]){0}, MPI_INT, &made), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_indexed(1, NULL, (int[]){0}, MPI_INT, &made), MPI_ERR_ARG);
    assert_ptr_equal(made, MPI_DATATYPE_NULL);
}

static void a_deep_type_can_be_committed(void **unused)
{
    MPI_Datatype type = MPI_INT, next;

    for (int i = 0; i < TYPE_DEPTH_MAX; i++) {
        assert_int_equal(PMPI_Type_create_resized(type, 0, 8 + i, &next), 0);
        if (i)
            assert_int_equal(PMPI_Type_free(&type), 0);
        type = next;
    }
    assert_int_equal(PMPI_Type_contiguous(1, type, &next), MPI_ERR_COUNT);
    assert_int_equal(PMPI_Type_commit(&type), 0);
    assert_int_equal(PMPI_Type_free(&type), 0);
}

/* ---- places ---- */

/* Lists of a million blocks, of every kind: their commit is no more than a few passes over them. */
static void a_million_blocks_are_soon_committed(void **unused)
{
    enum { MANY = 1000000, LIMIT = 4 /* s; a few hundredths unless sanitizers look on */ };
    int *lengths = malloc(MANY * sizeof(*lengths)), *places = malloc(MANY * sizeof(*places));
    char *memory = calloc(MANY, 64), *packed = malloc(MANY * 16);
    MPI_Datatype type, gaps;

    assert_true(lengths && places && memory && packed);
    assert_int_equal(PMPI_Type_vector(2, 1, 3, MPI_BYTE, &gaps), 0);
    for (int i = 0; i < MANY; i++) {
        lengths[i] = 1 + i * 7 % 3;
        places[i] = 9 * i;
    }
    for (int way = 0; way < 3; way++) {
        clock_t start = clock();
        MPI_Datatype old = way == 2 ? gaps : MPI_INT;
        struct mpid_bytes place;
        struct type *used;
        if (way == 1)
            assert_int_equal(PMPI_Type_create_indexed_block(MANY, 3, places, old, &type), 0);
        else
            assert_int_equal(PMPI_Type_indexed(MANY, lengths, places, old, &type), 0);
        assert_int_equal(PMPI_Type_commit(&type), 0);
        assert_true(clock() - start < LIMIT * CLOCKS_PER_SEC);
        assert_int_equal(type_place(type, memory, 1, &place, &used), 0);
        size_t at = place.len - 2, last = 9 * (MANY - 1);
        char *end = way == 2 ? memory + last * 4 : memory + (last + 1) * 4 - 2;
        if (way == 1)
            end += 8;
        end[0] = 1, end[way == 2 ? 3 : 1] = 2;
        type_pack(&place, at, packed, 2);
        assert_true(packed[0] == 1 && packed[1] == 2);
        assert_int_equal(PMPI_Type_free(&type), 0);
    }
    assert_int_equal(PMPI_Type_free(&gaps), 0);
    free(lengths);
    free(places);
    free(memory);
    free(packed);
}

/* Rows of blocks rows apart, packed and unpacked in two pieces: each byte at its place, and nothing
 * between. from and to: room for all and a bit. */
static void check_rows(int block, int stride, int count, char *from, char *to)
{
    enum { EDGE = 64, GAP = 0x55 };
    int rows = 3, row = count * abs(stride) + 8, size = rows * row + 2 * EDGE;
    int first = EDGE + (stride < 0 ? (count - 1) * -stride : 0);
    size_t len = (size_t)(rows * count * block), half = len / 3 + 1;
    char *packed = malloc(len + 1);
    MPI_Datatype type, one;
    struct mpid_bytes place;
    struct type *used;

    assert_non_null(packed);
    assert_int_equal(PMPI_Type_create_hvector(count, block, stride, MPI_BYTE, &one), 0);
    assert_int_equal(PMPI_Type_create_hvector(rows, 1, row, one, &type), 0);
    assert_int_equal(PMPI_Type_commit(&type), 0);
    assert_int_equal(type_place(type, from + first, 1, &place, &used), 0);
    assert_int_equal(place.len, len);
    packed[len] = GAP;
    type_pack(&place, 0, packed, half);
    type_pack(&place, half, packed + half, len - half);
    assert_int_equal(packed[len], GAP);
    memset(to, GAP, (size_t)size);
    assert_int_equal(type_place(type, to + first, 1, &place, &used), 0);
    type_unpack(&place, 0, packed, half);
    type_unpack(&place, half, packed + half, len - half);
    const char *next = packed;
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < count; k++, next += block) {
            int at = first + i * row + k * stride;
            assert_memory_equal(next, from + at, (size_t)block);
            assert_memory_equal(to + at, from + at, (size_t)block);
            memset(to + at, GAP, (size_t)block);
        }
    }
    for (int i = 0; i < size; i++)
        if (to[i] != GAP)
            fail_msg("byte %d is written to", i);
    assert_int_equal(PMPI_Type_free(&type), 0);
    assert_int_equal(PMPI_Type_free(&one), 0);
    free(packed);
}

/* Blocks of any length, more of them than the nearest cache holds and fewer. */
static void rows_of_any_length_are_copied_whole(void **unused)
{
    static const int blocks[] = {1,  2,  3,  4,   8,   12,  16,   24,   32,   40,   48,
                                 56, 64, 65, 100, 511, 512, 1000, 1024, 2048, 3000, 9000};
    const size_t size = 4 << 20;
    char *from = malloc(size), *to = malloc(size);

    assert_true(from && to);
    for (size_t i = 0; i < size; i++)
        from[i] = (char)(i * 31 ^ i >> 9);
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        int block = blocks[i], many = block > 64 ? 90000 / block : 401;
        check_rows(block, 2 * block + 1, many, from, to);
        check_rows(block, -2 * block, many, from, to);
        check_rows(block, block + 160, many, from, to);
        check_rows(block, block + 7, 5, from, to);
    }
    free(from);
    free(to);
}

/* Short blocks a line or a page apart, of more lines than caches hold. */
static void scattered_blocks_are_copied_whole(void **unused)
{
    static const int rows[][3] = {/* block, stride, count */
                                  {1, 512, 4200},    {2, -512, 4200},  {3, 576, 4200},
                                  {4, 520, 4200},    {7, 1024, 4200},  {8, 512, 4200},
                                  {8, -1032, 4200},  {8, 4096, 4200},  {8, -4104, 4200},
                                  {16, 640, 4200},   {20, 768, 4200},  {32, 4096, 4200},
                                  {33, 512, 4200},   {8, 72, 33000}};
    const size_t size = 64 << 20;
    char *from = malloc(size), *to = malloc(size);

    assert_true(from && to);
    for (size_t i = 0; i < size; i++)
        from[i] = (char)(i * 31 ^ i >> 9);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_rows(rows[i][0], rows[i][1], rows[i][2], from, to);
    free(from);
    free(to);
}

static void a_type_in_use_outlives_its_handle(void **unused)
{
    int from[8] = {0, 1, 2, 3, 4, 5, 6, 7}, to[4];
    MPI_Datatype made;
    struct mpid_bytes place;
    struct type *used;

    assert_int_equal(PMPI_Type_vector(4, 1, 2, MPI_INT, &made), 0);
    assert_int_equal(type_place(made, from, 1, &place, &used), MPI_ERR_TYPE); /* not committed */
    assert_int_equal(PMPI_Type_commit(&made), 0);
    assert_int_equal(type_place(made, from, 1, &place, &used), 0);
    assert_non_null(used);
    type_ref(used);
    assert_int_equal(PMPI_Type_free(&made), 0);
    type_pack(&place, 0, to, place.len);
    assert_memory_equal(to, ((int[]){0, 2, 4, 6}), sizeof(to));
    type_unref(used);
}

static void addresses_may_be_absolute(void **unused)
{
    int a = 11, b = 22, to[2];
    MPI_Aint at[2];
    MPI_Datatype made, dense;
    struct mpid_bytes place;
    struct type *used;

    assert_int_equal(PMPI_Get_address(&a, &at[0]), 0);
    assert_int_equal(PMPI_Get_address(&b, &at[1]), 0);
    assert_int_equal(PMPI_Type_create_hindexed(2, (int[]){1, 1}, at, MPI_INT, &made), 0);
    assert_int_equal(PMPI_Type_commit(&made), 0);
    assert_int_equal(type_place(made, MPI_BOTTOM, 1, &place, &used), 0);
    type_pack(&place, 0, to, place.len);
    assert_memory_equal(to, ((int[]){11, 22}), sizeof(to));
    assert_int_equal(PMPI_Type_free(&made), 0);
    assert_int_equal(PMPI_Type_create_hindexed(1, (int[]){1}, at, MPI_INT, &dense), 0);
    assert_int_equal(PMPI_Type_commit(&dense), 0);
    assert_int_equal(type_place(dense, MPI_BOTTOM, 1, &place, &used), 0);
    assert_ptr_equal(place.base, &a);
    assert_null(place.layout);
    assert_null(used);
    assert_int_equal(PMPI_Type_free(&dense), 0);
}

static void bad_places_are_refused(void **unused)
{
    MPI_Datatype made;
    struct mpid_bytes place;
    struct type *used;
    int buf[4];

    assert_int_equal(type_place(MPI_INT, NULL, 1, &place, &used), MPI_ERR_BUFFER);
    assert_int_equal(type_place(MPI_INT, NULL, 0, &place, &used), 0);
    assert_int_equal(type_place(MPI_INT, buf, -1, &place, &used), MPI_ERR_COUNT);
    assert_int_equal(type_place(MPI_DATATYPE_NULL, buf, 1, &place, &used), MPI_ERR_TYPE);
    assert_int_equal(type_place(MPI_INT, buf, (MPI_Count)1 << 62, &place, &used), MPI_ERR_COUNT);
    assert_int_equal(type_place(MPI_INT, buf, (MPI_Count)1 << 60, &place, &used), MPI_ERR_COUNT);
    assert_int_equal(type_place(MPI_INT, buf, (MPI_Count)1 << 54, &place, &used), 0);
    assert_true(place.len == (size_t)1 << 56);
    assert_int_equal(PMPI_Type_vector(2, 1, 2, MPI_INT, &made), 0);
    assert_int_equal(PMPI_Type_commit(&made), 0);
    assert_int_equal(type_place(made, NULL, 1, &place, &used), MPI_ERR_BUFFER);
    assert_int_equal(PMPI_Type_free(&made), 0);
}

static void what_has_no_gaps_is_contiguous(void **unused)
{
    MPI_Datatype rows, made;
    struct mpid_bytes place;
    struct type *used;
    int buf[16];

    /* a whole array, described the long way */
    assert_int_equal(PMPI_Type_vector(4, 2, 2, MPI_INT, &rows), 0);
    assert_int_equal(PMPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){0, 32}, rows, &made),
                     0);
    assert_int_equal(PMPI_Type_commit(&made), 0);
    assert_true(type_from(made)->dense);
    assert_int_equal(type_place(made, buf, 1, &place, &used), 0);
    assert_ptr_equal(place.base, buf);
    assert_null(place.layout);
    assert_int_equal(PMPI_Type_free(&made), 0);
    assert_int_equal(PMPI_Type_free(&rows), 0);
    /* one block of a resized type, but not two */
    assert_int_equal(PMPI_Type_create_resized(MPI_INT, 0, 8, &made), 0);
    assert_int_equal(PMPI_Type_commit(&made), 0);
    assert_int_equal(type_place(made, buf, 1, &place, &used), 0);
    assert_null(place.layout);
    assert_int_equal(type_place(made, buf, 2, &place, &used), 0);
    assert_non_null(place.layout);
    assert_int_equal(PMPI_Type_free(&made), 0);
}

static void counts_beyond_31_bits_are_exact(void **unused)
{
    const MPI_Count many = (MPI_Count)1 << 45;
    int value;
    unsigned char byte[9];
    MPI_Datatype made, twice;
    struct mpid_bytes place;
    struct type *used;
    MPI_Status status;
    MPI_Count n;
    int small;

    /* the same int again and again: as many bytes as one likes in four */
    memcpy(&value, "\1\2\3\4", sizeof(value));
    assert_int_equal(PMPI_Type_create_hvector_c(many, 1, 0, MPI_INT, &made), 0);
    assert_int_equal(PMPI_Type_create_resized_c(made, 0, 0, &twice), 0);
    assert_int_equal(PMPI_Type_commit(&twice), 0);
    assert_int_equal(type_place(twice, &value, 3, &place, &used), 0);
    assert_true(place.len == (size_t)many * 12);
    type_pack(&place, (size_t)many * 4 * 2 - 3, byte, sizeof(byte));
    assert_memory_equal(byte, "\2\3\4\1\2\3\4\1\2", sizeof(byte));
    assert_int_equal(PMPI_Type_size(twice, &small), 0);
    assert_int_equal(small, MPI_UNDEFINED);
    status_set(&status, 0, 0, many * 12, false);
    assert_int_equal(PMPI_Get_count_c(&status, twice, &n), 0);
    assert_int_equal(n, 3);
    assert_int_equal(PMPI_Get_elements_c(&status, twice, &n), 0);
    assert_true(n == many * 3);
    assert_int_equal(PMPI_Get_elements(&status, twice, &small), 0);
    assert_int_equal(small, MPI_UNDEFINED);
    assert_int_equal(PMPI_Type_free(&made), 0);
    assert_int_equal(PMPI_Type_free(&twice), 0);
}

/* ---- pack, status, names, contents ---- */

static void pack_moves_its_position_and_knows_its_end(void **unused)
{
    MPI_Datatype made;
    int from[8] = {0, 1, 2, 3, 4, 5, 6, 7}, to[8] = {0}, position = 4, size;
    char packed[24];

    assert_int_equal(PMPI_Type_vector(4, 1, 2, MPI_INT, &made), 0);
    assert_int_equal(PMPI_Pack_size(2, made, MPI_COMM_WORLD, &size), 0);
    assert_int_equal(size, 32);
    assert_int_equal(PMPI_Pack(from, 1, made, packed, sizeof(packed), &position, MPI_COMM_WORLD),
                     MPI_ERR_TYPE);
    assert_int_equal(PMPI_Type_commit(&made), 0);
    assert_int_equal(PMPI_Pack(from, 1, made, packed, sizeof(packed), &position, MPI_COMM_WORLD),
                     0);
    assert_int_equal(position, 20);
    assert_int_equal(PMPI_Pack(from, 2, MPI_INT, packed, sizeof(packed), &position,
                               MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    assert_int_equal(position, 20);
    assert_int_equal(PMPI_Pack(from, 1, MPI_INT, packed, sizeof(packed), &position,
                               MPI_COMM_NULL), MPI_ERR_COMM);
    position = 4;
    assert_int_equal(PMPI_Unpack(packed, sizeof(packed), &position, to, 1, made, MPI_COMM_WORLD),
                     0);
    assert_int_equal(position, 20);
    assert_memory_equal(to, ((int[]){0, 0, 2, 0, 4, 0, 6, 0}), sizeof(to));
    assert_int_equal(PMPI_Unpack(packed, sizeof(packed), &position, to, 2, MPI_INT,
                                 MPI_COMM_WORLD), MPI_ERR_TRUNCATE);
    assert_int_equal(PMPI_Type_free(&made), 0);
}

static void counting_knows_partial_elements(void **unused)
{
    MPI_Datatype pair = double_and_char();
    static const struct {
        int bytes, count, elements;
    } rows[] = {{0, 0, 0}, {8, MPI_UNDEFINED, 1}, {9, 1, 2}, {17, MPI_UNDEFINED, 3}, {18, 2, 4},
                {7, MPI_UNDEFINED, MPI_UNDEFINED}};
    MPI_Status status;
    int n;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        status_set(&status, 1, 2, rows[i].bytes, false);
        assert_int_equal(PMPI_Get_count(&status, pair, &n), 0);
        assert_int_equal(n, rows[i].count);
        assert_int_equal(PMPI_Get_elements(&status, pair, &n), 0);
        assert_int_equal(n, rows[i].elements);
    }
    assert_int_equal(PMPI_Get_count(MPI_STATUS_IGNORE, pair, &n), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_free(&pair), 0);
}

static void names_are_cut_not_overflown(void **unused)
{
    char text[2 * MPI_MAX_OBJECT_NAME], name[MPI_MAX_OBJECT_NAME];
    MPI_Datatype made;
    int len;

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(PMPI_Type_dup(MPI_INT, &made), 0);
    assert_int_equal(PMPI_Type_get_name(made, name, &len), 0);
    assert_int_equal(len, 0);
    assert_int_equal(PMPI_Type_set_name(made, text), 0);
    assert_int_equal(PMPI_Type_get_name(made, name, &len), 0);
    assert_int_equal(len, MPI_MAX_OBJECT_NAME - 1);
    assert_int_equal(strlen(name), len);
    assert_int_equal(PMPI_Type_get_name(MPI_DATATYPE_NULL, name, &len), 0);
    assert_string_equal(name, "MPI_DATATYPE_NULL");
    assert_int_equal(PMPI_Type_free(&made), 0);
}

static void contents_tell_small_from_large(void **unused)
{
    MPI_Count integers, addresses, larges, types, l[3];
    int i[3], n, a, t, combiner;
    MPI_Aint stride;
    MPI_Datatype made, old;

    assert_int_equal(PMPI_Type_create_hvector(2, 3, 100, MPI_INT, &made), 0);
    assert_int_equal(PMPI_Type_get_envelope(made, &n, &a, &t, &combiner), 0);
    assert_int_equal(combiner, MPI_COMBINER_HVECTOR);
    assert_true(n == 2 && a == 1 && t == 1);
    assert_int_equal(PMPI_Type_get_contents(made, 1, 1, 1, i, &stride, &old), MPI_ERR_ARG);
    assert_int_equal(PMPI_Type_get_contents(made, 2, 1, 1, i, &stride, &old), 0);
    assert_true(i[0] == 2 && i[1] == 3 && stride == 100 && old == MPI_INT);
    assert_int_equal(PMPI_Type_free(&made), 0);

    assert_int_equal(PMPI_Type_create_hvector_c(2, 3, 100, MPI_INT, &made), 0);
    assert_int_equal(PMPI_Type_get_envelope(made, &n, &a, &t, &combiner), MPI_ERR_TYPE);
    assert_int_equal(PMPI_Type_get_envelope_c(made, &integers, &addresses, &larges, &types,
                                              &combiner), 0);
    assert_true(integers == 0 && addresses == 0 && larges == 3 && types == 1);
    assert_int_equal(PMPI_Type_get_contents_c(made, 0, 0, 3, 1, NULL, NULL, l, &old), 0);
    assert_true(l[0] == 2 && l[1] == 3 && l[2] == 100);
    assert_int_equal(PMPI_Type_free(&made), 0);
    assert_int_equal(PMPI_Type_get_contents(MPI_INT, 0, 0, 0, NULL, NULL, NULL), MPI_ERR_TYPE);
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
        cmocka_unit_test(predefined_types_have_their_sizes_and_names),
        cmocka_unit_test(no_other_constant_is_a_type),
        cmocka_unit_test(bad_handles_are_an_error_class),
        cmocka_unit_test(extents_are_rounded_up_to_alignment),
        cmocka_unit_test(marks_of_resized_types_stay),
        cmocka_unit_test(empty_types_have_no_extent),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(a_deep_type_can_be_committed),
        cmocka_unit_test(a_million_blocks_are_soon_committed),
        cmocka_unit_test(rows_of_any_length_are_copied_whole),
        cmocka_unit_test(scattered_blocks_are_copied_whole),
        cmocka_unit_test(a_type_in_use_outlives_its_handle),
        cmocka_unit_test(addresses_may_be_absolute),
        cmocka_unit_test(bad_places_are_refused),
        cmocka_unit_test(what_has_no_gaps_is_contiguous),
        cmocka_unit_test(counts_beyond_31_bits_are_exact),
        cmocka_unit_test(pack_moves_its_position_and_knows_its_end),
        cmocka_unit_test(counting_knows_partial_elements),
        cmocka_unit_test(names_are_cut_not_overflown),
        cmocka_unit_test(contents_tell_small_from_large)};

    return cmocka_run_group_tests(tests, start, stop);
}
