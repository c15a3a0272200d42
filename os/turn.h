/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The byte order of what crosses between the processes of a job. As a rule that is the host's, which all of them have.
 * Where setting byte_order is "network" it is network order, in the whole job: little-endian processes turn all that
 * they send and receive, others turn nothing.
 */
#ifndef OS_TURN_H
#define OS_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the job is of network order; and whether this process turns. */
extern bool os_turn_network, os_turns;

/* Set both by the setting; all settings are loaded. Returns 0, or -EINVAL with a sentence in why: another setting needs
 * processes of one byte order. */
int os_turn_begin(char *why, size_t size);

/* Turn numbers one after the other, whose bytes widths tells by the digits 1, 2, 4 and 8. Does nothing where this process
 * does not turn. */
void os_turn_fields(void *at, const char *widths);
/* Turn count numbers of size bytes, in any process. */
void os_turn_all(void *at, size_t size, size_t count);

/* A number as it crosses, or the number that it was. */
static inline uint32_t os_turned32(uint32_t value)
{
    return os_turns ? __builtin_bswap32(value) : value;
}

static inline uint64_t os_turned64(uint64_t value)
{
    return os_turns ? __builtin_bswap64(value) : value;
}

#endif
