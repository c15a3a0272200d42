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

/* The same type so often in a row: one of the parts that a type consists of. */
struct type_part {
    const struct type *type;
    MPI_Count count;
};

static int64_t part_count(const struct type *type)
{
    const struct type_tree *tree = type->tree;
    if (type->predefined || !tree || tree->type_count == 0)
        return 0;
    return tree->combiner == MPI_COMBINER_STRUCT ? tree->type_count : 1;
}

static struct type_part part_of(const struct type *type, int64_t index)
{
    const struct type_tree *tree = type->tree;
    if (tree->combiner == MPI_COMBINER_STRUCT)
        return (struct type_part){tree->types[index], tree->args[1 + index]};
    const struct type *child = tree->types[0];
    return (struct type_part){child, child->size ? type->size / child->size : 0};
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
    if (!part_count(type))
        return of_basic(type);
    struct type_hash all = {0, 0};
    for (int64_t i = 0; i < part_count(type); i++) {
        struct type_part part = part_of(type, i);
        all = join(all, repeat(of_type(part.type), part.count));
    }
    return all;
}

/* Of a basic type, or the first half of a pair. */
static struct type_hash first_basic(const struct type *type, uint64_t elements)
{
    struct type_pair pair;
    if (elements == 1 && type_pair(type, &pair))
        return of_basic(pair.value);
    return of_basic(type);
}

struct type_hash type_hash_first(const struct type *type, uint64_t elements)
{
    struct type_hash one = of_type(type), all = {0, 0};
    uint64_t left = elements;
    if (!elements || !one.elements)
        return all;
    all = repeat(one, (MPI_Count)(elements / one.elements));
    left = elements % one.elements;
    if (left && !part_count(type))
        return join(all, first_basic(type, left));
    for (int64_t i = 0; left && i < part_count(type); i++) {
        struct type_part part = part_of(type, i);
        uint64_t whole = of_type(part.type).elements * (uint64_t)part.count;
        uint64_t taken = left < whole ? left : whole;
        all = join(all, type_hash_first(part.type, taken));
        left -= taken;
    }
    return all;
}

bool type_is_untyped(const struct type *type)
{
    if (!type->size || type->handle == MPI_BYTE || type->handle == MPI_PACKED)
        return true;
    bool untyped = part_count(type) > 0;
    for (int64_t i = 0; untyped && i < part_count(type); i++)
        untyped = type_is_untyped(part_of(type, i).type);
    return untyped;
}

struct type_hash type_hash(const struct type *type, MPI_Count count)
{
    return repeat(of_type(type), count);
}
