/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Constructors: sizes, bounds and extents as MPI-5.0 5.1 defines them, with every sum and product
 * checked.
 *
 * A type map's bounds are the least and the greatest byte of its data, and the extent is rounded up
 * to the largest alignment among its basic elements, unless MPI_Type_create_resized has set marks:
 * then only the marks count, wherever in the tree they are.
 */

#include "mpi/type/type_make.h"

#include <string.h>

#include "mpi/type/kernels.h"
#include "mpi/type/type_tree.h"

/* ---- bounds of a type map as it grows ---- */

struct bounds {
    bool any;    /* data: true_lb and true_ub count */
    bool marked; /* lb and ub count */
    bool failed; /* a sum has overflown */
    bool extended, wide;
    uint8_t align;
    uint16_t depth; /* of the deepest part */
    int64_t size, elements, external;
    int64_t true_lb, true_ub, lb, ub;
};

static int64_t sum(struct bounds *bounds, int64_t a, int64_t b)
{
    int64_t c = 0;

    bounds->failed |= __builtin_add_overflow(a, b, &c);
    return c;
}

static int64_t difference(struct bounds *bounds, int64_t a, int64_t b)
{
    int64_t c = 0;

    bounds->failed |= __builtin_sub_overflow(a, b, &c);
    return c;
}

static int64_t product(struct bounds *bounds, int64_t a, int64_t b)
{
    int64_t c = 0;

    bounds->failed |= __builtin_mul_overflow(a, b, &c);
    return c;
}

static void widen(bool first, int64_t *lb, int64_t *ub, int64_t new_lb, int64_t new_ub)
{
    if (first || new_lb < *lb)
        *lb = new_lb;
    if (first || new_ub > *ub)
        *ub = new_ub;
}

/* The bounds of one element at a displacement. */
static void cover(struct bounds *bounds, const struct type *type, int64_t at)
{
    if (type->size) {
        int64_t lb = sum(bounds, at, type->true_lb);
        widen(!bounds->any, &bounds->true_lb, &bounds->true_ub, lb,
              sum(bounds, lb, type->true_extent));
        bounds->any = true;
    }
    if (type->marked) {
        int64_t lb = sum(bounds, at, type->lb);
        widen(!bounds->marked, &bounds->lb, &bounds->ub, lb, sum(bounds, lb, type->extent));
        bounds->marked = true;
    }
}

/* The bounds of len elements, one after the other, from a displacement on. */
static void cover_block(struct bounds *bounds, const struct type *type, int64_t at, int64_t len)
{
    if (len == 0)
        return;
    cover(bounds, type, at);
    if (len > 1)
        cover(bounds, type, sum(bounds, at, product(bounds, len - 1, type->extent)));
}

/* Add count elements: size, alignment, depth. */
static void count_in(struct bounds *bounds, const struct type *type, int64_t count)
{
    bounds->size = sum(bounds, bounds->size, product(bounds, count, type->size));
    bounds->elements = sum(bounds, bounds->elements, product(bounds, count, type->elements));
    bounds->external = sum(bounds, bounds->external, product(bounds, count, type->external));
    if (type->depth > bounds->depth)
        bounds->depth = type->depth;
    bounds->extended |= count && type->extended;
    bounds->wide |= count && type->wide;
    if (count && type->align > bounds->align)
        bounds->align = type->align;
}

/* ---- objects ---- */

static int64_t round_up(struct bounds *bounds, int64_t extent)
{
    int64_t over = bounds->align ? extent % bounds->align : 0;

    return over > 0 ? sum(bounds, extent, bounds->align - over) : extent;
}

static void set_bounds(struct type *type, struct bounds *bounds)
{
    type->size = bounds->size;
    type->elements = bounds->elements;
    type->external = bounds->external;
    type->align = bounds->align;
    type->marked = bounds->marked;
    type->extended = bounds->extended;
    type->wide = bounds->wide;
    type->depth = (uint16_t)(bounds->depth + 1);
    if (bounds->any) {
        type->true_lb = bounds->true_lb;
        type->true_extent = difference(bounds, bounds->true_ub, bounds->true_lb);
    }
    if (bounds->marked) {
        type->lb = bounds->lb;
        type->extent = difference(bounds, bounds->ub, bounds->lb);
    } else {
        type->lb = type->true_lb;
        type->extent = round_up(bounds, type->true_extent);
    }
}

/* Make a type with this tree, which it takes over (on failure: destroys); tree NULL: no memory. */
static int create(struct type_tree *tree, struct bounds *bounds, struct type **made)
{
    struct type *type = tree ? type_create(tree) : NULL;

    if (!type) {
        type_tree_destroy(tree);
        return MPI_ERR_NO_MEM;
    }
    set_bounds(type, bounds);
    if (bounds->failed || bounds->depth >= TYPE_DEPTH_MAX) {
        type_unref(type);
        return MPI_ERR_COUNT;
    }
    *made = type;
    return 0;
}

/* Make a tree of one type, whose arguments the caller fills in; NULL: no memory. */
static struct type_tree *tree_over(int combiner, struct type *old, int64_t arg_count)
{
    struct type_tree *tree = type_tree_create(combiner, arg_count, 1);

    if (!tree)
        return NULL;
    tree->types[0] = old;
    type_ref(old);
    return tree;
}

/* ---- constructors ---- */

int type_make_contiguous(int64_t count, struct type *old, struct type **made)
{
    struct bounds bounds = {0};
    struct type_tree *tree = tree_over(MPI_COMBINER_CONTIGUOUS, old, 1);

    if (tree)
        tree->args[0] = count;
    count_in(&bounds, old, count);
    cover_block(&bounds, old, 0, count);
    return create(tree, &bounds, made);
}

int type_make_vector(int combiner, int64_t count, int64_t blocklength, int64_t stride,
                     struct type *old, struct type **made)
{
    struct bounds bounds = {0};
    struct type_tree *tree = tree_over(combiner, old, 3);

    if (tree) {
        tree->args[0] = count;
        tree->args[1] = blocklength;
        tree->args[2] = stride;
    }
    count_in(&bounds, old, product(&bounds, count, blocklength));
    if (count > 0 && blocklength > 0) {
        cover_block(&bounds, old, 0, blocklength);
        if (combiner == MPI_COMBINER_VECTOR && count > 1)
            stride = product(&bounds, stride, old->extent);
        if (count > 1)
            cover_block(&bounds, old, product(&bounds, count - 1, stride), blocklength);
    }
    return create(tree, &bounds, made);
}

int type_make_indexed(const struct type_blocks *blocks, struct type *old, struct type **made)
{
    bool equal = blocks->combiner == MPI_COMBINER_INDEXED_BLOCK ||
                 blocks->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    bool bytes = blocks->combiner == MPI_COMBINER_HINDEXED ||
                 blocks->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    struct bounds bounds = {0};
    int64_t count = blocks->count, lengths = equal ? 1 : count, arg_count = 0;

    if (__builtin_add_overflow(count, lengths + 1, &arg_count))
        return MPI_ERR_NO_MEM;
    struct type_tree *tree = tree_over(blocks->combiner, old, arg_count);
    if (!tree)
        return MPI_ERR_NO_MEM;
    tree->args[0] = count;
    memcpy(tree->args + 1, blocks->lengths, (size_t)lengths * sizeof(int64_t));
    for (int64_t i = 0; i < count; i++) {
        int64_t at = blocks->displacements[i], len = blocks->lengths[equal ? 0 : i];
        tree->args[1 + lengths + i] = at;
        if (len == 0)
            continue;
        if (!bytes)
            at = product(&bounds, at, old->extent);
        count_in(&bounds, old, len);
        cover_block(&bounds, old, at, len);
    }
    return create(tree, &bounds, made);
}

int type_make_struct(int64_t count, const int64_t *lengths, const int64_t *displacements,
                     struct type **types, struct type **made)
{
    struct bounds bounds = {0};
    int64_t arg_count = 0;

    if (__builtin_mul_overflow(count, 2, &arg_count))
        return MPI_ERR_NO_MEM;
    struct type_tree *tree = type_tree_create(MPI_COMBINER_STRUCT, arg_count + 1, count);
    if (!tree)
        return MPI_ERR_NO_MEM;
    tree->args[0] = count;
    for (int64_t i = 0; i < count; i++) {
        tree->args[1 + i] = lengths[i];
        tree->args[1 + count + i] = displacements[i];
        tree->types[i] = types[i];
        type_ref(types[i]);
        count_in(&bounds, types[i], lengths[i]);
        cover_block(&bounds, types[i], displacements[i], lengths[i]);
    }
    return create(tree, &bounds, made);
}

int type_make_resized(struct type *old, int64_t lb, int64_t extent, struct type **made)
{
    struct bounds bounds = {0};
    struct type_tree *tree = tree_over(MPI_COMBINER_RESIZED, old, 2);

    if (tree) {
        tree->args[0] = lb;
        tree->args[1] = extent;
    }
    count_in(&bounds, old, 1);
    cover(&bounds, old, 0);
    bounds.marked = true;
    bounds.lb = lb;
    bounds.ub = sum(&bounds, lb, extent);
    return create(tree, &bounds, made);
}

/* Make a type with this tree, which it takes over, that otherwise equals old. depth: of the types
 * that the tree is made of. */
static int create_like(struct type *old, struct type_tree *tree, uint16_t depth, struct type **made)
{
    struct bounds bounds = {0};

    count_in(&bounds, old, 1);
    cover(&bounds, old, 0);
    bounds.depth = depth;
    int rc = create(tree, &bounds, made);
    if (rc || !old->committed)
        return rc;
    rc = type_commit(*made);
    if (rc) {
        type_unref(*made);
        *made = NULL;
    }
    return rc;
}

int type_make_dup(struct type *old, struct type **made)
{
    return create_like(old, tree_over(MPI_COMBINER_DUP, old, 0), old->depth, made);
}

int type_make_again(struct type *old, struct type **made)
{
    return create_like(old, type_tree_copy(old->tree), (uint16_t)(old->depth - 1), made);
}

/* An array's type: its own tree around the body, which it takes over, resized to the whole array.
 */
static int create_array(struct type_tree *tree, struct type *body, struct type **made)
{
    struct bounds bounds = {0};

    tree->body = body;
    count_in(&bounds, body, 1);
    cover(&bounds, body, 0);
    return create(tree, &bounds, made);
}

/* ---- arrays (MPI-5.0 5.1.3, 5.1.4), made of the above ---- */

/* Take the place of *type, which is released. */
static void replace(struct type **type, struct type *by)
{
    type_unref(*type);
    *type = by;
}

/* Replace *type by a type at a displacement, with lb 0 and an extent. */
static int place_in_array(struct type **type, int64_t at, int64_t extent)
{
    const int64_t one = 1;
    const struct type_blocks block = {MPI_COMBINER_HINDEXED_BLOCK, 1, &one, &at};
    struct type *placed, *sized;

    int rc = type_make_indexed(&block, *type, &placed);
    if (rc)
        return rc;
    rc = type_make_resized(placed, 0, extent, &sized);
    type_unref(placed);
    if (!rc)
        replace(type, sized);
    return rc;
}

/* Dimension d, counted from the fastest, in the order of the arguments. */
static int dimension(int order, int ndims, int d)
{
    return order == MPI_ORDER_FORTRAN ? d : ndims - 1 - d;
}

static int subarray_body(const struct type_subarray *array, struct type *old, struct type **made)
{
    struct bounds check = {0};
    int64_t step = old->extent, start = 0; /* bytes from index to index; of the first element */
    struct type *body = old;
    int rc = 0;

    type_ref(old);
    for (int d = 0; !rc && d < array->ndims; d++) {
        int i = dimension(array->order, array->ndims, d);
        struct type *next;
        rc = d == 0
                 ? type_make_contiguous(array->subsizes[i], body, &next)
                 : type_make_vector(MPI_COMBINER_HVECTOR, array->subsizes[i], 1, step, body, &next);
        if (rc)
            break;
        replace(&body, next);
        start = sum(&check, start, product(&check, array->starts[i], step));
        step = product(&check, step, array->sizes[i]);
        if (check.failed)
            rc = MPI_ERR_COUNT;
    }
    if (!rc)
        rc = place_in_array(&body, start, step);
    if (rc)
        type_unref(body);
    else
        *made = body;
    return rc;
}

int type_make_subarray(const struct type_subarray *array, struct type *old, struct type **made)
{
    size_t len = (size_t)array->ndims * sizeof(int64_t);
    struct type_tree *tree = tree_over(MPI_COMBINER_SUBARRAY, old, 3 * (int64_t)array->ndims + 2);
    struct type *body;

    if (!tree)
        return MPI_ERR_NO_MEM;
    int64_t *arg = tree->args;
    *arg++ = array->ndims;
    memcpy(arg, array->sizes, len);
    memcpy(arg + array->ndims, array->subsizes, len);
    memcpy(arg + 2 * array->ndims, array->starts, len);
    arg[3 * array->ndims] = array->order;
    int rc = subarray_body(array, old, &body);
    if (rc) {
        type_tree_destroy(tree);
        return rc;
    }
    return create_array(tree, body, made);
}

/* One dimension of a distributed array: the indices that a process has. */
struct share {
    int64_t block;      /* indices to a block */
    int64_t first;      /* of the first block */
    int64_t cycle;      /* from block to block */
    int64_t full, rest; /* whole blocks; indices of the last, cut one */
};

static struct share share_of(const struct type_darray *array, int i, int64_t coord)
{
    int64_t g = array->gsizes[i], p = array->psizes[i], darg = array->dargs[i];
    struct share s = {0};

    if (array->distribs[i] == MPI_DISTRIBUTE_NONE)
        s.block = g;
    else if (array->distribs[i] == MPI_DISTRIBUTE_BLOCK)
        s.block = darg == MPI_DISTRIBUTE_DFLT_DARG ? g / p + (g % p != 0) : darg;
    else
        s.block = darg == MPI_DISTRIBUTE_DFLT_DARG ? 1 : darg;
    if (s.block == 0 || __builtin_mul_overflow(coord, s.block, &s.first) || s.first >= g)
        return (struct share){.cycle = 1};
    if (__builtin_mul_overflow(p, s.block, &s.cycle))
        s.cycle = g; /* longer than the array: one block at most */
    int64_t left = g - s.first;
    s.full = left / s.cycle;
    int64_t tail = left - s.full * s.cycle;
    if (tail >= s.block)
        s.full++;
    else
        s.rest = tail;
    return s;
}

/* Make *type, spaced step apart, this process's share of one dimension. */
static int spread(struct type **type, const struct share *s, int64_t step)
{
    struct bounds check = {0};
    int64_t cycle = s->full ? product(&check, s->cycle, step) : 0;
    int64_t first = product(&check, s->first, step);
    int64_t last = s->rest ? sum(&check, first, product(&check, s->full, cycle)) : first;
    struct type *spaced = NULL, *whole = NULL, *cut = NULL, *both = NULL;

    int rc = check.failed ? MPI_ERR_COUNT : type_make_resized(*type, 0, step, &spaced);
    if (!rc)
        rc = type_make_vector(MPI_COMBINER_HVECTOR, s->full, s->block, cycle, spaced, &whole);
    if (!rc)
        rc = type_make_contiguous(s->rest, spaced, &cut);
    if (!rc)
        rc = type_make_struct(2, (int64_t[]){1, 1}, (int64_t[]){first, last},
                              (struct type *[]){whole, cut}, &both);
    type_unref(spaced);
    type_unref(whole);
    type_unref(cut);
    if (!rc)
        replace(type, both);
    return rc;
}

/* This process's place in dimension i of the grid, which is in C order whatever the array's order.
 */
static int grid_coord(const struct type_darray *array, int i)
{
    int below = 1;

    for (int k = i + 1; k < array->ndims; k++)
        below *= array->psizes[k];
    return array->rank / below % array->psizes[i];
}

static int darray_body(const struct type_darray *array, struct type *old, struct type **made)
{
    struct bounds check = {0};
    int64_t step = old->extent;
    struct type *body = old;
    int rc = 0;

    type_ref(old);
    for (int d = 0; !rc && d < array->ndims; d++) {
        int i = dimension(array->order, array->ndims, d);
        const struct share share = share_of(array, i, grid_coord(array, i));
        rc = spread(&body, &share, step);
        step = product(&check, step, array->gsizes[i]);
        if (!rc && check.failed)
            rc = MPI_ERR_COUNT;
    }
    if (!rc)
        rc = place_in_array(&body, 0, step);
    if (rc)
        type_unref(body);
    else
        *made = body;
    return rc;
}

int type_make_darray(const struct type_darray *array, struct type *old, struct type **made)
{
    const int n = array->ndims;
    struct type_tree *tree = tree_over(MPI_COMBINER_DARRAY, old, 4 * (int64_t)n + 4);
    struct type *body;

    if (!tree)
        return MPI_ERR_NO_MEM;
    int64_t *arg = tree->args;
    *arg++ = array->size;
    *arg++ = array->rank;
    *arg++ = n;
    memcpy(arg, array->gsizes, (size_t)n * sizeof(*arg));
    arg += n;
    for (int i = 0; i < n; i++) {
        arg[i] = array->distribs[i];
        arg[n + i] = array->dargs[i];
        arg[2 * n + i] = array->psizes[i];
    }
    arg[3 * n] = array->order;
    int rc = darray_body(array, old, &body);
    if (rc) {
        type_tree_destroy(tree);
        return rc;
    }
    return create_array(tree, body, made);
}
