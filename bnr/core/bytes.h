/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Blocks of bytes that many hold and nobody changes: a message to twenty daemons is one block.
 * And numbers in network byte order, put into a growing block and taken out of any bytes.
 */
#ifndef BNR_BYTES_H
#define BNR_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    uint32_t refs;
    uint32_t len;
    uint8_t at[];
};

/* A block with one reference, copied from data, or of zeros if that is NULL. NULL: no memory. */
struct bytes *bytes_create(const void *data, size_t len);
/* One reference more; NULL stays NULL. */
struct bytes *bytes_ref(struct bytes *bytes);
void bytes_unref(struct bytes *bytes);
/* Write 2 * len hexadecimal digits and a NUL. */
void bytes_digits(char *text, const void *bytes, size_t len);

/* Bytes that are being put together. Begin with zeros; failed says that memory ran out. */
struct packing {
    struct bytes *bytes;
    uint32_t room;
    bool failed;
};

void pack_u32(struct packing *p, uint32_t value);
void pack_u64(struct packing *p, uint64_t value);
void pack_raw(struct packing *p, const void *data, size_t len);
/* Bytes that stand in hexadecimal digits, as far as these come in pairs. */
void pack_digits(struct packing *p, const char *digits);
/* The block, with one reference; NULL where memory ran out. */
struct bytes *pack_end(struct packing *p);

/* Bytes that are being taken apart. failed says that bytes were missing; numbers are then 0. */
struct unpacking {
    const uint8_t *at;
    size_t left;
    bool failed;
};

struct unpacking unpack_begin(const struct bytes *bytes);
uint32_t unpack_u32(struct unpacking *u);
uint64_t unpack_u64(struct unpacking *u);
/* The next len bytes, or NULL. */
const uint8_t *unpack_raw(struct unpacking *u, size_t len);

#endif
