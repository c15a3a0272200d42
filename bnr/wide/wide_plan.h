/* SPDX-License-Identifier: BSD-3-Clause */

/* Which rank of a job runs on which machine, and which machines become nodes. */
#ifndef BNR_WIDE_PLAN_H
#define BNR_WIDE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "bnr/wire/hosts.h"

/* Which ranks are where. */
struct wide_plan {
    uint32_t count;                   /* nodes, this machine's first */
    const struct hosts_entry **hosts; /* by node; of node 0, what it is called, or NULL */
    uint32_t *node_of;                /* by rank */
    uint32_t ranks;
};

/* The user's request. */
struct wide_wish {
    const struct hosts *hosts;
    uint32_t ranks, per_host; /* per_host: that a host takes at a time; 0: its slots */
    bool is_by_node;          /* ranks are dealt out to the hosts one by one */
    bool is_limited;          /* a rankfile gives no host more than its slots */
    const char *rankfile;     /* which says where each rank is; NULL: none */
};

/* Work out which rank runs where. Returns 0, or -errno with a sentence in why. plan->count is 1
 * where all run on this machine. */
int wide_plan(struct wide_plan *plan, const struct wide_wish *wish, char why[512]);
void wide_plan_fini(struct wide_plan *plan);

/* Whether some rank is on a node. */
bool wide_plan_uses(const struct wide_plan *plan, uint32_t node);

#endif
