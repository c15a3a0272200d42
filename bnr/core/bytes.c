/* SPDX-License-Identifier: BSD-3-Clause */

/* Blocks of bytes; see bytes.h. */
#include "bnr/core/bytes.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

struct bytes *bytes_create(const void *data, size_t len)
{
    struct bytes *bytes = len <= UINT32_MAX ? malloc(sizeof(*bytes) + len) : NULL;
    if (!bytes)
        return NULL;
    bytes->refs = 1;
    bytes->len = (uint32_t)len;
    if (data)
        memcpy(bytes->at, data, len);
    else
        memset(bytes->at, 0, len);
    return bytes;
}

struct bytes *bytes_ref(struct bytes *bytes)
{
    if (bytes)
        bytes->refs++;
    return bytes;
}

void bytes_unref(struct bytes *bytes)
{
    if (bytes && --bytes->refs == 0)
        free(bytes);
}

void bytes_digits(char *text, const void *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *at = bytes;
    for (size_t i = 0; i < len; i++) {
        *text++ = digits[at[i] >> 4];
        *text++ = digits[at[i] & 15];
    }
    *text = 0;
}

void pack_raw(struct packing *p, const void *data, size_t len)
{
    uint32_t used = p->bytes ? p->bytes->len : 0;
    if (p->failed || len > UINT32_MAX / 2 - used) {
        p->failed = true;
        return;
    }
    if (!p->bytes || used + len > p->room) {
        uint32_t room = used + (uint32_t)len + used / 2 + 64;
        struct bytes *bytes = realloc(p->bytes, sizeof(*bytes) + room);
        if (!bytes) {
            p->failed = true;
            return;
        }
        bytes->refs = 1;
        bytes->len = used;
        p->bytes = bytes;
        p->room = room;
    }
    if (len)
        memcpy(p->bytes->at + used, data, len);
    p->bytes->len = used + (uint32_t)len;
}

void pack_u32(struct packing *p, uint32_t value)
{
    value = htobe32(value);
    pack_raw(p, &value, sizeof(value));
}

void pack_u64(struct packing *p, uint64_t value)
{
    value = htobe64(value);
    pack_raw(p, &value, sizeof(value));
}

static int value_of(char digit)
{
    return digit >= '0' && digit <= '9'   ? digit - '0'
           : digit >= 'a' && digit <= 'f' ? digit - 'a' + 10
           : digit >= 'A' && digit <= 'F' ? digit - 'A' + 10
                                          : -1;
}

void pack_digits(struct packing *p, const char *digits)
{
    int high, low;
    for (; (high = value_of(digits[0])) >= 0 && (low = value_of(digits[1])) >= 0; digits += 2) {
        uint8_t byte = (uint8_t)(high << 4 | low);
        pack_raw(p, &byte, 1);
    }
}

struct bytes *pack_end(struct packing *p)
{
    if (p->failed) {
        free(p->bytes);
        return NULL;
    }
    return p->bytes ? p->bytes : bytes_create(NULL, 0);
}

struct unpacking unpack_begin(const struct bytes *bytes)
{
    return bytes ? (struct unpacking){bytes->at, bytes->len, false}
                 : (struct unpacking){NULL, 0, false};
}

const uint8_t *unpack_raw(struct unpacking *u, size_t len)
{
    const uint8_t *at = u->at;
    if (u->failed || len > u->left) {
        u->failed = true;
        return NULL;
    }
    u->at += len;
    u->left -= len;
    return at;
}

uint32_t unpack_u32(struct unpacking *u)
{
    uint32_t value = 0;
    const uint8_t *at = unpack_raw(u, sizeof(value));
    if (at)
        memcpy(&value, at, sizeof(value));
    return be32toh(value);
}

uint64_t unpack_u64(struct unpacking *u)
{
    uint64_t value = 0;
    const uint8_t *at = unpack_raw(u, sizeof(value));
    if (at)
        memcpy(&value, at, sizeof(value));
    return be64toh(value);
}
