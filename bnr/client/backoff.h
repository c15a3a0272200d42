/* SPDX-License-Identifier: BSD-3-Clause */

/* The steps of a wait: spin, then yield the processor, then sleep longer and longer. */
#ifndef BNR_BACKOFF_H
#define BNR_BACKOFF_H

#include <sched.h>
#include <stdint.h>

#include "os/clock.h"

struct backoff {
    int spins, yields;
    uint64_t sleep_ns, sleep_max_ns;
};

enum {
    BACKOFF_YIELDS = 50,
    BACKOFF_FIRST_NS = 50000
};

static inline struct backoff backoff_begin(int spins, uint64_t sleep_max_ns)
{
    struct backoff w = {spins, BACKOFF_YIELDS, BACKOFF_FIRST_NS, sleep_max_ns};
    return w;
}

/* Take one step. Returns 0 after a spin or a yield, or how many ns to sleep now. */
static inline uint64_t backoff_step(struct backoff *w)
{
    if (w->spins > 0) {
        w->spins--;
        for (int i = 0; i < 16; i++)
            os_pause();
        return 0;
    }
    if (w->yields > 0) {
        w->yields--;
        sched_yield();
        return 0;
    }
    uint64_t now = w->sleep_ns;
    w->sleep_ns = now * 2 < w->sleep_max_ns ? now * 2 : w->sleep_max_ns;
    return now;
}

#endif
