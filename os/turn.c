/* SPDX-License-Identifier: BSD-3-Clause */

/* Numbers turned between the host's byte order and that of the job; see turn.h. */
#include "os/turn.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "os/settings.h"

bool os_turn_network, os_turns;

enum { HOST, NETWORK }; /* the words of the setting */

int os_turn_begin(char *why, size_t size)
{
    os_turn_network = os_setting(OS_SETTING_BYTE_ORDER) == NETWORK;
    os_turns = os_turn_network && __BYTE_ORDER == __LITTLE_ENDIAN;
    if (!os_turn_network || !os_setting(OS_SETTING_CHECK))
        return 0;
    snprintf(why, size, "mpiexec --check compares the calls of processes of one byte order, and this job is in network "
             "byte order: leave --check out");
    return -EINVAL;
}

static void turn_any(unsigned char *at, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        unsigned char low = at[i];
        at[i] = at[size - 1 - i];
        at[size - 1 - i] = low;
    }
}

#define TURN(bits)                              \
    {                                           \
        uint##bits##_t value;                   \
        memcpy(&value, at, sizeof(value));      \
        value = __builtin_bswap##bits(value);   \
        memcpy(at, &value, sizeof(value));      \
    }

void os_turn_all(void *first, size_t size, size_t count)
{
    unsigned char *at = first, *end = at + size * count;
    switch (size) {
    case 1: break;
    case 2:
        for (; at < end; at += size)
            TURN(16)
        break;
    case 4:
        for (; at < end; at += size)
            TURN(32)
        break;
    case 8:
        for (; at < end; at += size)
            TURN(64)
        break;
    default:
        for (; at < end; at += size)
            turn_any(at, size);
    }
}

void os_turn_fields(void *first, const char *widths)
{
    unsigned char *at = first;
    for (; os_turns && *widths; widths++) {
        size_t size = (size_t)(*widths - '0');
        os_turn_all(at, size, 1);
        at += size;
    }
}
