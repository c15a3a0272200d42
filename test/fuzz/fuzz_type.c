/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Datatypes made as bytes say. The bytes are steps of a machine with a stack of types: push a
 * basic one, make another of the top one, commit. In inputs whose first byte is even the
 * arguments are small, and the result must be as the naive datatypes of type_model.h have it:
 * bounds, packing and unpacking cut anywhere, external32, counting. In the others arguments are
 * any 64-bit numbers, and each call must either succeed or say why not.
 *
 * usage: fuzz_type FILE...
 */
#include <mpi.h>
#include <stdbool.h>

#include "mpi/request/status.h"
#include "mpi/type/type.h"
#include "test/fuzz/main.h"
#include "test/mpi_unit/type_model.h"

enum {
    STACK_MAX = 5,
    STEPS_MAX = 40,
    LIST_MAX = 6,       /* blocks in a list */
    REACH_MAX = 1 << 20 /* bytes of memory that a type may span to be copied */
};

struct item {
    MPI_Datatype type;
    struct model model;
};

static const uint8_t *input;
static size_t left;
static bool hostile;
static struct item stack[STACK_MAX];
static int depth;

/* ---- the input ---- */

static uint8_t next(void)
{
    if (!left)
        return 0;
    left--;
    return *input++;
}

/* An argument: in a range, or anything. */
static MPI_Count argument(int low, int high)
{
    uint8_t way;
    uint64_t value = 0;

    if (!hostile)
        return low + next() % (high - low + 1);
    way = next();
    for (int i = 0; i < (way & 7); i++)
        value = value << 8 | next();
    if (way & 8)
        value = ~value;
    if (way & 16)
        value <<= 8 * (way >> 5);
    return (MPI_Count)value;
}

/* A count that is the length of a list too: in bounds even in hostile inputs. */
static int list_length(void)
{
    return next() % (LIST_MAX + 1);
}

/* ---- the stack ---- */

static void drop(struct item *item)
{
    if (!type_from(item->type)->predefined)
        require(PMPI_Type_free(&item->type) == MPI_SUCCESS, "a type cannot be freed");
}

static void push_basic(void)
{
    static const struct {
        MPI_Datatype type;
        int size, external;
    } basic[] = {{MPI_BYTE, 1, 1},          {MPI_SHORT, 2, -2}, {MPI_INT, 4, -4},
                 {MPI_DOUBLE, 8, 8},        {MPI_LONG, 8, -4},  {MPI_UNSIGNED_LONG, 8, 4},
                 {MPI_LONG_DOUBLE, 16, 16}, {MPI_WCHAR, 4, 2}};
    uint8_t i = next() % 8;
    struct item *item;

    if (depth == STACK_MAX)
        drop(&stack[--depth]);
    item = &stack[depth++];
    memset(item, 0, sizeof(*item));
    item->type = basic[i].type;
    item->model.n = 1;
    item->model.entry[0] = (struct model_entry){0, basic[i].size, basic[i].size, basic[i].external};
}

static struct item *top(void)
{
    if (depth == 0)
        push_basic();
    return &stack[depth - 1];
}

/* Whether a type has become so large that the naive one has lost its way, or the next could
 * have an extent of more than 63 bits. */
static bool is_large(const struct model *model)
{
    const struct model_bounds b = model_bounds(model);
    const int64_t most = INT64_C(1) << 40;

    return model->overflown || b.lb < -most || b.lb > most || b.extent < -most || b.extent > most;
}

/* Put the new type in the place of the old one. A refusal must be one of the classes for
 * it, and in a range where nothing can be refused there is none. */
static void put(int rc, struct item *made)
{
    struct item *old = top();

    if (rc) {
        require(hostile, "arguments in their range are refused");
        require(rc == MPI_ERR_ARG || rc == MPI_ERR_COUNT || rc == MPI_ERR_NO_MEM ||
                    rc == MPI_ERR_DIMS,
                "an error of another class");
        return;
    }
    drop(old);
    *old = *made;
    if (!hostile && is_large(&old->model)) {
        drop(old);
        depth--;
    }
}

/* ---- steps ---- */

static struct item made;

static void step_contiguous(void)
{
    struct item *old = top();
    MPI_Count n = argument(0, 5);
    int rc = PMPI_Type_contiguous_c(n, old->type, &made.type);

    if (!hostile)
        model_add(&made.model, &old->model, n, 0);
    put(rc, &made);
}

static void step_vector(bool bytes)
{
    struct item *old = top();
    MPI_Count n = argument(0, 5), len = argument(0, 4);
    MPI_Count stride = bytes ? argument(-60, 90) : argument(-5, 8);
    int rc = bytes ? PMPI_Type_create_hvector_c(n, len, stride, old->type, &made.type)
                   : PMPI_Type_vector_c(n, len, stride, old->type, &made.type);
    int64_t extent = bytes ? 1 : model_bounds(&old->model).extent;

    for (MPI_Count i = 0; !hostile && i < n; i++)
        model_add(&made.model, &old->model, len, i * stride * extent);
    put(rc, &made);
}

/* way: bit 0: bytes; bit 1: blocks of one length. */
static void step_indexed(int way)
{
    struct item *old = top();
    MPI_Count lengths[LIST_MAX + 1], at[LIST_MAX + 1];
    int n = list_length(), rc;
    int64_t extent = way & 1 ? 1 : model_bounds(&old->model).extent;

    lengths[0] = argument(0, 4);
    for (int i = 0; i < n; i++) {
        lengths[i] = i == 0 || way & 2 ? lengths[0] : argument(0, 4);
        at[i] = way & 1 ? argument(-60, 120) : argument(-10, 20);
    }
    switch (way) {
    case 0: rc = PMPI_Type_indexed_c(n, lengths, at, old->type, &made.type); break;
    case 1: rc = PMPI_Type_create_hindexed_c(n, lengths, at, old->type, &made.type); break;
    case 2: rc = PMPI_Type_create_indexed_block_c(n, lengths[0], at, old->type, &made.type); break;
    default:
        rc = PMPI_Type_create_hindexed_block_c(n, lengths[0], at, old->type, &made.type);
        break;
    }
    for (int i = 0; !hostile && i < n; i++)
        model_add(&made.model, &old->model, lengths[i], at[i] * extent);
    put(rc, &made);
}

/* Of any types of the stack. */
static void step_struct(void)
{
    MPI_Count lengths[LIST_MAX + 1], at[LIST_MAX + 1];
    MPI_Datatype types[LIST_MAX + 1];
    int n = list_length();

    top();
    for (int i = 0; i < n; i++) {
        const struct item *part = &stack[next() % depth];
        lengths[i] = argument(0, 3);
        at[i] = argument(-50, 150);
        types[i] = part->type;
        if (!hostile)
            model_add(&made.model, &part->model, lengths[i], at[i]);
    }
    put(PMPI_Type_create_struct_c(n, lengths, at, types, &made.type), &made);
}

static void step_resized(void)
{
    struct item *old = top();
    MPI_Count lb = argument(-20, 20), extent = argument(-50, 120);
    int rc = PMPI_Type_create_resized_c(old->type, lb, extent, &made.type);

    if (!hostile) {
        model_add(&made.model, &old->model, 1, 0);
        made.model.marked = true;
        made.model.mark_lb = lb;
        made.model.mark_ub = lb + extent;
    }
    put(rc, &made);
}

static void step_subarray(void)
{
    struct item *old = top();
    struct model_grid grid = {.ndims = 1 + next() % 3,
                              .order = next() & 1 ? MPI_ORDER_C : MPI_ORDER_FORTRAN};
    MPI_Count sizes[3], subsizes[3], starts[3];

    for (int d = 0; d < grid.ndims; d++) {
        sizes[d] = argument(1, 6);
        grid.sizes[d] = (int)sizes[d];
        subsizes[d] = argument(1, hostile ? 1 : grid.sizes[d]);
        starts[d] = argument(0, hostile ? 1 : (int)(sizes[d] - subsizes[d]));
        for (MPI_Count i = 0; !hostile && i < subsizes[d]; i++)
            grid.mine[d][starts[d] + i] = true;
    }
    int rc = PMPI_Type_create_subarray_c(grid.ndims, sizes, subsizes, starts, grid.order, old->type,
                                         &made.type);
    if (!hostile)
        model_add_grid(&made.model, &old->model, &grid);
    put(rc, &made);
}

/* One dimension of a distributed array; says what is mine in an input that is not hostile. */
static void distribute(struct model_grid *grid, int d, int coord, int psize, int distrib, int darg)
{
    int n = grid->sizes[d], block = darg;

    if (distrib == MPI_DISTRIBUTE_NONE)
        block = n;
    else if (darg == MPI_DISTRIBUTE_DFLT_DARG)
        block = distrib == MPI_DISTRIBUTE_CYCLIC ? 1 : (n + psize - 1) / psize;
    for (int i = 0; i < n; i++)
        grid->mine[d][i] = i / block % psize == coord;
}

static void step_darray(void)
{
    struct item *old = top();
    struct model_grid grid = {.ndims = 1 + next() % 3,
                              .order = next() & 1 ? MPI_ORDER_C : MPI_ORDER_FORTRAN};
    int distribs[3], dargs[3], psizes[3], size = 1, rank;
    MPI_Count sizes[3];

    for (int d = 0; d < grid.ndims; d++) {
        sizes[d] = argument(1, 9);
        grid.sizes[d] = (int)sizes[d];
        distribs[d] = MPI_DISTRIBUTE_NONE + next() % 3;
        psizes[d] = distribs[d] == MPI_DISTRIBUTE_NONE ? 1 : 1 + next() % 4;
        dargs[d] = MPI_DISTRIBUTE_DFLT_DARG;
        if (next() & 1) {
            MPI_Count least = distribs[d] == MPI_DISTRIBUTE_CYCLIC ? 1 : sizes[d] / psizes[d] + 1;
            dargs[d] = hostile ? (int)argument(0, 0) : (int)least + next() % 3;
        }
        size *= psizes[d];
    }
    rank = next() % size;
    for (int d = grid.ndims - 1, rest = rank; d >= 0; d--) {
        if (!hostile)
            distribute(&grid, d, rest % psizes[d], psizes[d], distribs[d], dargs[d]);
        rest /= psizes[d];
    }
    int rc = PMPI_Type_create_darray_c(size, rank, grid.ndims, sizes, distribs, dargs, psizes,
                                       grid.order, old->type, &made.type);
    if (!hostile)
        model_add_grid(&made.model, &old->model, &grid);
    put(rc, &made);
}

static void step_dup(void)
{
    struct item *old = top();
    int rc = PMPI_Type_dup(old->type, &made.type);

    made.model = old->model;
    put(rc, &made);
}

static void step(void)
{
    uint8_t what = next() % 14;

    memset(&made, 0, sizeof(made));
    switch (what) {
    case 0:
    case 1: push_basic(); break;
    case 2: step_contiguous(); break;
    case 3: step_vector(false); break;
    case 4: step_vector(true); break;
    case 5:
    case 6:
    case 7:
    case 8: step_indexed(what - 5); break;
    case 9: step_struct(); break;
    case 10: step_resized(); break;
    case 11: step_subarray(); break;
    case 12: step_darray(); break;
    default:
        if (next() & 1)
            step_dup();
        else
            require(!PMPI_Type_commit(&top()->type), "a type cannot be committed");
    }
}

/* ---- what came out ---- */

static void check_bounds(const struct item *item)
{
    const struct model_bounds b = model_bounds(&item->model);
    const struct type *type = type_from(item->type);

    require(type->size == b.size && type->lb == b.lb && type->extent == b.extent &&
                type->true_lb == b.true_lb && type->true_extent == b.true_extent,
            "other bounds");
}

static void check_elements(const struct item *item, size_t len)
{
    MPI_Count bytes = (MPI_Count)((size_t)(next() << 8 | next()) % (len + 1)), n;
    MPI_Status status;

    status_set(&status, 0, 0, bytes, false);
    require(!PMPI_Get_elements_c(&status, item->type, &n), "counting fails");
    require(n == model_elements(&item->model, bytes), "another number of elements");
}

/* Memory for count elements, to the byte, and the address to give to MPI. */
static char *memory_for(const struct item *item, int count, size_t *len, char **address)
{
    int64_t first, last;
    model_reach(&item->model, count, &first, &last);
    *len = last < first ? 0 : (size_t)(last - first + 1);
    char *memory = malloc(*len + 1);
    require(memory != NULL, "no memory");
    for (size_t i = 0; i < *len; i++)
        memory[i] = (char)(i * 37 + i / 251);
    *address = (char *)((uintptr_t)memory - (uintptr_t)first);
    return memory;
}

static size_t piece(size_t rest)
{
    size_t n = 1 + next() * (next() & 3 ? 1u : 97u);

    return n < rest ? n : rest;
}

static void check_copies(const struct item *item, int count, size_t len)
{
    size_t span;
    char *address, *memory = memory_for(item, count, &span, &address), *before = malloc(span + 1);
    char *expected = malloc(len + 1), *packed = malloc(len + 1);
    struct mpid_bytes place;
    struct type *used;

    require(before && expected && packed, "no memory");
    require(!type_place(item->type, address, count, &place, &used), "no place");
    require(place.len == len, "a place of another size");
    model_copy(&item->model, count, address, expected, false);
    for (size_t at = 0, n; at < len; at += n) {
        n = piece(len - at);
        type_pack(&place, at, packed + at, n);
    }
    require(!memcmp(packed, expected, len), "other bytes are packed");
    int64_t external = model_externalize(&item->model, count, packed, expected);
    MPI_Count at = 0;
    require(!PMPI_Pack_external_c("external32", address, count, item->type, packed, external, &at),
            "external32 fails");
    require(at == external && !memcmp(packed, expected, (size_t)at), "external32 differs");
    if (!model_overlaps(&item->model, count)) {
        for (size_t i = 0; i < len; i++)
            packed[i] = (char)(i * 101 + 7);
        memcpy(before, memory, span);
        for (size_t to = 0, n; to < len; to += n) {
            n = piece(len - to);
            type_unpack(&place, to, packed + to, n);
        }
        char *naive = (char *)((uintptr_t)before + ((uintptr_t)address - (uintptr_t)memory));
        model_copy(&item->model, count, naive, packed, true);
        require(!memcmp(before, memory, span), "unpacked to other places");
    }
    free(memory);
    free(before);
    free(expected);
    free(packed);
}

/* Nothing is known of it; but what it says of itself must hold together. */
static void check_hostile(const struct item *item)
{
    const struct type *type = type_from(item->type);
    char *memory = NULL, packed[256];
    struct mpid_bytes place;
    struct type *used;

    require(type->size >= 0 && type->true_extent >= 0, "a negative size");
    if (type->true_extent > REACH_MAX || type_place(item->type, packed, 1, &place, &used))
        return;
    memory = calloc(1, (size_t)type->true_extent + 1);
    require(memory != NULL, "no memory");
    char *address = (char *)((uintptr_t)memory - (uintptr_t)type->true_lb);
    require(!type_place(item->type, address, 1, &place, &used), "no place");
    for (size_t at = 0; at < place.len && at < 64 * sizeof(packed); at += sizeof(packed)) {
        size_t n = place.len - at < sizeof(packed) ? place.len - at : sizeof(packed);
        type_pack(&place, at, packed, n);
        type_unpack(&place, at, packed, n);
    }
    free(memory);
}

static void check(struct item *item)
{
    int count = next() % 4;

    require(!PMPI_Type_commit(&item->type), "a type cannot be committed");
    if (hostile) {
        check_hostile(item);
    } else {
        int64_t first, last;
        size_t len = (size_t)(model_bounds(&item->model).size * count);
        check_bounds(item);
        check_elements(item, len);
        model_reach(&item->model, count, &first, &last);
        if (last - first < REACH_MAX)
            check_copies(item, count, len);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    input = bytes;
    left = len;
    depth = 0;
    require(!type_init(), "no memory");
    hostile = next() & 1;
    for (int i = 0; left && i < STEPS_MAX; i++)
        step();
    while (depth) {
        check(&stack[depth - 1]);
        drop(&stack[--depth]);
    }
    return 0;
}
