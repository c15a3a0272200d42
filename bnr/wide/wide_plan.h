/* SPDX-License-Identifier: BSD-3-Clause */

/* Which rank of a job runs on which machine, and which machines become nodes. */
#ifndef BNR_WIDE_PLAN_H
#define BNR_WIDE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "bnr/core/place/placement.h"
#include "bnr/core/place/start_wish.h"
#include "bnr/wire/hosts.h"

struct survey;

/* Which ranks are where. */
struct wide_plan {
    uint32_t count;                   /* nodes, this machine's first */
    const struct hosts_entry **hosts; /* by node; of node 0, what it is called, or NULL */
    uint32_t *node_of;                /* by rank */
    uint32_t *ranks_on;               /* by node: how many */
    uint32_t ranks;
    /* The processors, if asked for; otherwise NULL, and no ranks. */
    const struct placement_machine **machines; /* by node */
    struct placement placement;                /* of all ranks */
};

/* The user's request. */
struct wide_wish {
    const struct hosts *hosts;
    uint32_t ranks, per_host; /* per_host: that a host takes at a time; 0: its slots */
    const struct start_wish *start;
    const struct survey *survey; /* outlives the plan; of no hosts where nothing depends on it */
};

/* Work out which rank runs where. Returns 0, or -errno with a sentence in why. plan->count is 1 if
 * all run on this machine. */
int wide_plan(struct wide_plan *plan, const struct wide_wish *wish, char why[512]);
void wide_plan_fini(struct wide_plan *plan);

/* How many ranks are on a node; of a plan with several. */
uint32_t wide_plan_ranks_on(const struct wide_plan *plan, uint32_t node);
/* The nodes that have ranks, in their order: which node each is, and by rank, which of these it is on. node_of_host has
 * room for all nodes. Returns 0 or -ENOMEM. */
int wide_plan_hosts(const struct wide_plan *plan, uint32_t *node_of_host, uint32_t *host_of, uint32_t *count);

#endif
