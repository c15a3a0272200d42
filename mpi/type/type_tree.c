/* SPDX-License-Identifier: BSD-3-Clause */

/* Trees of types: see mpi/type/type_tree.h. */

#include "mpi/type/type_tree.h"

#include <stdlib.h>
#include <string.h>

struct type_tree *type_tree_create(int combiner, int64_t arg_count, int64_t type_count)
{
    struct type_tree *tree = NULL;
    size_t args, types, size;

    if (!__builtin_mul_overflow((size_t)arg_count, sizeof(*tree->args), &args) &&
        !__builtin_mul_overflow((size_t)type_count, sizeof(struct type *), &types) &&
        !__builtin_add_overflow(args, types, &size) &&
        !__builtin_add_overflow(size, sizeof(*tree), &size))
        tree = calloc(1, size);
    if (!tree)
        return NULL;
    tree->combiner = combiner;
    tree->arg_count = arg_count;
    tree->type_count = type_count;
    tree->args = (int64_t *)(tree + 1);
    tree->types = (struct type **)(tree->args + arg_count);
    return tree;
}

void type_tree_destroy(struct type_tree *tree)
{
    if (!tree)
        return;
    for (int64_t i = 0; i < tree->type_count; i++)
        type_unref(tree->types[i]);
    type_unref(tree->body);
    free(tree);
}

struct type_tree *type_tree_copy(const struct type_tree *tree)
{
    struct type_tree *copy = type_tree_create(tree->combiner, tree->arg_count, tree->type_count);

    if (!copy)
        return NULL;
    copy->large = tree->large;
    for (int64_t i = 0; i < tree->arg_count; i++)
        copy->args[i] = tree->args[i];
    for (int64_t i = 0; i < tree->type_count; i++) {
        copy->types[i] = tree->types[i];
        type_ref(copy->types[i]);
    }
    copy->body = tree->body;
    if (copy->body)
        type_ref(copy->body);
    return copy;
}

/* ---- envelope and contents ---- */

/* Sorts of arguments: their type in a call with int counts, and in one with large counts. */
enum sort {
    SORT_INTEGER, /* integer in both */
    SORT_COUNT,   /* integer, or large count */
    SORT_ADDRESS  /* address, or large count */
};

/* A run of arguments of one sort. */
struct argument_run {
    enum sort sort;
    int64_t len;
};

/* Find the runs that the arguments of a type consist of; returns how many. */
static int runs_of(const struct type_tree *tree, struct argument_run runs[4])
{
    switch (tree->combiner) {
    case MPI_COMBINER_HVECTOR:
        runs[0] = (struct argument_run){SORT_COUNT, 2};
        runs[1] = (struct argument_run){SORT_ADDRESS, 1};
        return 2;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
        runs[0] = (struct argument_run){SORT_COUNT, 1 + tree->args[0]};
        runs[1] = (struct argument_run){SORT_ADDRESS, tree->args[0]};
        return 2;
    case MPI_COMBINER_HINDEXED_BLOCK:
        runs[0] = (struct argument_run){SORT_COUNT, 2};
        runs[1] = (struct argument_run){SORT_ADDRESS, tree->args[0]};
        return 2;
    case MPI_COMBINER_SUBARRAY:
        runs[0] = (struct argument_run){SORT_INTEGER, 1};
        runs[1] = (struct argument_run){SORT_COUNT, 3 * tree->args[0]};
        runs[2] = (struct argument_run){SORT_INTEGER, 1};
        return 3;
    case MPI_COMBINER_DARRAY:
        runs[0] = (struct argument_run){SORT_INTEGER, 3};
        runs[1] = (struct argument_run){SORT_COUNT, tree->args[2]};
        runs[2] = (struct argument_run){SORT_INTEGER, 3 * tree->args[2] + 1};
        return 3;
    case MPI_COMBINER_RESIZED: runs[0] = (struct argument_run){SORT_ADDRESS, 2}; return 1;
    default: /* CONTIGUOUS, VECTOR, INDEXED, INDEXED_BLOCK, DUP */
        runs[0] = (struct argument_run){SORT_COUNT, tree->arg_count};
        return 1;
    }
}

void type_tree_envelope(const struct type *type, struct type_tree_counts *counts)
{
    const struct type_tree *tree = type->tree;
    struct argument_run runs[4];

    *counts = (struct type_tree_counts){.combiner = MPI_COMBINER_NAMED};
    if (!tree)
        return;
    int n = runs_of(tree, runs);
    for (int i = 0; i < n; i++) {
        if (runs[i].sort == SORT_INTEGER)
            counts->integers += runs[i].len;
        else if (tree->large)
            counts->larges += runs[i].len;
        else if (runs[i].sort == SORT_COUNT)
            counts->integers += runs[i].len;
        else
            counts->addresses += runs[i].len;
    }
    counts->types = tree->type_count;
    counts->combiner = tree->combiner;
}

void type_tree_contents(const struct type *type, int *integers, MPI_Aint *addresses,
                        MPI_Count *larges)
{
    const struct type_tree *tree = type->tree;
    const int64_t *arg = tree->args;
    struct argument_run runs[4];
    int n = runs_of(tree, runs);

    for (int i = 0; i < n; i++) {
        for (int64_t k = 0; k < runs[i].len; k++, arg++) {
            if (runs[i].sort != SORT_INTEGER && tree->large)
                *larges++ = *arg;
            else if (runs[i].sort != SORT_ADDRESS)
                *integers++ = (int)*arg;
            else
                *addresses++ = *arg;
        }
    }
}

/* ---- counting basic elements ---- */

/* Elements in bytes, or bytes of elements, of a predefined type; less than one element. */
static MPI_Count inside_predefined(const struct type *type, MPI_Count amount, bool from_bytes)
{
    struct type_pair pair;

    if (amount == 0)
        return 0;
    if (!type_pair(type, &pair))
        return MPI_UNDEFINED;
    if (from_bytes)
        return amount == pair.value->size ? 1 : MPI_UNDEFINED;
    return pair.value->size; /* of one of the two */
}

/*
 * Convert bytes to basic elements, or elements to bytes: whole elements of type at once, then the
 * rest, which is less than one element, block by block. MPI_UNDEFINED: the bytes end within a basic
 * element.
 */
static MPI_Count convert(const struct type *type, MPI_Count amount, bool from_bytes)
{
    MPI_Count result = 0;

    for (;;) {
        MPI_Count unit = from_bytes ? type->size : type->elements;
        MPI_Count gives = from_bytes ? type->elements : type->size;
        MPI_Count whole = unit ? amount / unit : 0;
        if (__builtin_mul_overflow(whole, gives, &gives) ||
            __builtin_add_overflow(result, gives, &result))
            return -1;
        amount -= whole * unit;
        if (type->predefined || amount == 0 || !unit) {
            MPI_Count last = type->predefined ? inside_predefined(type, amount, from_bytes) : 0;
            if (last == MPI_UNDEFINED || (amount && !unit))
                return MPI_UNDEFINED;
            return result + last;
        }
        const struct type_tree *tree = type->tree;
        if (tree->combiner != MPI_COMBINER_STRUCT) {
            type = tree->types[0];
            continue;
        }
        int64_t i = 0;
        for (;; i++) { /* ends: less than one struct is left */
            const struct type *part = tree->types[i];
            MPI_Count block = tree->args[1 + i] * (from_bytes ? part->size : part->elements);
            if (block > amount || (block == amount && block > 0))
                break;
            amount -= block;
            result += tree->args[1 + i] * (from_bytes ? part->elements : part->size);
        }
        type = tree->types[i];
    }
}

MPI_Count type_tree_elements(const struct type *type, MPI_Count bytes)
{
    return convert(type, bytes, true);
}

MPI_Count type_tree_bytes(const struct type *type, MPI_Count elements)
{
    return convert(type, elements, false);
}
