/* SPDX-License-Identifier: BSD-3-Clause */

/* Bytes that can be told from others: every message has a seed of its own. */
#ifndef TEST_MPI_PATTERN_H
#define TEST_MPI_PATTERN_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "check.h"

static inline uint8_t pattern_byte(uint32_t seed, size_t i)
{
    return (uint8_t)(((uint32_t)i * 2654435761u >> 13) + seed * 31u + (uint32_t)(i >> 16));
}

static inline void pattern_fill(void *to, size_t len, uint32_t seed)
{
    for (size_t i = 0; i < len; i++)
        ((uint8_t *)to)[i] = pattern_byte(seed, i);
}

/* Where the bytes differ from the pattern first; len: nowhere. */
static inline size_t pattern_differs(const void *bytes, size_t len, uint32_t seed)
{
    size_t i = 0;
    while (i < len && ((const uint8_t *)bytes)[i] == pattern_byte(seed, i))
        i++;
    return i;
}

static inline int pattern_is(const void *bytes, size_t len, uint32_t seed)
{
    return pattern_differs(bytes, len, seed) == len;
}

static inline int pattern_all(const void *bytes, size_t len, uint8_t value)
{
    size_t i = 0;
    while (i < len && ((const uint8_t *)bytes)[i] == value)
        i++;
    return i == len;
}

/* Numbers that look random and are the same in each run. */
static inline uint32_t pattern_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static inline void *pattern_alloc(size_t len)
{
    void *bytes = malloc(len ? len : 1);
    CHECK(bytes != NULL);
    return bytes;
}

#endif
