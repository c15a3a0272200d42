/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A daemon without its I/O: the engines of this folder put together. A daemon feeds it with what
 * its links, its timer and the processes of its host do, and carries out the effects, in their
 * order; the simulator does the same for a hundred thousand.
 *
 * Invariants
 *   - A node that is lost stays so. All live nodes get to know of it; the node itself, should it be
 *     alive, is told that it is expelled, and ends.
 *   - Each live node delivers the same xcasts in the same order, each once.
 *   - A fence is released with success only when every live member's node has come to it; all
 *     nodes are told the same.
 *   - A get ends: with the value, or with the end of its owner.
 *   - The end of each process is known at the root once, or the end of its node is.
 *
 * A link carries whole messages in order, or breaks. It may break at any time, and what it
 * carried last may be lost; all the above holds nevertheless.
 *
 * Calls return 0 or, where not said otherwise, -ENOMEM.
 */
#ifndef BNR_NODE_H
#define BNR_NODE_H

#include "bnr/core/tree/keys.h"
#include "bnr/core/tree/links.h"
#include "bnr/core/tree/liveness.h"
#include "bnr/core/tree/rollup.h"
#include "bnr/core/tree/tree_fence.h"
#include "bnr/core/tree/xcast.h"

enum {
    NODE_HELD_MAX = 256, /* messages of groups that are not known yet */
};

struct node_settings {
    uint32_t self, count, radix;
    int64_t liveness_ns;
    struct xcast_choice choice;
};

struct node_group {
    const struct rank_map *group;
    struct tree_fence fence;
    struct rollup rollup;
};

struct node_held {
    struct core_message message;
    uint32_t from;
};

struct node_engine {
    struct tree tree;
    struct links links;
    struct liveness liveness;
    struct xcast xcast;
    struct keys keys;
    struct node_group **groups;
    size_t group_count;
    struct node_list lost_news; /* told by no xcast yet */
    struct node_held *held;
    size_t held_count, held_next;
    struct effects inner; /* what the engines ask for, before it is looked through */
    bool is_alone;
};

/* Be one node of the virtual machine; effects: CONNECT for its neighbours. All nodes are taken for
 * alive, and to be there within the time of liveness. */
int node_init(struct node_engine *n, const struct node_settings *settings, int64_t now,
              struct effects *effects);
void node_fini(struct node_engine *n);

/* Take what an authenticated node has sent. Returns -EPROTO too: its link is to be closed. */
int node_message(struct node_engine *n, uint32_t from, const struct core_message *message,
                 int64_t now, struct effects *effects);

/* Something of a message has come from an authenticated node, which lives. */
void node_heard(struct node_engine *n, uint32_t from, int64_t now);

/* Take an event of a link, but for SILENT, which the node finds out itself. */
int node_link(struct node_engine *n, uint32_t peer, enum link_event event, int64_t now,
              struct effects *effects);

/* Time has passed; to be called every liveness / LIVENESS_TICKS. */
int node_tick(struct node_engine *n, int64_t now, struct effects *effects);

/* A group exists, whose blocks outlive the node. -EINVAL: they are not sound; -EEXIST. */
int node_add_group(struct node_engine *n, const struct rank_map *group, int64_t now,
                   struct effects *effects);
/* Forget it: all its processes have ended. */
void node_remove_group(struct node_engine *n, uint64_t group);

/* Say something to all nodes, or those addressed (xcast_address()). XCAST_AGAIN, -EMSGSIZE. */
int node_submit(struct node_engine *n, const struct xcast_input *input, int64_t now,
                struct effects *effects);

/* Send a message of kind STREAM or CREDIT along the tree to message->to. It may be lost on its way:
 * stream.h makes up for that. */
int node_route(struct node_engine *n, const struct core_message *message, int64_t now,
               struct effects *effects);

/* The getter, and how it gets: enum keys_flag. */
struct node_getter {
    uint64_t cookie;
    unsigned flags;
};

/* Take what processes of this host do; outcomes are those of the engines, and -ENOENT: no group. */
int node_put(struct node_engine *n, const struct keys_name *name, struct bytes *value,
             unsigned flags, int64_t now, struct effects *effects);
int node_get(struct node_engine *n, const struct keys_name *name, const struct node_getter *getter,
             int64_t now, struct effects *effects);
int node_fence(struct node_engine *n, uint64_t group, const struct tree_fence_entry *entry,
               int64_t now, struct effects *effects);
int node_ended(struct node_engine *n, uint64_t group, const struct rollup_run *run, int64_t now,
               struct effects *effects);

#endif
