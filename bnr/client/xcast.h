/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Messages to many, at a process that takes them: handlers by tag, the letter that is being read,
 * and letters that wait for a handler. Nothing is read while there is no handler at all.
 */
#ifndef BNR_CLIENT_XCAST_H
#define BNR_CLIENT_XCAST_H

#include <stdbool.h>

#include "bnr/client/backend.h"

enum {
    XCASTS_HELD_MAX = 64 /* letters without a handler */
};

struct xcast_handler;
struct xcast_letter;

struct xcasts {
    struct xcast_handler *first;
    uint64_t heard; /* bytes of letters */
    uint8_t head[12];
    size_t head_len, got;
    struct xcast_letter *coming; /* whose bytes are being read */
    struct xcast_letter *held, **held_end;
    int held_count;
    unsigned missing; /* how often letters were missing */
    bool is_running, is_new, is_broken; /* is_new: a handler may fit a held message */
};

/* Set the handler of a tag; fn NULL: remove it. */
int xcasts_register(struct xcasts *x, int tag, BNR_Xcast_fn fn, void *arg);

/* Take a letter of this process to itself. */
int xcasts_put(struct xcasts *x, int from, const struct backend_letter *letter);

/* Run the handlers of messages that have come. Returns how many ran. */
int xcasts_deliver(struct xcasts *x, struct backend *b, BNR_Group g);

/* Whether that has something to do. */
static inline int xcasts_are_due(const struct xcasts *x, const struct backend *b)
{
    return x->first && (x->is_new || atomic_load_explicit(b->letters, memory_order_relaxed) !=
                                         x->heard);
}

/* Drop all handlers, and held messages. */
void xcasts_clear(struct xcasts *x);

#endif
