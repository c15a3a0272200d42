/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Data pass through a buffer of packed bytes in this host's representation: the kernels find the
 * data, so only the order of the basic elements matters here. A type's tree gives that as runs of
 * one basic type, since all constructors but the struct repeat a single one.
 */

#include "mpi/type/type_external.h"

#include <endian.h>
#include <float.h>
#include <string.h>

#include "mpi/type/type_tree.h"
#include "mpi/type/type_turn.h"
#include "os/quad.h"

enum {
    BUFFER_BYTES = 16384
};

/* Packed bytes on their way. */
struct external_stream {
    const struct mpid_bytes *place;
    bool unpack;
    size_t done;    /* bytes of the place that were read, or written */
    size_t at, end; /* bytes in the buffer: from at to end, or (to unpack) up to end */
    char *external;
    char buffer[BUFFER_BYTES];
};

/* A run of numbers: bytes of each, here and outside. */
struct number_run {
    uint8_t form; /* enum type_form, of a part if it is complex */
    size_t size, external;
    int64_t count;
};

/* ---- one number ---- */

/* Convert between big endian and this host's order. */
static inline __attribute__((always_inline)) void turn(char *restrict to, const char *restrict from,
                                                       size_t size)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight[2];

    switch (size) {
    case 1: *to = *from; break;
    case 2:
        memcpy(&two, from, 2);
        two = htobe16(two);
        memcpy(to, &two, 2);
        break;
    case 4:
        memcpy(&four, from, 4);
        four = htobe32(four);
        memcpy(to, &four, 4);
        break;
    case 8:
        memcpy(eight, from, 8);
        eight[0] = htobe64(eight[0]);
        memcpy(to, eight, 8);
        break;
    default:
        memcpy(eight, from, 16);
        if (__BYTE_ORDER == __LITTLE_ENDIAN) {
            uint64_t low = eight[0];
            eight[0] = htobe64(eight[1]);
            eight[1] = htobe64(low);
        }
        memcpy(to, eight, 16);
    }
}

/* Integers that are longer here than outside: the low bytes, and the sign. MPI_LONG and its like
 * have 8 bytes and 4, MPI_WCHAR has 4 and 2. */
static void narrow(const struct number_run *run, char *external, const char *own)
{
    uint64_t wide;
    uint32_t four;

    if (run->size == 4) {
        memcpy(&four, own, 4);
        uint16_t two = (uint16_t)four;
        turn(external, (char *)&two, 2);
        return;
    }
    memcpy(&wide, own, 8);
    four = (uint32_t)wide;
    if (run->form == TYPE_SIGNED)
        four = (four & 0x7fffffff) | (uint32_t)(wide >> 63) << 31;
    turn(external, (char *)&four, 4);
}

static void widen(const struct number_run *run, char *own, const char *external)
{
    uint64_t wide;
    uint32_t four;
    uint16_t two;

    if (run->size == 4) {
        turn((char *)&two, external, 2);
        four = two;
        memcpy(own, &four, 4);
        return;
    }
    turn((char *)&four, external, 4);
    wide = run->form == TYPE_SIGNED ? (uint64_t)(int32_t)four : four;
    memcpy(own, &wide, 8);
}

/* Outside, long double is IEEE's format of 128 bits. */
static void extended_out(char *external, const char *own)
{
    long double value;
    os_quad quad;

    memcpy(&value, own, sizeof(value));
    quad = value;
    turn(external, (char *)&quad, sizeof(quad));
}

static void extended_in(char *own, const char *external)
{
    long double value;
    os_quad quad;

    turn((char *)&quad, external, sizeof(quad));
    value = (long double)quad;
    memset(own, 0, sizeof(value));
    memcpy(own, &value, LDBL_MANT_DIG == 64 ? 10 : sizeof(value)); /* the rest is padding */
}

static inline void convert_one(const struct number_run *run, char *own, char *external, bool unpack)
{
    bool extended = run->form == TYPE_EXTENDED;

    if (extended && unpack)
        extended_in(own, external);
    else if (extended)
        extended_out(external, own);
    else if (unpack)
        widen(run, own, external);
    else
        narrow(run, external, own);
}

/* ---- many ---- */

/* Numbers of one size that only change their byte order: the loops that matter for speed. */
static void turn_all(size_t size, int64_t count, char *restrict to, const char *restrict from)
{
#define CASE(n)                                \
    case n:                                    \
        for (int64_t i = 0; i < count; i++)    \
            turn(to + i * n, from + i * n, n); \
        break;
    switch (size) {
    case 1:
        memcpy(to, from, (size_t)count);
        break;
        CASE(2)
        CASE(4)
        CASE(8)
        CASE(16)
    default: break;
    }
#undef CASE
}

static void convert(const struct number_run *run, int64_t count, char *own, char *external,
                    bool unpack)
{
    if (run->size == run->external && run->form != TYPE_EXTENDED) {
        turn_all(run->size, count, unpack ? own : external, unpack ? external : own);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        convert_one(run, own, external, unpack);
        own += run->size;
        external += run->external;
    }
}

/* Make room in the buffer, or fetch the next bytes. */
static void turn_over(struct external_stream *stream)
{
    size_t left = stream->end - stream->at, room;

    if (stream->unpack) {
        type_unpack(stream->place, stream->done, stream->buffer, stream->end);
        stream->done += stream->end;
        stream->end = 0;
        return;
    }
    memmove(stream->buffer, stream->buffer + stream->at, left);
    room = BUFFER_BYTES - left;
    if (room > stream->place->len - stream->done)
        room = stream->place->len - stream->done;
    type_pack(stream->place, stream->done, stream->buffer + left, room);
    stream->done += room;
    stream->at = 0;
    stream->end = left + room;
}

static void convert_run(struct external_stream *stream, struct number_run run)
{
    while (run.count) {
        size_t *at = stream->unpack ? &stream->end : &stream->at;
        size_t end = stream->unpack ? BUFFER_BYTES : stream->end;
        int64_t count = (int64_t)((end - *at) / run.size);
        if (count == 0) {
            turn_over(stream);
            continue;
        }
        if (count > run.count)
            count = run.count;
        convert(&run, count, stream->buffer + *at, stream->external, stream->unpack);
        *at += (size_t)count * run.size;
        stream->external += (size_t)count * run.external;
        run.count -= count;
    }
}

static void convert_basic(struct external_stream *stream, const struct type *type, int64_t count)
{
    struct number_run run = {type->form, (size_t)type->size, (size_t)type->external, count};

    if (type->form == TYPE_COMPLEX || type->form == TYPE_EXTENDED_COMPLEX) {
        run.form = type->form == TYPE_COMPLEX ? TYPE_FLOATING : TYPE_EXTENDED;
        run.size /= 2;
        run.external /= 2;
        run.count *= 2;
    }
    convert_run(stream, run);
}

/* Count elements of a type. The recursion is as deep as structs are nested. */
static void convert_type(struct external_stream *stream, const struct type *type, int64_t count)
{
    struct type_pair pair;

    while (type->size && !type->predefined && type->tree->combiner != MPI_COMBINER_STRUCT) {
        const struct type *old = type->tree->types[0];
        count *= type->size / old->size;
        type = old;
    }
    if (type->size == 0)
        return;
    if (!type->predefined) {
        const struct type_tree *tree = type->tree;
        for (int64_t i = 0; i < count; i++) {
            for (int64_t k = 0; k < tree->args[0]; k++) {
                if (tree->args[1 + k])
                    convert_type(stream, tree->types[k], tree->args[1 + k]);
            }
        }
    } else if (type_pair(type, &pair)) {
        for (int64_t i = 0; i < count; i++) {
            convert_basic(stream, pair.value, 1);
            convert_basic(stream, pair.index, 1);
        }
    } else {
        convert_basic(stream, type, count);
    }
}

void type_external_pack(const struct type *type, MPI_Count count, const struct mpid_bytes *from,
                        void *to)
{
    struct external_stream stream;
    struct mpid_bytes plain = type_turn_back(from);

    stream.place = &plain;
    stream.unpack = false;
    stream.external = to;
    stream.done = stream.at = stream.end = 0;
    convert_type(&stream, type, count);
}

void type_external_unpack(const struct type *type, MPI_Count count, const struct mpid_bytes *to,
                          const void *from)
{
    struct external_stream stream;
    struct mpid_bytes plain = type_turn_back(to);

    stream.place = &plain;
    stream.unpack = true;
    stream.external = (char *)(uintptr_t)from; /* not written to */
    stream.done = stream.at = stream.end = 0;
    convert_type(&stream, type, count);
    turn_over(&stream);
}
