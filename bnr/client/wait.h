/* SPDX-License-Identifier: BSD-3-Clause */

/* The ladder of a wait: spin, then yield the processor, then sleep longer and longer. */
#ifndef BNR_WAIT_H
#define BNR_WAIT_H

#include <sched.h>
#include <stdint.h>

#include "os/clock.h"

struct wait {
    int spins, yields;
    uint64_t sleep_ns, sleep_max_ns;
};

enum {
    WAIT_YIELDS = 50,
    WAIT_FIRST_NS = 50000
};

static inline struct wait wait_begin(int spins, uint64_t sleep_max_ns)
{
    struct wait w = {spins, WAIT_YIELDS, WAIT_FIRST_NS, sleep_max_ns};
    return w;
}

/* Take one step. Returns 0 after a spin or a yield, or for how many ns to sleep now. */
static inline uint64_t wait_step(struct wait *w)
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
