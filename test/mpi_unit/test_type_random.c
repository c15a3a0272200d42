/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Random datatypes against the naive ones of type_model.h: bounds, packing and unpacking in random
 * pieces, counting elements, and making them again from their contents.
 *
 * usage: test_type_random [SEED [ROUNDS]]; a failure prints the seed of its round.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mpi.h>

#include "mpi/request/status.h"
#include "mpi/type/type.h"
#include "mpi/type/type_tree.h"
#include "os/turn.h"
#include "type_model.h"

static uint64_t state;
static uint64_t first_seed = 1;
static uint64_t running; /* seed of the round that runs; 0: none */
static int rounds = 3000;

static uint32_t draw(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 32) % below);
}

static int between(int low, int high)
{
    return low + (int)draw((uint32_t)(high - low + 1));
}

/* A type both ways. */
struct both {
    MPI_Datatype type;
    struct model model;
};

static struct both *both_create(void)
{
    struct both *both = calloc(1, sizeof(*both));

    assert_non_null(both);
    return both;
}

static void both_destroy(struct both *both)
{
    if (!type_from(both->type)->predefined)
        assert_int_equal(PMPI_Type_free(&both->type), MPI_SUCCESS);
    free(both);
}

/* ---- making random types ---- */

static struct both *predefined(void)
{
    static const struct {
        MPI_Datatype type;
        int size, external;
    } basic[] = {{MPI_BYTE, 1, 1},   {MPI_SHORT, 2, -2},        {MPI_INT, 4, -4},
                 {MPI_DOUBLE, 8, 8}, {MPI_LONG_DOUBLE, 16, 16}, {MPI_CHAR, 1, 1},
                 {MPI_LONG, 8, -4},  {MPI_UNSIGNED_LONG, 8, 4}, {MPI_WCHAR, 4, 2},
                 {MPI_FLOAT, 4, 4}};
    enum {
        BASIC = sizeof(basic) / sizeof(basic[0])
    };
    struct both *both = both_create();
    struct model_entry *entry = both->model.entry;
    uint32_t i = draw(BASIC + 3);

    if (i < BASIC) {
        both->type = basic[i].type;
        both->model.n = 1;
        int align = basic[i].size == 16 ? (int)_Alignof(long double) : basic[i].size;
        entry[0] = (struct model_entry){0, basic[i].size, align, basic[i].external};
        return both;
    }
    both->model.n = 2;
    if (i == BASIC) {
        both->type = MPI_SHORT_INT;
        entry[0] = (struct model_entry){0, 2, 2, -2};
        entry[1] = (struct model_entry){4, 4, 4, -4};
    } else if (i == BASIC + 1) {
        both->type = MPI_DOUBLE_INT;
        entry[0] = (struct model_entry){0, 8, 8, 8};
        entry[1] = (struct model_entry){8, 4, 4, -4};
    } else { /* a pair without a name */
        assert_int_equal(PMPI_Type_get_value_index(MPI_SHORT, MPI_LONG, &both->type), 0);
        entry[0] = (struct model_entry){0, 2, 2, -2};
        entry[1] = (struct model_entry){8, 8, 8, -4};
    }
    return both;
}

static struct both *random_type(int depth);

static void make_contiguous(const struct both *old, struct both *made)
{
    int n = between(0, 5);

    assert_int_equal(PMPI_Type_contiguous(n, old->type, &made->type), 0);
    model_add(&made->model, &old->model, n, 0);
}

static void make_vector(const struct both *old, struct both *made)
{
    int n = between(0, 6), len = between(0, 4), stride = between(-6, 8);
    int64_t extent = model_bounds(&old->model).extent;

    if (draw(2)) {
        assert_int_equal(PMPI_Type_vector(n, len, stride, old->type, &made->type), 0);
    } else {
        extent = 1;
        stride = draw(3) ? 8 * stride : between(-40, 60);
        assert_int_equal(PMPI_Type_create_hvector_c(n, len, stride, old->type, &made->type), 0);
    }
    for (int i = 0; i < n; i++)
        model_add(&made->model, &old->model, len, i * stride * extent);
}

/* Random displacements: regular, growing, or anywhere. */
static void displace(int n, int64_t step, MPI_Count *at)
{
    int way = between(0, 2);

    for (int i = 0; i < n; i++)
        at[i] = way == 0   ? i * step
                : way == 1 ? (i ? at[i - 1] : 0) + step + between(0, 3)
                           : between(-20, 20);
}

static void make_indexed(const struct both *old, struct both *made)
{
    int n = between(0, 20), lengths[20], places[20], way = between(0, 3);
    int64_t extent = model_bounds(&old->model).extent;
    MPI_Count wide[20], at[20];

    displace(n, way & 1 ? 8 : between(1, 4), at);
    for (int i = 0; i < n; i++) {
        wide[i] = lengths[i] = way < 2 ? between(0, 3) : i ? lengths[0] : between(0, 4);
        places[i] = (int)at[i];
    }
    int block = n ? lengths[0] : 0, rc;
    if (way == 0)
        rc = PMPI_Type_indexed(n, lengths, places, old->type, &made->type);
    else if (way == 1)
        rc = PMPI_Type_create_hindexed_c(n, wide, at, old->type, &made->type);
    else if (way == 2)
        rc = PMPI_Type_create_indexed_block(n, block, places, old->type, &made->type);
    else
        rc = PMPI_Type_create_hindexed_block(n, block, at, old->type, &made->type);
    assert_int_equal(rc, 0);
    for (int i = 0; i < n; i++)
        model_add(&made->model, &old->model, lengths[i], at[i] * (way & 1 ? 1 : extent));
}

static void make_struct(const struct both *old, struct both *made, int depth)
{
    int n = between(0, 5), lengths[5];
    MPI_Datatype types[5];
    const struct both *all[5];
    struct both *second = random_type(depth - 1);
    MPI_Count at[5];

    displace(n, between(1, 40), at);
    for (int i = 0; i < n; i++) {
        lengths[i] = between(0, 3);
        all[i] = draw(2) ? old : second;
        types[i] = all[i]->type;
        model_add(&made->model, &all[i]->model, lengths[i], at[i]);
    }
    assert_int_equal(PMPI_Type_create_struct(n, lengths, at, types, &made->type), 0);
    both_destroy(second);
}

static void make_resized(const struct both *old, struct both *made)
{
    struct model_bounds b = model_bounds(&old->model);
    int64_t lb = draw(2) ? b.lb : between(-10, 10);
    int64_t extent = draw(2) ? b.extent + 8 : between(-40, 60);

    assert_int_equal(PMPI_Type_create_resized(old->type, lb, extent, &made->type), 0);
    model_add(&made->model, &old->model, 1, 0);
    made->model.marked = true;
    made->model.mark_lb = lb;
    made->model.mark_ub = lb + extent;
}

static void make_subarray(const struct both *old, struct both *made)
{
    struct model_grid grid = {.ndims = between(1, 3),
                              .order = draw(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN};
    int subsizes[3], starts[3];

    for (int d = 0; d < grid.ndims; d++) {
        grid.sizes[d] = between(1, 6);
        subsizes[d] = between(1, grid.sizes[d]);
        starts[d] = between(0, grid.sizes[d] - subsizes[d]);
        for (int i = 0; i < subsizes[d]; i++)
            grid.mine[d][starts[d] + i] = true;
    }
    assert_int_equal(PMPI_Type_create_subarray(grid.ndims, grid.sizes, subsizes, starts, grid.order,
                                               old->type, &made->type),
                     0);
    model_add_grid(&made->model, &old->model, &grid);
}

static void make_darray(const struct both *old, struct both *made)
{
    struct model_grid grid = {.ndims = between(1, 3),
                              .order = draw(2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN};
    int distribs[3], dargs[3], psizes[3], size = 1, rank;

    for (int d = 0; d < grid.ndims; d++) {
        grid.sizes[d] = between(1, 10);
        distribs[d] = between(MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC);
        psizes[d] = distribs[d] == MPI_DISTRIBUTE_NONE ? 1 : between(1, 4);
        dargs[d] = MPI_DISTRIBUTE_DFLT_DARG;
        if (draw(2))
            dargs[d] = distribs[d] == MPI_DISTRIBUTE_CYCLIC ? between(1, 4)
                                                            : grid.sizes[d] / psizes[d] + 1;
        size *= psizes[d];
    }
    rank = between(0, size - 1);
    for (int d = grid.ndims - 1, left = rank; d >= 0; d--) {
        int coord = left % psizes[d], n = grid.sizes[d], block = dargs[d];
        left /= psizes[d];
        if (distribs[d] == MPI_DISTRIBUTE_NONE)
            block = n;
        else if (block == MPI_DISTRIBUTE_DFLT_DARG)
            block = distribs[d] == MPI_DISTRIBUTE_CYCLIC ? 1 : (n + psizes[d] - 1) / psizes[d];
        for (int i = 0; i < n; i++)
            grid.mine[d][i] = i / block % psizes[d] == coord;
    }
    assert_int_equal(PMPI_Type_create_darray(size, rank, grid.ndims, grid.sizes, distribs, dargs,
                                             psizes, grid.order, old->type, &made->type),
                     0);
    model_add_grid(&made->model, &old->model, &grid);
}

static struct both *random_type(int depth)
{
    if (depth <= 0 || draw(8) == 0)
        return predefined();
    struct both *old = random_type(depth - 1), *made = both_create();
    switch (draw(9)) {
    case 0: make_contiguous(old, made); break;
    case 1:
    case 2: make_vector(old, made); break;
    case 3: make_indexed(old, made); break;
    case 4: make_resized(old, made); break;
    case 5: make_subarray(old, made); break;
    case 6: make_darray(old, made); break;
    case 7:
        if (draw(4) == 0)
            assert_int_equal(PMPI_Type_commit(&old->type), 0);
        assert_int_equal(PMPI_Type_dup(old->type, &made->type), 0);
        made->model = old->model;
        break;
    default: make_struct(old, made, depth); break;
    }
    both_destroy(old); /* types that it is used in must keep it */
    return made;
}

/* ---- checking ---- */

static void check_bounds(const struct both *both)
{
    struct model_bounds b = model_bounds(&both->model);
    MPI_Count size, lb, extent, true_lb, true_extent;

    assert_int_equal(PMPI_Type_size_c(both->type, &size), 0);
    assert_int_equal(PMPI_Type_get_extent_c(both->type, &lb, &extent), 0);
    assert_int_equal(PMPI_Type_get_true_extent_c(both->type, &true_lb, &true_extent), 0);
    assert_int_equal(size, b.size);
    assert_int_equal(lb, b.lb);
    assert_int_equal(extent, b.extent);
    assert_int_equal(true_lb, b.true_lb);
    assert_int_equal(true_extent, b.true_extent);
}

static void check_elements(const struct both *both, int64_t len)
{
    MPI_Status status;
    MPI_Count n, back;

    for (int i = 0; i < 5; i++) {
        int64_t bytes = (int64_t)draw((uint32_t)len + 1);
        status_set(&status, 0, 0, bytes, false);
        assert_int_equal(PMPI_Get_elements_c(&status, both->type, &n), 0);
        assert_int_equal(n, model_elements(&both->model, bytes));
        if (n == MPI_UNDEFINED)
            continue;
        assert_int_equal(PMPI_Status_set_elements_c(&status, both->type, n), 0);
        assert_int_equal(status_bytes(&status), bytes);
        assert_int_equal(PMPI_Get_elements_c(&status, both->type, &back), 0);
        assert_int_equal(back, n);
    }
}

/* Memory that count elements lie in, to the byte; the address to give to MPI. */
struct buffer {
    char *memory, *address;
    size_t len;
};

static struct buffer buffer_for(const struct both *both, int count)
{
    struct buffer buffer;
    int64_t first, last;

    model_reach(&both->model, count, &first, &last);
    buffer.len = (size_t)(last - first + 1);
    buffer.memory = malloc(buffer.len ? buffer.len : 1);
    assert_non_null(buffer.memory);
    for (size_t i = 0; i < buffer.len; i++)
        buffer.memory[i] = (char)draw(256);
    buffer.address = (char *)((uintptr_t)buffer.memory - (uintptr_t)first);
    return buffer;
}

static void check_pack(const struct both *both, int count, size_t len)
{
    struct buffer from = buffer_for(both, count);
    char *expected = malloc(len + 1), *packed = malloc(len + 1);
    struct mpid_bytes place;
    struct type *used;

    assert_int_equal(type_place(both->type, from.address, count, &place, &used), 0);
    assert_int_equal(place.len, len);
    assert_true(!place.layout || used || type_from(both->type)->predefined);
    model_copy(&both->model, count, from.address, expected, false);
    if (os_turns)
        model_turn(&both->model, count, expected);
    for (size_t at = 0; at < len;) { /* piece by piece */
        size_t n = 1 + draw(draw(2) ? 8 : (uint32_t)len);
        n = n < len - at ? n : len - at;
        type_pack(&place, at, packed + at, n);
        at += n;
    }
    assert_memory_equal(packed, expected, len);
    for (int i = 0; len && i < 3; i++) { /* and anywhere */
        size_t at = draw((uint32_t)len), n = draw((uint32_t)(len - at) + 1);
        char *piece = malloc(n + 1);
        type_pack(&place, at, piece, n);
        assert_memory_equal(piece, expected + at, n);
        free(piece);
    }
    free(packed);
    free(expected);
    free(from.memory);
}

static void check_unpack(const struct both *both, int count, size_t len)
{
    struct buffer real = buffer_for(both, count), naive = buffer_for(both, count);
    char *packed = malloc(len + 1);
    struct mpid_bytes place;
    struct type *used;

    for (size_t i = 0; i < len; i++)
        packed[i] = (char)draw(256);
    memcpy(naive.memory, real.memory, real.len);
    if (os_turns)
        model_turn(&both->model, count, packed);
    model_copy(&both->model, count, naive.address, packed, true);
    if (os_turns) /* as they come */
        model_turn(&both->model, count, packed);
    assert_int_equal(type_place(both->type, real.address, count, &place, &used), 0);
    for (size_t at = 0; at < len;) {
        size_t n = 1 + draw(draw(2) ? 8 : (uint32_t)len);
        n = n < len - at ? n : len - at;
        char *piece = malloc(n); /* of this length: reading beyond it shows */
        memcpy(piece, packed + at, n);
        type_unpack(&place, at, piece, n);
        free(piece);
        at += n;
    }
    if (real.len) /* the gaps too */
        assert_memory_equal(real.memory, naive.memory, real.len);
    free(packed);
    free(real.memory);
    free(naive.memory);
}

/* Copy to another layout of the same data, with fewer or more elements. */
static void check_copy(const struct both *both, int count, size_t len)
{
    struct buffer from = buffer_for(both, count);
    char *expected = malloc(len + 1), *bytes = malloc(len + 1);

    model_copy(&both->model, count, from.address, expected, false);
    assert_int_equal(type_copy_in(false, from.address, count, both->type, bytes, (MPI_Count)len, MPI_BYTE), 0);
    assert_memory_equal(bytes, expected, len);
    if (os_turns)
        model_turn(&both->model, count, expected);
    assert_int_equal(type_copy(from.address, count, both->type, bytes, (MPI_Count)len, MPI_BYTE),
                     0);
    assert_memory_equal(bytes, expected, len);
    if (len > 1)
        assert_int_equal(
            type_copy(from.address, count, both->type, bytes, (MPI_Count)len - 1, MPI_BYTE),
            MPI_ERR_TRUNCATE);
    if (!model_overlaps(&both->model, count)) {
        struct buffer to = buffer_for(both, count);
        assert_int_equal(type_copy(from.address, count, both->type, to.address, count, both->type),
                         0);
        model_copy(&both->model, count, to.address, bytes, false);
        if (os_turns)
            model_turn(&both->model, count, bytes);
        assert_memory_equal(bytes, expected, len);
        free(to.memory);
    }
    free(bytes);
    free(expected);
    free(from.memory);
}

/* To external32 and back. */
static void check_external(const struct both *both, int count, size_t len)
{
    struct buffer from = buffer_for(both, count), to = buffer_for(both, count);
    char *packed = malloc(len + 1), *expected = malloc(len + 1), *external = malloc(len + 1);
    MPI_Count size, at = 0;

    model_copy(&both->model, count, from.address, packed, false);
    int64_t bytes = model_externalize(&both->model, count, packed, expected);
    assert_int_equal(PMPI_Pack_external_size_c("external32", count, both->type, &size), 0);
    assert_int_equal(size, bytes);
    assert_int_equal(
        PMPI_Pack_external_c("external32", from.address, count, both->type, external, size, &at),
        0);
    assert_int_equal(at, size);
    assert_memory_equal(external, expected, (size_t)size);
    if (!model_overlaps(&both->model, count)) {
        at = 0;
        assert_int_equal(PMPI_Unpack_external_c("external32", external, size, &at, to.address,
                                                count, both->type),
                         0);
        assert_int_equal(at, size);
        model_copy(&both->model, count, to.address, packed, false);
        model_externalize(&both->model, count, packed, external);
        assert_memory_equal(external, expected, (size_t)size);
    }
    free(external);
    free(expected);
    free(packed);
    free(from.memory);
    free(to.memory);
}

/* ---- from contents ---- */

static MPI_Datatype rebuilt(MPI_Datatype type);

struct contents {
    MPI_Count integers, addresses, larges, types;
    int combiner;
    int *i;
    MPI_Aint *a;
    MPI_Count *l;
    MPI_Datatype *t;
};

static MPI_Datatype rebuilt_small(const struct contents *c)
{
    const int *i = c->i, n = c->integers ? i[0] : 0;
    MPI_Datatype made = MPI_DATATYPE_NULL, t = c->t[0];
    int rc = -1;

    switch (c->combiner) {
    case MPI_COMBINER_DUP: rc = PMPI_Type_dup(t, &made); break;
    case MPI_COMBINER_CONTIGUOUS: rc = PMPI_Type_contiguous(n, t, &made); break;
    case MPI_COMBINER_VECTOR: rc = PMPI_Type_vector(n, i[1], i[2], t, &made); break;
    case MPI_COMBINER_HVECTOR: rc = PMPI_Type_create_hvector(n, i[1], c->a[0], t, &made); break;
    case MPI_COMBINER_INDEXED: rc = PMPI_Type_indexed(n, i + 1, i + 1 + n, t, &made); break;
    case MPI_COMBINER_HINDEXED: rc = PMPI_Type_create_hindexed(n, i + 1, c->a, t, &made); break;
    case MPI_COMBINER_INDEXED_BLOCK:
        rc = PMPI_Type_create_indexed_block(n, i[1], i + 2, t, &made);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        rc = PMPI_Type_create_hindexed_block(n, i[1], c->a, t, &made);
        break;
    case MPI_COMBINER_STRUCT: rc = PMPI_Type_create_struct(n, i + 1, c->a, c->t, &made); break;
    case MPI_COMBINER_RESIZED: rc = PMPI_Type_create_resized(t, c->a[0], c->a[1], &made); break;
    case MPI_COMBINER_SUBARRAY:
        rc = PMPI_Type_create_subarray(n, i + 1, i + 1 + n, i + 1 + 2 * n, i[1 + 3 * n], t, &made);
        break;
    case MPI_COMBINER_DARRAY:
        rc = PMPI_Type_create_darray(n, i[1], i[2], i + 3, i + 3 + i[2], i + 3 + 2 * i[2],
                                     i + 3 + 3 * i[2], i[3 + 4 * i[2]], t, &made);
        break;
    default: break;
    }
    assert_int_equal(rc, 0);
    return made;
}

static MPI_Datatype rebuilt_large(const struct contents *c)
{
    const MPI_Count *l = c->l, n = c->larges ? l[0] : 0;
    const int *i = c->i;
    MPI_Datatype made = MPI_DATATYPE_NULL, t = c->t[0];
    int rc = -1;

    switch (c->combiner) {
    case MPI_COMBINER_CONTIGUOUS: rc = PMPI_Type_contiguous_c(n, t, &made); break;
    case MPI_COMBINER_VECTOR: rc = PMPI_Type_vector_c(n, l[1], l[2], t, &made); break;
    case MPI_COMBINER_HVECTOR: rc = PMPI_Type_create_hvector_c(n, l[1], l[2], t, &made); break;
    case MPI_COMBINER_INDEXED: rc = PMPI_Type_indexed_c(n, l + 1, l + 1 + n, t, &made); break;
    case MPI_COMBINER_HINDEXED:
        rc = PMPI_Type_create_hindexed_c(n, l + 1, l + 1 + n, t, &made);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        rc = PMPI_Type_create_indexed_block_c(n, l[1], l + 2, t, &made);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        rc = PMPI_Type_create_hindexed_block_c(n, l[1], l + 2, t, &made);
        break;
    case MPI_COMBINER_STRUCT:
        rc = PMPI_Type_create_struct_c(n, l + 1, l + 1 + n, c->t, &made);
        break;
    case MPI_COMBINER_RESIZED: rc = PMPI_Type_create_resized_c(t, l[0], l[1], &made); break;
    case MPI_COMBINER_SUBARRAY:
        rc = PMPI_Type_create_subarray_c(i[0], l, l + i[0], l + 2 * i[0], i[1], t, &made);
        break;
    case MPI_COMBINER_DARRAY:
        rc = PMPI_Type_create_darray_c(i[0], i[1], i[2], l, i + 3, i + 3 + i[2], i + 3 + 2 * i[2],
                                       i[3 + 3 * i[2]], t, &made);
        break;
    default: break;
    }
    assert_int_equal(rc, 0);
    return made;
}

/* What the contents are of the same type when it is made with large counts. */
static void enlarge(struct contents *c)
{
    MPI_Count all = c->integers + c->addresses, n = c->integers ? c->i[0] : 0, from = 0;

    if (c->larges || c->combiner == MPI_COMBINER_DUP)
        return;
    if (c->combiner == MPI_COMBINER_SUBARRAY)
        from = 1, all = 3 * n;
    else if (c->combiner == MPI_COMBINER_DARRAY)
        from = 3, all = c->i[2];
    c->l = realloc(c->l, (size_t)(all + 1) * sizeof(*c->l));
    assert_non_null(c->l);
    c->larges = all;
    for (MPI_Count k = 0; k < all; k++)
        c->l[k] = from + k < c->integers ? c->i[from + k] : c->a[k - c->integers];
    for (MPI_Count k = from; from && k + all < c->integers; k++)
        c->i[k] = c->i[k + all];
}

static MPI_Datatype rebuilt(MPI_Datatype type)
{
    struct contents c;

    assert_int_equal(
        PMPI_Type_get_envelope_c(type, &c.integers, &c.addresses, &c.larges, &c.types, &c.combiner),
        0);
    if (c.combiner == MPI_COMBINER_NAMED || c.combiner == MPI_COMBINER_VALUE_INDEX)
        return type;
    c.i = malloc((size_t)c.integers * sizeof(*c.i) + 1);
    c.a = malloc((size_t)c.addresses * sizeof(*c.a) + 1);
    c.l = malloc((size_t)c.larges * sizeof(*c.l) + 1);
    c.t = malloc((size_t)c.types * sizeof(*c.t) + sizeof(*c.t));
    c.t[0] = MPI_BYTE; /* an empty struct has none */
    assert_int_equal(PMPI_Type_get_contents_c(type, c.integers, c.addresses, c.larges, c.types, c.i,
                                              c.a, c.l, c.t),
                     0);
    for (MPI_Count k = 0; k < c.types; k++) {
        MPI_Datatype old = c.t[k];
        c.t[k] = rebuilt(old);
        if (c.t[k] != old)
            assert_int_equal(PMPI_Type_free(&old), 0);
    }
    if (draw(2))
        enlarge(&c);
    MPI_Datatype made = c.larges ? rebuilt_large(&c) : rebuilt_small(&c);
    for (MPI_Count k = 0; k < c.types; k++) {
        if (!type_from(c.t[k])->predefined)
            assert_int_equal(PMPI_Type_free(&c.t[k]), 0);
    }
    free(c.i);
    free(c.a);
    free(c.l);
    free(c.t);
    return made;
}

static void check_round(void)
{
    struct both *both = random_type(between(0, 4));

    if (!both->model.overflown) {
        int count = between(0, draw(2) ? 3 : 20);
        check_bounds(both);
        if (draw(3) == 0) {
            MPI_Datatype again = rebuilt(both->type);
            if (!type_from(both->type)->predefined)
                assert_int_equal(PMPI_Type_free(&both->type), 0);
            both->type = again;
            check_bounds(both);
        }
        size_t len = (size_t)(model_bounds(&both->model).size * count);
        assert_int_equal(PMPI_Type_commit(&both->type), 0);
        check_elements(both, (int64_t)len);
        check_pack(both, count, len);
        check_copy(both, count, len);
        check_external(both, count, len);
        if (!model_overlaps(&both->model, count))
            check_unpack(both, count, len);
    }
    both_destroy(both);
}

static void run_rounds(int count)
{
    assert_int_equal(type_init(), 0);
    for (int i = 0; i < count; i++) {
        uint64_t seed = first_seed + (uint64_t)i;
        state = seed * 0x9e3779b97f4a7c15u + 1;
        draw(2);
        running = seed;
        check_round();
    }
    running = 0;
    type_fini();
}

static void random_types_are_as_the_naive_ones(void **unused)
{
    (void)unused;
    run_rounds(rounds);
}

/* From here on: what has been turned off for a process that turns stays so. */
static void and_so_they_are_turned(void **unused)
{
    int number = 0x01020304, back = 0, at = 0;
    char packed[4];
    (void)unused;
    os_turns = os_turn_network = true;
    run_rounds(rounds / 3);
    assert_int_equal(PMPI_Pack(&number, 1, MPI_INT, packed, 4, &at, MPI_COMM_WORLD), 0);
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        assert_memory_equal(packed, "\1\2\3\4", 4);
    at = 0;
    assert_int_equal(PMPI_Unpack(packed, 4, &at, &back, 1, MPI_INT, MPI_COMM_WORLD), 0);
    assert_int_equal(back, number);
}

/* A failed round: say how to run it alone. */
static void say_seed(void)
{
    if (running)
        fprintf(stderr, "failed in the round of seed %llu\n", (unsigned long long)running);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_types_are_as_the_naive_ones),
                                       cmocka_unit_test(and_so_they_are_turned)};

    atexit(say_seed);
    if (argc > 1)
        first_seed = strtoull(argv[1], NULL, 0);
    if (argc > 2)
        rounds = atoi(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
