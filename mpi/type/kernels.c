/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Make kernels from a type's tree. The makers (loop_over, sequence_of) take over the
 * reference of each part that they are given, also when they fail, and return the
 * simplest part that means the same.
 */

#include "mpi/type/kernels.h"

#include <stdlib.h>
#include <string.h>

#include "mpi/type/kernels_copy.h"
#include "mpi/type/type_tree.h"

enum {
    FLATTEN_TURNS = 16, /* a loop of at most so many blocks may become entries of a list */
    FLATTEN_MAX = 64    /* where the list has at most so many */
};

/* ---- life of kernels and parts ---- */

static void part_release(struct kernel_part *part);

static void kernel_unref(struct kernel *kernel)
{
    if (!kernel || atomic_fetch_sub_explicit(&kernel->refs, 1, memory_order_acq_rel) > 1)
        return;
    if (kernel->kind == KERNEL_LOOP)
        part_release(&kernel->child);
    for (int64_t i = 0; kernel->kind == KERNEL_SEQUENCE && i < kernel->count; i++)
        part_release(&kernel->parts[i]);
    free(kernel);
}

static void part_release(struct kernel_part *part)
{
    kernel_unref(part->kernel);
    *part = (struct kernel_part){0, 0, NULL};
}

static struct kernel_part part_ref(const struct kernel_part *part)
{
    if (part->kernel)
        atomic_fetch_add_explicit(&part->kernel->refs, 1, memory_order_relaxed);
    return *part;
}

static struct kernel_part contiguous(int64_t offset, int64_t size)
{
    return (struct kernel_part){offset, size, NULL};
}

/* A kernel with room for words 64-bit integers and parts; NULL: no memory. */
static struct kernel *kernel_create(enum kernel_kind kind, int64_t count, int64_t words,
                                    int64_t parts)
{
    size_t size = sizeof(struct kernel) + (size_t)parts * sizeof(struct kernel_part) +
                  (size_t)words * sizeof(int64_t);
    struct kernel *kernel = malloc(size);

    if (!kernel)
        return NULL;
    memset(kernel, 0, sizeof(*kernel));
    atomic_init(&kernel->refs, 1);
    kernel->kind = kind;
    kernel->count = count;
    return kernel;
}

/* ---- loops ---- */

static bool is_loop(const struct kernel_part *part)
{
    return part->kernel && part->kernel->kind == KERNEL_LOOP;
}

static bool is_loop_of_blocks(const struct kernel_part *part)
{
    return is_loop(part) && part->kernel->form == FORM_BLOCKS;
}

/* Choose how to run a loop, by the kind of its child. */
static void choose_form(struct kernel *loop)
{
    const struct kernel *child = loop->child.kernel;

    loop->form = FORM_ANY;
    if (!child) {
        loop->form = FORM_BLOCKS;
        loop->size_class = copy_class(loop->child.size);
    } else if (is_loop_of_blocks(&loop->child)) {
        loop->form = FORM_GRID;
        loop->size_class = child->size_class;
    } else if (child->kind == KERNEL_LIST && child->count <= COPY_COLUMNS_MAX &&
               loop->child.size <= COPY_STRUCT_MAX) {
        loop->form = FORM_COLUMNS;
    }
}

/* Whether a part is a loop, and the part stride bytes later continues its turns. */
static bool goes_on(const struct kernel_part *part, int64_t stride)
{
    int64_t reach;

    return is_loop(part) &&
           !__builtin_mul_overflow(part->kernel->count, part->kernel->stride, &reach) &&
           reach == stride;
}

/* Count times *part, stride bytes apart, in its place. */
static int loop_over(struct kernel_part *part, int64_t count, int64_t stride)
{
    if (count == 0 || part->size == 0) {
        part_release(part);
        return 0;
    }
    if (count == 1)
        return 0;
    if (!part->kernel && stride == part->size) {
        part->size *= count;
        return 0;
    }
    struct kernel_part child = *part;
    int64_t size = part->size * count;
    if (goes_on(part, stride)) {
        child = part_ref(&part->kernel->child);
        child.offset += part->offset;
        count *= part->kernel->count;
        stride = part->kernel->stride;
        part_release(part);
    }
    struct kernel *loop = kernel_create(KERNEL_LOOP, count, 0, 0);
    if (!loop) {
        part_release(&child);
        *part = contiguous(0, 0);
        return MPI_ERR_NO_MEM;
    }
    *part = (struct kernel_part){child.offset, size, loop};
    child.offset = 0;
    loop->child = child;
    loop->stride = stride;
    choose_form(loop);
    return 0;
}

/* ---- sequences ---- */

static void release_all(struct kernel_part *parts, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        part_release(&parts[i]);
}

/* Drop empty parts and join blocks that adjoin. Returns how many parts are left. */
static int64_t join(struct kernel_part *parts, int64_t count)
{
    int64_t n = 0;

    for (int64_t i = 0; i < count; i++) {
        if (parts[i].size == 0)
            continue;
        struct kernel_part *last = n ? &parts[n - 1] : NULL;
        if (last && !last->kernel && !parts[i].kernel &&
            last->offset + last->size == parts[i].offset)
            last->size += parts[i].size;
        else
            parts[n++] = parts[i];
    }
    return n;
}

/* How many blocks a part would give when flattened; more than FLATTEN_MAX: too many. */
static int64_t blocks_in(const struct kernel_part *part)
{
    const struct kernel *kernel = part->kernel;

    if (!kernel)
        return 1;
    if (kernel->kind == KERNEL_LIST || (is_loop_of_blocks(part) && kernel->count <= FLATTEN_TURNS))
        return kernel->count;
    return FLATTEN_MAX + 1;
}

static int64_t list_start(const struct kernel *list, int64_t i)
{
    return list->block ? i * list->block : list->starts[i];
}

/* The blocks of a part that is fit for it, from blocks on. Returns how many. */
static int64_t flatten_one(const struct kernel_part *part, struct kernel_part *blocks)
{
    const struct kernel *kernel = part->kernel;

    if (!kernel) {
        blocks[0] = *part;
        return 1;
    }
    for (int64_t i = 0; i < kernel->count; i++) {
        if (kernel->kind == KERNEL_LOOP)
            blocks[i] = contiguous(part->offset + kernel->child.offset + i * kernel->stride,
                                   kernel->child.size);
        else
            blocks[i] = contiguous(part->offset + kernel->offsets[i],
                                   list_start(kernel, i + 1) - list_start(kernel, i));
    }
    return kernel->count;
}

/* Make one list of blocks from a few small kernels among the parts. Returns the number of blocks in
 * blocks[FLATTEN_MAX], or 0: left alone. */
static int64_t flatten(struct kernel_part *parts, int64_t count, struct kernel_part *blocks)
{
    int64_t n = 0;

    for (int64_t i = 0; i < count && n <= FLATTEN_MAX; i++)
        n += blocks_in(&parts[i]);
    if (n > FLATTEN_MAX)
        return 0;
    n = 0;
    for (int64_t i = 0; i < count; i++)
        n += flatten_one(&parts[i], blocks + n);
    release_all(parts, count);
    return join(blocks, n);
}

/* Whether the parts are one part repeated at equal distances. */
static bool is_regular(const struct kernel_part *parts, int64_t count)
{
    int64_t stride = parts[1].offset - parts[0].offset;

    for (int64_t i = 1; i < count; i++) {
        if (parts[i].kernel != parts[0].kernel || parts[i].size != parts[0].size ||
            parts[i].offset - parts[i - 1].offset != stride)
            return false;
    }
    return true;
}

static int list_of(const struct kernel_part *blocks, int64_t count, struct kernel_part *made)
{
    int64_t size = 0;
    bool even = true;

    for (int64_t i = 0; i < count; i++) {
        even &= blocks[i].size == blocks[0].size;
        size += blocks[i].size;
    }
    struct kernel *list = kernel_create(KERNEL_LIST, count, even ? count : 2 * count + 1, 0);
    if (!list)
        return MPI_ERR_NO_MEM;
    list->offsets = (int64_t *)(list + 1);
    if (even) {
        list->block = blocks[0].size;
        list->size_class = copy_class(list->block);
    } else {
        list->starts = list->offsets + count;
        list->starts[0] = 0;
    }
    for (int64_t i = 0; i < count; i++) {
        list->offsets[i] = blocks[i].offset;
        if (!even)
            list->starts[i + 1] = list->starts[i] + blocks[i].size;
    }
    *made = (struct kernel_part){0, size, list};
    return 0;
}

static int mixture_of(struct kernel_part *parts, int64_t count, struct kernel_part *made)
{
    struct kernel *sequence = kernel_create(KERNEL_SEQUENCE, count, count + 1, count);

    if (!sequence) {
        release_all(parts, count);
        return MPI_ERR_NO_MEM;
    }
    sequence->parts = (struct kernel_part *)(sequence + 1);
    sequence->starts = (int64_t *)(sequence->parts + count);
    sequence->starts[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        sequence->parts[i] = parts[i];
        sequence->starts[i + 1] = sequence->starts[i] + parts[i].size;
    }
    *made = (struct kernel_part){0, sequence->starts[count], sequence};
    return 0;
}

/* One part after the other. Consumes parts[]. */
static int sequence_of(struct kernel_part *parts, int64_t count, struct kernel_part *made)
{
    struct kernel_part blocks[FLATTEN_MAX];
    int64_t n = join(parts, count);

    *made = contiguous(0, 0);
    if (n == 0)
        return 0;
    if (n > 1) {
        int64_t flat = flatten(parts, n, blocks);
        if (flat) {
            parts = blocks;
            n = flat;
        }
    }
    if (n == 1) {
        *made = parts[0];
        return 0;
    }
    if (is_regular(parts, n)) {
        int64_t stride = parts[1].offset - parts[0].offset;
        release_all(parts + 1, n - 1);
        *made = parts[0];
        return loop_over(made, n, stride);
    }
    for (int64_t i = 0; i < n; i++) {
        if (parts[i].kernel)
            return mixture_of(parts, n, made);
    }
    return list_of(parts, n, made);
}

/* ---- from types ---- */

static int part_of(struct type *type, struct kernel_part *part);

/* Length elements of a type, from a displacement on. */
static int block_of(struct type *type, int64_t len, int64_t at, struct kernel_part *part)
{
    *part = contiguous(0, 0);
    if (len == 0 || type->size == 0)
        return 0;
    int rc = part_of(type, part);
    if (!rc)
        rc = loop_over(part, len, type->extent);
    if (!rc)
        part->offset += at;
    return rc;
}

static int vector_part(const struct type_tree *tree, struct kernel_part *part)
{
    struct type *old = tree->types[0];
    int64_t stride = tree->args[2];
    int rc = block_of(old, tree->args[1], 0, part);

    if (!rc && part->size && tree->args[0] > 1 && tree->combiner == MPI_COMBINER_VECTOR)
        stride *= old->extent;
    return rc ? rc : loop_over(part, tree->args[0], stride);
}

/* The places of the displacements and lengths of a list of blocks among the arguments. */
struct block_args {
    const int64_t *lengths, *displacements;
    bool equal;   /* one length for all */
    bool extents; /* displacements are in extents */
};

static struct block_args block_args_of(const struct type_tree *tree)
{
    struct block_args at = {.lengths = tree->args + 1};

    at.equal = tree->combiner == MPI_COMBINER_INDEXED_BLOCK ||
               tree->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    at.extents =
        tree->combiner == MPI_COMBINER_INDEXED || tree->combiner == MPI_COMBINER_INDEXED_BLOCK;
    at.displacements = at.lengths + (at.equal ? 1 : tree->args[0]);
    return at;
}

/* Blocks that were made before, by type and length, to be used again. */
enum {
    MADE = 32
};

static int64_t *made_slot(int64_t made[MADE], const struct type *type, int64_t len)
{
    uint64_t mixed = (uint64_t)len * 31 + (uint64_t)(uintptr_t)type / 64;

    return &made[mixed * 0x9e3779b97f4a7c15u >> 59];
}

/* The part of block i. made: the latest block of each kind, by made_slot(); -1: none. */
static int next_block(const struct type_tree *tree, const struct block_args *args, int64_t i,
                      struct kernel_part *parts, int64_t made[MADE])
{
    bool many = tree->combiner == MPI_COMBINER_STRUCT;
    struct type *type = tree->types[many ? i : 0];
    int64_t len = args->lengths[args->equal ? 0 : i];
    int64_t at = args->displacements[i], unit = args->extents ? type->extent : 1;

    parts[i] = contiguous(0, 0);
    if (len == 0 || type->size == 0)
        return 0;
    at *= unit;
    if (type->dense) {
        parts[i] = contiguous(at + type->true_lb, len * type->size);
        return 0;
    }
    int64_t *slot = made_slot(made, type, len), old = *slot;
    *slot = i;
    if (old < 0 || len != args->lengths[args->equal ? 0 : old] ||
        (many && type != tree->types[old]))
        return block_of(type, len, at, &parts[i]);
    parts[i] = part_ref(&parts[old]);
    parts[i].offset += at - args->displacements[old] * unit;
    return 0;
}

static int blocks_part(const struct type_tree *tree, struct kernel_part *part)
{
    const struct block_args args = block_args_of(tree);
    int64_t count = tree->args[0], made[MADE];
    int rc = 0;

    *part = contiguous(0, 0);
    if (count == 0)
        return 0;
    memset(made, -1, sizeof(made));
    struct kernel_part *parts = malloc((size_t)count * sizeof(*parts));
    if (!parts)
        return MPI_ERR_NO_MEM;
    for (int64_t i = 0; !rc && i < count; i++) {
        rc = next_block(tree, &args, i, parts, made);
        if (rc)
            release_all(parts, i);
    }
    if (!rc)
        rc = sequence_of(parts, count, part);
    free(parts);
    return rc;
}

static int pair_part(const struct type_pair *pair, struct kernel_part *part)
{
    struct kernel_part parts[2] = {contiguous(0, pair->value->size),
                                   contiguous(pair->index_at, pair->index->size)};

    return sequence_of(parts, 2, part);
}

static int tree_part(const struct type_tree *tree, struct kernel_part *part)
{
    if (tree->body)
        return part_of(tree->body, part);
    switch (tree->combiner) {
    case MPI_COMBINER_CONTIGUOUS: return block_of(tree->types[0], tree->args[0], 0, part);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR: return vector_part(tree, part);
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED: return part_of(tree->types[0], part);
    default: return blocks_part(tree, part);
    }
}

/* The data of one element. The result for a type is kept there, for the next use. */
static int part_of(struct type *type, struct kernel_part *part)
{
    *part = contiguous(0, 0);
    if (type->size == 0)
        return 0;
    if (!type->dense && !type->kernels) {
        int rc = kernels_build(type);
        if (rc)
            return rc;
    }
    *part = type->dense ? contiguous(type->true_lb, type->size) : part_ref(&type->kernels->root);
    return 0;
}

/* ---- programs ---- */

/* The loop over elements, joined with the outermost loop of one if possible. */
static void make_every(struct kernels *kernels, int64_t extent)
{
    struct kernel *every = &kernels->every;
    const struct kernel *root = kernels->root.kernel;

    every->kind = KERNEL_LOOP;
    every->child = kernels->root;
    every->stride = extent;
    kernels->per = 1;
    if (goes_on(&kernels->root, extent)) {
        every->child = root->child;
        every->child.offset += kernels->root.offset;
        every->stride = root->stride;
        kernels->per = root->count;
    }
    choose_form(every);
}

int kernels_build(struct type *type)
{
    struct type_pair pair;
    struct kernel_part root;
    int rc = 0;

    if (type->dense || type->kernels)
        return 0;
    if (type->size == 0) {
        type->dense = true;
        return 0;
    }
    if (type_pair(type, &pair))
        rc = pair_part(&pair, &root);
    else
        rc = tree_part(type->tree, &root);
    if (rc)
        return rc;
    if (!root.kernel && root.size == type->extent) {
        type->dense = true;
        return 0;
    }
    struct kernels *kernels = calloc(1, sizeof(*kernels));
    if (!kernels) {
        part_release(&root);
        return MPI_ERR_NO_MEM;
    }
    kernels->root = root;
    make_every(kernels, type->extent);
    type->kernels = kernels;
    return 0;
}

void kernels_destroy(struct kernels *kernels)
{
    if (!kernels)
        return;
    part_release(&kernels->root);
    free(kernels);
}
