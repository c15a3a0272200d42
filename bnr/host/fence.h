/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The fence of a group whose members all have a slot in this host memory: each counts its arrivals
 * in its own page, and one word in the page of slot 0 counts all. The member that completes the sum
 * moves fence_done and wakes the others.
 *
 * Where the job has several machines, its daemons count and report when the fence is over.
 *
 * The members' own counts are authoritative; the sum is a short cut. Where a member died between
 * the two stores, fence_check() finds that out from the counts. Where members come to the next
 * fence after a broken one, the sum counts both: it is believed only if the counts agree.
 */
#ifndef BNR_FENCE_H
#define BNR_FENCE_H

#include <stdint.h>

#include "bnr/host/table.h"

struct fence {
    const struct table *table;
    int slot;
    uint32_t count; /* fences that this process has entered */
};

enum fence_outcome {
    FENCE_WAITING = 1,
    FENCE_BROKEN = 2, /* a member has ended or finalized and will not arrive */
};

void fence_init(struct fence *f, const struct table *t, int slot);

/* Come to the next fence. */
void fence_enter(struct fence *f);

/* One load. Returns 0 or FENCE_WAITING. */
int fence_poll(const struct fence *f);

/* Look at every member or, where a daemon counts, at its report. Returns 0, FENCE_WAITING or
 * FENCE_BROKEN. */
int fence_check(const struct fence *f);

/* Sleep until the fence is over, or timeout_ns. */
void fence_sleep(const struct fence *f, uint64_t timeout_ns);

#endif
