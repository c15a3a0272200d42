/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Turned data; see type_turn.h. The kernels copy bytes, in the order of the type map; a type's tree gives the sizes of
 * the numbers among these, as runs of one size. A copy may begin or end inside of a number: its bytes go one by one.
 */
#include "mpi/type/type_turn.h"

#include <string.h>

#include "mpi/type/kernels.h"
#include "mpi/type/type_tree.h"
#include "os/turn.h"

enum { PIECE = 16384 };

/* ---- as in memory ---- */

static char *first_byte(const struct mpid_bytes *bytes)
{
    const struct type *type = bytes->type;
    return (char *)((uintptr_t)bytes->buf + (uintptr_t)type->true_lb);
}

static void read_plain(const struct mpid_bytes *from, size_t offset, void *to, size_t len)
{
    const struct type *type = from->type;
    if (type->kernels)
        kernels_pack(type->kernels, from->buf, offset, to, len);
    else if (len)
        memcpy(to, first_byte(from) + offset, len);
}

static void write_plain(const struct mpid_bytes *to, size_t offset, const void *from, size_t len)
{
    const struct type *type = to->type;
    if (type->kernels)
        kernels_unpack(type->kernels, to->buf, offset, from, len);
    else if (len)
        memcpy(first_byte(to) + offset, from, len);
}

/* ---- numbers ---- */

/* The packed bytes [from, to) on their way; first is the byte from. */
struct window {
    const struct mpid_bytes *place;
    bool unpack;
    size_t from, to;
    char *first;
    size_t whole_from, whole_to; /* to unpack: without the parts of numbers at both ends */
};

/* Copy one byte of a number that begins at a packed byte. */
static void move_byte(struct window *w, size_t number, size_t size, size_t at)
{
    size_t there = number + size - 1 - (at - number);
    if (w->unpack)
        write_plain(w->place, there, w->first + (at - w->from), 1);
    else
        read_plain(w->place, there, w->first + (at - w->from), 1);
}

static void move_bytes(struct window *w, size_t number, size_t size, size_t from, size_t to)
{
    for (size_t at = from; at < to; at++)
        move_byte(w, number, size, at);
}

/* Numbers of a size, from a packed byte on, as far as they are in the window. */
static void turn_run(struct window *w, size_t at, size_t size, size_t count)
{
    size_t end = at + size * count;
    size_t from = at > w->from ? at : w->from, to = end < w->to ? end : w->to;
    if (size == 1 || from >= to)
        return;
    size_t first = from - (from - at) % size, last = to - (to - at) % size; /* numbers that the window may cut */
    if (first < from) {
        size_t next = first + size < to ? first + size : to;
        move_bytes(w, first, size, from, next);
        from = w->whole_from = next;
    }
    if (last < to && from < to) {
        move_bytes(w, last, size, last, to);
        to = w->whole_to = last;
    }
    if (from < to)
        os_turn_all(w->first + (from - w->from), size, (to - from) / size);
}

static void turn_basic(struct window *w, size_t at, const struct type *type, size_t count)
{
    bool complex = type->form == TYPE_COMPLEX || type->form == TYPE_EXTENDED_COMPLEX;
    size_t size = (size_t)type->size / (complex ? 2 : 1);
    turn_run(w, at, size, complex ? 2 * count : count);
}

static void turn_type(struct window *w, size_t at, const struct type *type, size_t count);

/* One element: blocks of several types. */
static void turn_struct(struct window *w, size_t at, const struct type_tree *tree)
{
    for (int64_t i = 0; i < tree->args[0] && at < w->to; i++) {
        const struct type *part = tree->types[i];
        size_t count = (size_t)tree->args[1 + i];
        if (!count || !part->size)
            continue;
        turn_type(w, at, part, count);
        at += count * (size_t)part->size;
    }
}

/* Count elements from a packed byte on, as far as they are in the window. As deep as structs are nested. */
static void turn_type(struct window *w, size_t at, const struct type *type, size_t count)
{
    struct type_pair pair;
    if (at >= w->to || at + count * (size_t)type->size <= w->from)
        return;
    while (!type->predefined && type->tree->combiner != MPI_COMBINER_STRUCT) {
        const struct type *old = type->tree->types[0];
        count *= (size_t)(type->size / old->size);
        type = old;
    }
    bool is_pair = type_pair(type, &pair);
    if (type->predefined && !is_pair) {
        turn_basic(w, at, type, count);
        return;
    }
    size_t size = (size_t)type->size, skipped = at < w->from ? (w->from - at) / size : 0;
    at += skipped * size;
    for (size_t i = skipped; i < count && at < w->to; i++, at += size) {
        if (!is_pair) {
            turn_struct(w, at, type->tree);
            continue;
        }
        turn_basic(w, at, pair.value, 1);
        turn_basic(w, at + (size_t)pair.value->size, pair.index, 1);
    }
}

/* ---- the layout ---- */

static void pack(const struct mpid_bytes *from, size_t offset, void *to, size_t len)
{
    struct window w = {.place = from, .from = offset, .to = offset + len, .first = to};
    read_plain(from, offset, to, len);
    turn_type(&w, 0, from->type, from->count);
}

static void unpack(const struct mpid_bytes *to, size_t offset, const void *from, size_t len)
{
    char piece[PIECE];
    for (size_t done = 0; done < len;) {
        size_t now = len - done < PIECE ? len - done : PIECE, begin = offset + done;
        struct window w = {to, true, begin, begin + now, piece, begin, begin + now};
        memcpy(piece, (const char *)from + done, now);
        turn_type(&w, 0, to->type, to->count);
        if (w.whole_from < w.whole_to)
            write_plain(to, w.whole_from, piece + (w.whole_from - begin), w.whole_to - w.whole_from);
        done += now;
    }
}

static const struct mpid_layout turned = {pack, unpack}, plain = {read_plain, write_plain};

struct mpid_bytes type_turn_place(const struct type *type, const void *buf, MPI_Count count, size_t len)
{
    return (struct mpid_bytes){
        .len = len, .layout = &turned, .buf = (void *)(uintptr_t)buf, .count = (size_t)count, .type = type};
}

struct mpid_bytes type_turn_back(const struct mpid_bytes *bytes)
{
    struct mpid_bytes back = *bytes;
    if (bytes->layout != &turned)
        return back;
    back.layout = &plain;
    if (!((const struct type *)bytes->type)->kernels)
        back = (struct mpid_bytes){.base = first_byte(bytes), .len = bytes->len};
    return back;
}
