/* SPDX-License-Identifier: BSD-3-Clause */

/* A hash of bytes (FNV-1a, 64 bits) that processes compare with each other. */
#ifndef MPI_HASH_H
#define MPI_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Continue a hash: from HASH_START, or from an earlier result. */
static inline uint64_t hash_more(uint64_t before, const void *bytes, size_t len)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < len; i++)
        before = (before ^ byte[i]) * UINT64_C(0x100000001b3);
    return before;
}

#endif
