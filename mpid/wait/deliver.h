/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Delivery of completions. A request with a handler (mpid_when_done() says what that may call) is
 * complete once it is delivered, from a queue that the next thread which makes progress runs, with no
 * lock held, in order. One thread at a time does, so a handler never runs beside another.
 */
#ifndef MPID_DELIVER_H
#define MPID_DELIVER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "mpid/ground/device.h"

struct mpid_request;

/* Put a request that is over into the queue; locked. */
void deliver_later(struct mpid_request *request);
/* Complete those in the queue, and call their handlers; unlocked. Does nothing where another thread,
 * or a caller of this one, is at it. Returns whether there was one. */
bool deliver_queue(void);

static inline bool deliver_completions(void)
{
    return __builtin_expect(atomic_load_explicit(&device_delivers, memory_order_relaxed), 0) &&
           deliver_queue();
}

#endif
