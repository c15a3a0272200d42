/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Structs as bytes, by tables of their fields: one row says how a field is packed, which values are
 * valid when it comes back, and how it is released. Numbers are in network byte order. No I/O.
 */
#ifndef BNR_FIELD_H
#define BNR_FIELD_H

#include <stddef.h>
#include <stdint.h>

#include "bnr/core/bytes.h"

enum wire_field_kind {
    FIELD_FLAG,  /* bool */
    FIELD_U32,   /* or an enum; of at least .least and at most .most */
    FIELD_U64,   /* .count of them */
    FIELD_BYTES, /* .count of them */
    FIELD_TEXT,  /* char *, of at most .most bytes */
    FIELD_SOME,  /* the same, or NULL */
};

struct wire_field {
    enum wire_field_kind kind;
    uint32_t at; /* in the struct */
    uint32_t count, least, most;
};

#define FIELDS(table) (table), sizeof(table) / sizeof((table)[0])

void fields_pack(struct packing *p, const struct wire_field *fields, size_t count, const void *from);
/* Texts are copies. u->failed where the bytes are wrong, or memory is out: then, too,
 * fields_release() is right. The fields hold zeros before. */
void fields_unpack(struct unpacking *u, const struct wire_field *fields, size_t count, void *to);
void fields_release(const struct wire_field *fields, size_t count, void *of);

void pack_text(struct packing *p, const char *text);
/* A copy, of at most max bytes, without NULs inside; NULL: u->failed, or no memory. */
char *unpack_text(struct unpacking *u, size_t max);

#endif
