/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages that count once, of many senders: each sender has numbers of its own (replay.h). There
 * are as many senders as have proven themselves. */
#ifndef OS_HEARD_H
#define OS_HEARD_H

#include <stddef.h>
#include <stdint.h>

enum { OS_HEARD_LEN = 20 };

/* A sender: a group of processes, and a number in it. */
struct os_heard_sender {
    uint8_t bytes[OS_HEARD_LEN];
};

struct os_heard_item;

/* Begins with zeros. */
struct os_heard {
    struct os_heard_item *items; /* in order */
    size_t count, room;
};

/* Name a sender. */
struct os_heard_sender os_heard_sender(const uint8_t group[16], uint32_t number);

/* Take a message that is proven. Returns 0, -EPROTO where its number counts no more (os/replay.h), or -ENOMEM. */
int os_heard_take(struct os_heard *heard, const struct os_heard_sender *sender, uint64_t number);

void os_heard_fini(struct os_heard *heard);

#endif
