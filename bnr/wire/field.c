/* SPDX-License-Identifier: BSD-3-Clause */

/* Structs as bytes, by tables of their fields; see field.h. */
#include "bnr/wire/field.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(enum wire_field_kind) == sizeof(uint32_t), "an enum is packed as a u32");

void pack_text(struct packing *p, const char *text)
{
    size_t len = strlen(text);
    pack_u32(p, (uint32_t)len);
    pack_raw(p, text, len);
}

char *unpack_text(struct unpacking *u, size_t max)
{
    uint32_t len = unpack_u32(u);
    const uint8_t *at = len <= max ? unpack_raw(u, len) : NULL;
    if (!at || memchr(at, 0, len)) {
        u->failed = true;
        return NULL;
    }
    return strndup((const char *)at, len);
}

static void pack_one(struct packing *p, const struct wire_field *f, const uint8_t *at)
{
    const char *text = f->kind >= FIELD_TEXT ? *(char *const *)(const void *)at : NULL;
    switch (f->kind) {
    case FIELD_FLAG: pack_u32(p, *(const bool *)at); break;
    case FIELD_U32: pack_u32(p, *(const uint32_t *)(const void *)at); break;
    case FIELD_U64:
        for (uint32_t i = 0; i < f->count; i++)
            pack_u64(p, ((const uint64_t *)(const void *)at)[i]);
        break;
    case FIELD_BYTES: pack_raw(p, at, f->count); break;
    case FIELD_SOME: pack_u32(p, text != NULL); /* fall through */
    case FIELD_TEXT:
        if (text)
            pack_text(p, text);
        break;
    }
}

static void unpack_one(struct unpacking *u, const struct wire_field *f, uint8_t *at)
{
    const uint8_t *bytes;
    uint32_t number;
    switch (f->kind) {
    case FIELD_FLAG:
        number = unpack_u32(u);
        u->failed |= number > 1;
        *(bool *)at = number == 1;
        break;
    case FIELD_U32:
        number = *(uint32_t *)(void *)at = unpack_u32(u);
        u->failed |= number < f->least || number > f->most;
        break;
    case FIELD_U64:
        for (uint32_t i = 0; i < f->count; i++)
            ((uint64_t *)(void *)at)[i] = unpack_u64(u);
        break;
    case FIELD_BYTES:
        if ((bytes = unpack_raw(u, f->count)))
            memcpy(at, bytes, f->count);
        break;
    case FIELD_SOME:
        number = unpack_u32(u);
        u->failed |= number > 1;
        if (u->failed || !number)
            break; /* fall through */
    case FIELD_TEXT:
        u->failed |= !(*(char **)(void *)at = unpack_text(u, f->most));
        break;
    }
}

void fields_pack(struct packing *p, const struct wire_field *fields, size_t count, const void *from)
{
    for (size_t i = 0; i < count; i++)
        pack_one(p, &fields[i], (const uint8_t *)from + fields[i].at);
}

void fields_unpack(struct unpacking *u, const struct wire_field *fields, size_t count, void *to)
{
    for (size_t i = 0; i < count && !u->failed; i++)
        unpack_one(u, &fields[i], (uint8_t *)to + fields[i].at);
}

void fields_release(const struct wire_field *fields, size_t count, void *of)
{
    for (size_t i = 0; i < count; i++) {
        void *at = (uint8_t *)of + fields[i].at;
        if (fields[i].kind == FIELD_TEXT || fields[i].kind == FIELD_SOME)
            free(*(char **)at);
    }
}
