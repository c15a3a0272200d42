/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How the ends of a group's processes come to the root: as runs of ranks that ended alike. A node
 * tells its parent at once when all below have ended, or one has failed; otherwise once in a
 * while. An end told twice, after a new link, counts once.
 */
#ifndef BNR_ROLLUP_H
#define BNR_ROLLUP_H

#include "bnr/core/tree/message.h"

struct rank_map;
struct tree;

enum rollup_flag {
    ROLLUP_INITIALIZED = 1,
    ROLLUP_FINALIZED = 2,
    ROLLUP_ABORTED = 4,   /* status is the code of the abort */
    ROLLUP_NODE_LOST = 8, /* its end is not known: its node is lost */
    ROLLUP_TOLERANT = 16, /* it had asked that others go on */
};

/* Ranks first, first + 1, ... that ended alike. */
struct rollup_run {
    uint32_t first, count;
    uint32_t status; /* as wait() gives it */
    uint32_t flags;
};

/* Runs in the order of ranks; none overlap, and neighbours differ. */
struct rollup_runs {
    struct rollup_run *items;
    size_t count, room;
    uint64_t ranks;
};

struct rollup {
    const struct rank_map *group;
    const struct tree *tree;
    struct rollup_runs all, news; /* news: not told yet */
};

void rollup_init(struct rollup *r, const struct rank_map *group, const struct tree *tree);
void rollup_fini(struct rollup *r);

/* Processes of this node have ended. Effects: SEND; at the root RANKS_ENDED, with runs that were
 * not known. Returns 0, -EINVAL, -ENOMEM. */
int rollup_ended(struct rollup *r, const struct rollup_run *run, struct effects *effects);

/* A message of kind ENDED has come from a child. Returns 0, -EPROTO, -ENOMEM. */
int rollup_message(struct rollup *r, const struct core_message *message, struct effects *effects);

/* A node is lost, and with it those of its processes whose end is not known. */
int rollup_node_lost(struct rollup *r, uint32_t node, struct effects *effects);

/* There is a new link to the parent: tell all. */
void rollup_greet(struct rollup *r, struct effects *effects);
/* Tell the news. */
void rollup_tick(struct rollup *r, struct effects *effects);

bool rollup_has_ended(const struct rollup *r, uint32_t rank);

/* Take a run out of what RANKS_ENDED or ENDED carries. Returns false at the end; u->failed where
 * the bytes are wrong. */
bool rollup_unpack(struct unpacking *u, struct rollup_run *run);

#endif
