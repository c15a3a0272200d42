/* SPDX-License-Identifier: BSD-3-Clause */

/* The processes that have said a right HELLO, and the numbers of what they said: one that was
 * overheard, and is said again, is told nothing. There are as many as genuine processes have
 * connected. */
#ifndef TCP_KNOWN_H
#define TCP_KNOWN_H

#include <stddef.h>

#include "channels/tcp/wire.h"

struct known_process;

/* Begins with zeros. */
struct known {
    struct known_process *items; /* in order */
    size_t count, room;
};

/* Take a proven HELLO. Returns 0, -EPROTO where it was heard before, or -ENOMEM. */
int known_take(struct known *known, const struct wire_hello *hello);

void known_fini(struct known *known);

#endif
