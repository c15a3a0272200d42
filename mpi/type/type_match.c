/* SPDX-License-Identifier: BSD-3-Clause */

/* Predefined types by their contents; see mpi/type/type_match.h. */

#include "mpi/type/type_match.h"

#include <float.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "mpi/type/type_tree.h"
#include "os/lock.h"

/* ---- a class and a size ---- */

struct type *type_match_size(int typeclass, int size)
{
    static const struct {
        int typeclass;
        MPI_Datatype types[5];
    } rows[] = {
        {MPI_TYPECLASS_INTEGER,
         {MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_INTEGER16}},
        {MPI_TYPECLASS_REAL, {MPI_REAL2, MPI_REAL4, MPI_REAL8, MPI_REAL16, MPI_DATATYPE_NULL}},
        {MPI_TYPECLASS_COMPLEX,
         {MPI_COMPLEX4, MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32, MPI_DATATYPE_NULL}},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int k = 0; rows[i].typeclass == typeclass && k < 5; k++) {
            struct type *type = type_from(rows[i].types[k]);
            if (type && type->size == size)
                return type;
        }
    }
    return NULL;
}

/* ---- those without a name ---- */

/* A type that was asked for, and the question: p and r, or two handles. */
struct matched_type {
    struct type type;
    struct matched_type *next;
    int combiner;
    intptr_t key[2];
};

enum {
    BUCKETS = 64
};

/* The lists only grow, as predefined types are never freed. So they are searched without a lock. */
static struct matched_type *_Atomic buckets[BUCKETS];
static struct os_lock lock = OS_LOCK_INIT; /* for who enters one */

static struct matched_type *_Atomic *bucket_of(const struct matched_type *like)
{
    uint64_t mixed =
        (uint64_t)like->combiner + 31 * (uint64_t)like->key[0] + 961 * (uint64_t)like->key[1];

    return &buckets[mixed * 0x9e3779b97f4a7c15u >> 58];
}

static struct matched_type *find(const struct matched_type *like)
{
    struct matched_type *match = atomic_load_explicit(bucket_of(like), memory_order_acquire);

    while (match && (match->combiner != like->combiner || match->key[0] != like->key[0] ||
                     match->key[1] != like->key[1]))
        match = match->next;
    return match;
}

/* Locked. Make a copy of this type with its tree, which it takes over. NULL: no memory. */
static struct matched_type *make(const struct matched_type *like, struct type_tree *tree)
{
    struct matched_type *match = tree ? os_stretch_get(64, sizeof(*match)) : NULL;

    if (!match)
        goto error;
    *match = *like;
    object_init(&match->type.object, OBJECT_TYPE);
    match->type.predefined = true;
    match->type.handle = (MPI_Datatype)&match->type;
    match->type.tree = tree;
    if (type_commit(&match->type))
        goto error;
    match->next = *bucket_of(like);
    atomic_store_explicit(bucket_of(like), match, memory_order_release);
    return match;
error:
    if (match)
        os_stretch_put(match, sizeof(*match));
    type_tree_destroy(tree);
    return NULL;
}

/* Enter a type, unless another thread has; then return that one. NULL: no memory. */
static struct matched_type *enter(const struct matched_type *like, struct type_tree *tree)
{
    os_lock(&lock);
    struct matched_type *match = find(like);
    if (match)
        type_tree_destroy(tree);
    else
        match = make(like, tree);
    os_unlock(&lock);
    return match;
}

/* ---- Fortran's kinds ---- */

/* The type of the kind that selected_real_kind or selected_int_kind chooses: gfortran's smallest
 * sufficient one. NULL: there is none. */
static const struct type *kind_of(int combiner, int p, int r)
{
    static const struct {
        int precision, range;
        MPI_Datatype real, complex;
    } reals[] = {
        {6, 37, MPI_REAL4, MPI_COMPLEX8},
        {15, 307, MPI_REAL8, MPI_COMPLEX16},
#if LDBL_MANT_DIG == 64
        {18, 4931, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
#endif
        {33, 4931, MPI_REAL16, MPI_COMPLEX32},
    };
    static const struct {
        int range;
        MPI_Datatype integer;
    } integers[] = {{2, MPI_INTEGER1},
                    {4, MPI_INTEGER2},
                    {9, MPI_INTEGER4},
                    {18, MPI_INTEGER8},
                    {38, MPI_INTEGER16}};

    if (combiner == MPI_COMBINER_F90_INTEGER) {
        for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++)
            if (r <= integers[i].range)
                return type_from(integers[i].integer);
        return NULL;
    }
    for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
        if (p <= reals[i].precision && r <= reals[i].range)
            return type_from(combiner == MPI_COMBINER_F90_REAL ? reals[i].real : reals[i].complex);
    return NULL;
}

static struct matched_type *f90_enter(const struct matched_type *like, int combiner, int p, int r)
{
    bool integer = combiner == MPI_COMBINER_F90_INTEGER;
    struct type_tree *tree = type_tree_create(combiner, integer ? 1 : 2, 0);
    if (tree) {
        tree->args[0] = integer ? r : p;
        tree->args[integer ? 0 : 1] = r;
    }
    return enter(like, tree);
}

int type_match_f90(int combiner, int p, int r, struct type **found)
{
    bool no_p = p == MPI_UNDEFINED || combiner == MPI_COMBINER_F90_INTEGER;
    bool no_r = r == MPI_UNDEFINED;
    const struct type *same = NULL;

    if ((!no_p && p < 0) || (!no_r && r < 0))
        return MPI_ERR_ARG;
    if (!no_p || !no_r)
        same = kind_of(combiner, no_p ? 0 : p, no_r ? 0 : r);
    if (!same)
        return MPI_ERR_ARG;
    struct matched_type like = {.combiner = combiner, .key = {p, r}};
    struct matched_type *match = find(&like);
    if (!match) {
        memcpy(&like.type, same, offsetof(struct type, attrs)); /* but for what enter() sets */
        match = f90_enter(&like, combiner, p, r);
    }
    if (!match)
        return MPI_ERR_NO_MEM;
    *found = &match->type;
    return 0;
}

/* ---- a value and its index ---- */

/* A C struct of the two. */
static void lay_out_pair(struct type *pair, const struct type *value, const struct type *index)
{
    MPI_Count align = value->align > index->align ? value->align : index->align;
    MPI_Count index_at = (value->size + index->align - 1) / index->align * index->align;

    pair->align = (uint8_t)align;
    pair->size = value->size + index->size;
    pair->external = value->external + index->external;
    pair->true_extent = index_at + index->size;
    pair->extent = (pair->true_extent + align - 1) / align * align;
    pair->elements = 2;
    pair->extended = value->extended;
    pair->wide = value->wide || index->wide;
}

static struct type *named_pair(const struct type *value, const struct type *index)
{
    struct type_pair pair;

    for (int place = 0; place < 256; place++) {
        struct type *type = type_of_place((uint8_t)place);
        if (type_pair(type, &pair) && pair.value == value && pair.index == index)
            return type;
    }
    return NULL;
}

static bool is_integer(const struct type *type)
{
    return type->form == TYPE_SIGNED || type->form == TYPE_UNSIGNED;
}

static struct matched_type *pair_enter(const struct matched_type *like, struct type *value,
                                       struct type *index)
{
    struct type_tree *tree = type_tree_create(MPI_COMBINER_VALUE_INDEX, 0, 2);
    if (tree) {
        tree->types[0] = value;
        tree->types[1] = index;
    }
    return enter(like, tree);
}

int type_match_pair(struct type *value, struct type *index, struct type **found)
{
    struct matched_type like = {.combiner = MPI_COMBINER_VALUE_INDEX,
                                .key = {(intptr_t)value, (intptr_t)index}};

    *found = named_pair(value, index);
    if (*found || !is_integer(index) ||
        (!is_integer(value) && value->form != TYPE_FLOATING && value->form != TYPE_EXTENDED))
        return 0;
    struct matched_type *match = find(&like);
    if (!match) {
        lay_out_pair(&like.type, value, index);
        match = pair_enter(&like, value, index);
    }
    if (!match)
        return MPI_ERR_NO_MEM;
    *found = &match->type;
    return 0;
}
