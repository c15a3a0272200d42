/* SPDX-License-Identifier: BSD-3-Clause */

/* Numbers of one sender that count once: a message that was overheard and is said again has a number
 * that was taken. They may come out of order, as those of connections that are tried at once. */
#ifndef OS_REPLAY_H
#define OS_REPLAY_H

#include <stdint.h>

/* Which numbers have been taken; begins with zeros. */
struct os_replay {
    uint64_t last, bits; /* bit n: last - n */
};

/* Take a number, at least 1. Returns 0, or -EPROTO if it was taken before, or is older than the
 * remembered ones. */
int os_replay_take(struct os_replay *r, uint64_t number);

#endif
