/* SPDX-License-Identifier: BSD-3-Clause */

/* Numbers in network byte order, at any address. */
#ifndef OS_BE_H
#define OS_BE_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void os_be32_put(uint8_t *at, uint32_t value)
{
    value = htobe32(value);
    memcpy(at, &value, sizeof(value));
}

static inline void os_be64_put(uint8_t *at, uint64_t value)
{
    value = htobe64(value);
    memcpy(at, &value, sizeof(value));
}

static inline uint32_t os_be32_get(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
    return be32toh(value);
}

static inline uint64_t os_be64_get(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return be64toh(value);
}

#endif
