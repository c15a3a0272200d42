/* SPDX-License-Identifier: BSD-3-Clause */

/* Type signatures as numbers: polynomials in a constant, an element a coefficient; see type_hash.h. */
#include "mpi/type/type_hash.h"

#include <stddef.h>

#include "mpi/type/type_tree.h"

static const uint64_t base = 0x9e3779b97f4a7c15u;

static uint64_t power(uint64_t exponent)
{
    uint64_t result = 1, square = base;
    for (; exponent; exponent >>= 1, square *= square)
        if (exponent & 1)
            result *= square;
    return result;
}

static struct type_hash join(struct type_hash a, struct type_hash b)
{
    return (struct type_hash){a.value * power(b.elements) + b.value, a.elements + b.elements};
}

static struct type_hash repeat(struct type_hash one, MPI_Count count)
{
    struct type_hash all = {0, 0};
    for (; count > 0; count >>= 1, one = join(one, one))
        if (count & 1)
            all = join(all, one);
    return all;
}

static struct type_hash of_basic(const struct type *type)
{
    const struct type *as = type->place ? type_of_place(type->place) : type;
    struct type_pair pair;
    if (type_pair(type, &pair))
        return join(of_basic(pair.value), of_basic(pair.index));
    return (struct type_hash){(uint64_t)as->form << 32 | (uint64_t)as->size, 1};
}

/* Of one element. All that a constructor takes of one type it takes so often as sizes say. */
static struct type_hash of_type(const struct type *type)
{
    const struct type_tree *tree = type->tree;
    if (type->predefined || !tree || tree->type_count == 0)
        return of_basic(type);
    if (tree->combiner == MPI_COMBINER_STRUCT) {
        struct type_hash all = {0, 0};
        for (int64_t i = 0; i < tree->type_count; i++)
            all = join(all, repeat(of_type(tree->types[i]), tree->args[1 + i]));
        return all;
    }
    const struct type *child = tree->types[0];
    return repeat(of_type(child), child->size ? type->size / child->size : 0);
}

struct type_hash type_hash(const struct type *type, MPI_Count count)
{
    return repeat(of_type(type), count);
}
