/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Datatype objects: the predefined ones, references, commit, and places for the device.
 *
 * The predefined types are initialised data, so the start makes only the kernels of pairs with
 * gaps.
 */

#include "mpi/type/type.h"

#include <stddef.h>
#include <string.h>

#include "mpi/left.h"
#include "mpi/store.h"
#include "mpi/type/kernels.h"
#include "mpi/type/type_tree.h"
#include "mpi/type/type_turn.h"
#include "os/lock.h"
#include "os/quad.h"
#include "os/turn.h"

/* ---- tables of the predefined types ---- */

#define PAIR_OF(value, index) \
    struct {                  \
        value v;              \
        index i;              \
    }
#define PAIR_END(value, index)      (offsetof(PAIR_OF(value, index), i) + sizeof(index))
#define PAIR_IS_DENSE(value, index) (sizeof(PAIR_OF(value, index)) == sizeof(value) + sizeof(index))

#define IS_EXTENDED(form) (TYPE_##form == TYPE_EXTENDED || TYPE_##form == TYPE_EXTENDED_COMPLEX)

#define BASIC(place, name, ctype, form, external) [place] = sizeof(ctype),
#define PAIR(place, name, value, index, value_place, index_place, external) \
    [place] = PAIR_IS_DENSE(value, index) ? sizeof(PAIR_OF(value, index)) : 0,
const uint8_t type_constant_size[256] = {
#include "mpi/type/type_list.inc"
};
uint8_t type_placed_size[256] = {
#include "mpi/type/type_list.inc"
};
#undef BASIC
#define BASIC(place, name, ctype, form, external) [place] = IS_EXTENDED(form) ? 0 : sizeof(ctype),
uint8_t type_quick_size[256] = {
#include "mpi/type/type_list.inc"
};
#undef BASIC
#undef PAIR

#define BASIC(place, name, ctype, form, external) \
    [place] = TYPE_##form == TYPE_SIGNED || TYPE_##form == TYPE_UNSIGNED ? sizeof(ctype) : 0,
#define PAIR(place, name, value, index, value_place, index_place, external)
uint8_t type_quick_whole[256] = {
#include "mpi/type/type_list.inc"
};
#undef BASIC
#undef PAIR

static struct type constants[256];

#define BASIC(place, name, ctype, form, external)
#define PAIR(place, name, value, index, value_place, index_place, external) \
    [place] = {&constants[value_place], &constants[index_place],            \
               offsetof(PAIR_OF(value, index), i)},
static const struct type_pair pairs[256] = {
#include "mpi/type/type_list.inc"
};
#undef BASIC
#undef PAIR

enum { LONG_DOUBLE = 0x20 }; /* the row */

#define CONSTANT(row, called)                                                          \
    .object = {.word = OBJECT_TYPE, .refs = 1}, .committed = true, .predefined = true, \
    .place = (row), .name = {.text = called},                                          \
    .handle = (MPI_Datatype)((uintptr_t)MPI_DATATYPE_NULL + (row))
#define BASIC(place, name, ctype, what, in_external)                                          \
    [place] = {CONSTANT(place, #name), .dense = true,           .align = _Alignof(ctype),     \
               .size = sizeof(ctype),  .extent = sizeof(ctype), .true_extent = sizeof(ctype), \
               .elements = 1,          .form = TYPE_##what,     .external = (in_external),    \
               .extended = IS_EXTENDED(what),                                                 \
               .wide = sizeof(ctype) > 1},
#define PAIR(place, name, value, index, value_place, index_place, in_external) \
    [place] = {CONSTANT(place, #name),                                         \
               .external = (in_external), .dense = PAIR_IS_DENSE(value, index),\
               .align = _Alignof(PAIR_OF(value, index)),                       \
               .size = sizeof(value) + sizeof(index),                          \
               .extent = sizeof(PAIR_OF(value, index)),                        \
               .true_extent = PAIR_END(value, index),                          \
               .extended = (value_place) == LONG_DOUBLE,                       \
               .wide = true,                                                   \
               .elements = 2},
static struct type constants[256] = {
#include "mpi/type/type_list.inc"
};
#undef BASIC
#undef PAIR

static struct os_lock commit_lock = OS_LOCK_INIT;

static struct store store = {.lock = OS_LOCK_INIT};

void type_shut_quick(void)
{
    memset(type_quick_size, 0, sizeof(type_quick_size));
    memset(type_quick_whole, 0, sizeof(type_quick_whole));
}

/* ---- life ---- */

/* All data but single bytes are turned. */
static void turn_all(void)
{
    type_shut_quick();
    for (int i = 0; i < 256; i++)
        if (constants[i].wide)
            type_placed_size[i] = 0;
}

int type_init(void)
{
    if (os_turns)
        turn_all();
    for (int i = 0; i < 256; i++) {
        if (!pairs[i].value || constants[i].dense || constants[i].kernels)
            continue;
        int rc = kernels_build(&constants[i]);
        if (rc)
            return rc;
    }
    return 0;
}

void type_fini(void)
{
    for (int i = 0; i < 256; i++) {
        if (!pairs[i].value)
            continue;
        kernels_destroy(constants[i].kernels);
        constants[i].kernels = NULL;
    }
}

struct type *type_from(MPI_Datatype handle)
{
    if (handle_is_constant(handle)) {
        uintptr_t i = (uintptr_t)handle - (uintptr_t)MPI_DATATYPE_NULL;
        return i < 256 && constants[i].predefined ? &constants[i] : NULL;
    }
    return handle_leads_to(handle, OBJECT_TYPE) ? (struct type *)handle : NULL;
}

struct type *type_create(struct type_tree *tree)
{
    struct type *type = store_make(&store, sizeof(*type), OBJECT_TYPE);
    if (!type)
        return NULL;
    type->handle = (MPI_Datatype)type;
    type->tree = tree;
    left_made(type, LEFT_TYPE);
    return type;
}

void type_ref(struct type *type)
{
    if (!type->predefined)
        object_ref(&type->object);
}

void type_unref(struct type *type)
{
    if (!type || type->predefined || !object_unref(&type->object))
        return;
    left_freed(type);
    object_set_word(&type->object, 0);
    kernels_destroy(type->kernels);
    type_tree_destroy(type->tree);
    store_free(&store, type);
}

struct type *type_of_place(uint8_t place)
{
    return &constants[place];
}

bool type_pair(const struct type *type, struct type_pair *pair)
{
    const struct type_tree *tree = type->tree;

    if (!type->predefined)
        return false;
    *pair = pairs[type->place];
    if (tree && tree->combiner == MPI_COMBINER_VALUE_INDEX)
        *pair = (struct type_pair){tree->types[0], tree->types[1],
                                   type->true_extent - tree->types[1]->size};
    return pair->value != NULL;
}

int type_commit(struct type *type)
{
    int rc = 0;

    os_lock(&commit_lock);
    if (!type->committed)
        rc = kernels_build(type);
    if (!rc)
        type->committed = true;
    os_unlock(&commit_lock);
    return rc;
}

/* ---- places ---- */

static void layout_pack(const struct mpid_bytes *from, size_t offset, void *to, size_t len)
{
    kernels_pack(from->type, from->buf, offset, to, len);
}

static void layout_unpack(const struct mpid_bytes *to, size_t offset, const void *from, size_t len)
{
    kernels_unpack(to->type, to->buf, offset, from, len);
}

static const struct mpid_layout kernels_layout = {layout_pack, layout_unpack};

/* Whether count elements fit in any memory: a process has at most 57 bits of addresses. */
static bool count_fits(const struct type *type, MPI_Count count, MPI_Count *len)
{
    const MPI_Count most = (MPI_Count)1 << 57;
    MPI_Count reach;

    if (__builtin_mul_overflow(type->size, count, len) || *len > most)
        return false;
    if (*len == 0)
        return true;
    if (__builtin_mul_overflow(type->extent, count, &reach))
        return false;
    reach -= type->extent; /* from the first to the last */
    return reach <= most && reach >= -most;
}

static void *moved(const void *buf, MPI_Count by)
{
    return (void *)((uintptr_t)buf + (uintptr_t)by);
}

int type_place_in(bool turned, MPI_Datatype handle, const void *buf, MPI_Count count, struct mpid_bytes *bytes,
                  struct type **used)
{
    enum {
        NOBODYS = 4096
    }; /* no data lie below this address: it would be a forgotten buffer */
    struct type *type = count ? type_from(handle) : type_placed(handle);
    MPI_Count len;

    if (!type || !type->committed)
        return MPI_ERR_TYPE;
    if (count < 0 || !count_fits(type, count, &len))
        return MPI_ERR_COUNT;
    *used = NULL;
    if (len == 0) {
        *bytes = (struct mpid_bytes){.base = (void *)(uintptr_t)buf};
        return 0;
    }
    if (!buf && type->true_lb >= 0 && type->true_lb < NOBODYS && type->extent >= 0)
        return MPI_ERR_BUFFER;
    if (turned && type->wide) {
        *bytes = type_turn_place(type, buf, count, (size_t)len);
        *used = type->predefined ? NULL : type;
        return 0;
    }
    if (type->dense) {
        *bytes = (struct mpid_bytes){.base = moved(buf, type->true_lb), .len = (size_t)len};
        return 0;
    }
    const struct kernels *kernels = type->kernels;
    if (count == 1 && !kernels->root.kernel) {
        *bytes = (struct mpid_bytes){.base = moved(buf, kernels->root.offset), .len = (size_t)len};
        return 0;
    }
    *bytes = (struct mpid_bytes){.len = (size_t)len,
                                 .layout = &kernels_layout,
                                 .buf = (void *)(uintptr_t)buf,
                                 .count = (size_t)count,
                                 .type = kernels};
    *used = type->predefined ? NULL : type;
    return 0;
}

int type_place_slow(MPI_Datatype handle, const void *buf, MPI_Count count, struct mpid_bytes *bytes,
                    struct type **used)
{
    return type_place_in(os_turns, handle, buf, count, bytes, used);
}

void type_pack(const struct mpid_bytes *from, size_t offset, void *to, size_t len)
{
    if (from->layout)
        from->layout->pack(from, offset, to, len);
    else if (len)
        memcpy(to, (const char *)from->base + offset, len);
}

void type_unpack(const struct mpid_bytes *to, size_t offset, const void *from, size_t len)
{
    if (to->layout)
        to->layout->unpack(to, offset, from, len);
    else if (len)
        memcpy((char *)to->base + offset, from, len);
}

/* Copy between two laid out places, by way of a buffer. */
static void copy_laid_out(const struct mpid_bytes *from, const struct mpid_bytes *to, size_t len)
{
    char buffer[16384];

    for (size_t at = 0; at < len;) {
        size_t n = len - at < sizeof(buffer) ? len - at : sizeof(buffer);
        type_pack(from, at, buffer, n);
        type_unpack(to, at, buffer, n);
        at += n;
    }
}

static int copy_places(const struct mpid_bytes *source, const struct mpid_bytes *target)
{
    size_t len = source->len < target->len ? source->len : target->len;
    if (source->layout && target->layout)
        copy_laid_out(source, target, len);
    else if (source->layout)
        type_pack(source, 0, target->base, len);
    else if (source->base != target->base)
        type_unpack(target, 0, source->base, len);
    return source->len > target->len ? MPI_ERR_TRUNCATE : 0;
}

int type_copy(const void *from, MPI_Count from_count, MPI_Datatype from_type, void *to,
              MPI_Count to_count, MPI_Datatype to_type)
{
    struct mpid_bytes source, target;
    struct type *used;
    int rc = type_place(from_type, from, from_count, &source, &used);

    if (rc)
        return rc;
    rc = type_place(to_type, to, to_count, &target, &used);
    return rc ? rc : copy_places(&source, &target);
}

int type_copy_in(bool turned, const void *from, MPI_Count from_count, MPI_Datatype from_type, void *to,
                 MPI_Count to_count, MPI_Datatype to_type)
{
    struct mpid_bytes source, target;
    struct type *used;
    if (turned == os_turns)
        return type_copy(from, from_count, from_type, to, to_count, to_type);
    int rc = type_place_in(turned, from_type, from, from_count, &source, &used);

    if (rc)
        return rc;
    rc = type_place_in(turned, to_type, to, to_count, &target, &used);
    return rc ? rc : copy_places(&source, &target);
}
