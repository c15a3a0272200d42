/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The fences of one group, over the tree. Fences are numbered from 1; each node whose processes are
 * members comes to fence n once, after the release of n - 1.
 *
 * A node sends the arrivals below it up as one message, once all have come. The root decides, and
 * tells all by an xcast: the fence is over, and how. Where a member's node is lost, or a node comes
 * with a failure, it is over at once, and failed for all; later fences are among those that are
 * left.
 *
 * Entries that were put go up with it while they are short: then the release carries all of
 * them, and no get has to ask. The root decides that from the sum, so it is so for all or none.
 */
#ifndef BNR_TREE_FENCE_H
#define BNR_TREE_FENCE_H

#include "bnr/core/tree/message.h"

struct rank_map;
struct tree;

enum {
    TREE_FENCE_COLLECT = 256,         /* bytes a rank, at most, that are collected */
    TREE_FENCE_COLLECT_MAX = 4 << 20, /* bytes of all entries, at most */
};

/* The part of a child, or of this node: child is then this node. A child may be ahead, for releases
 * come by other ways too. */
struct tree_fence_part {
    uint32_t child, status;
    uint64_t number, nodes, bytes;
    bool has_data;
    struct bytes *data;
};

struct tree_fence {
    const struct rank_map *group;
    const struct tree *tree;
    uint64_t released;             /* the last fence that is over */
    struct tree_fence_part *parts; /* the latest of each child */
    size_t count, room;
    bool is_sent;
    bool is_hurt; /* at the root: a member's node has been lost since the last release */
};

void tree_fence_init(struct tree_fence *f, const struct rank_map *group, const struct tree *tree);
void tree_fence_fini(struct tree_fence *f);

enum tree_fence_outcome {
    TREE_FENCE_OVER = 1
};

/* The sums of what the members of a node bring. */
struct tree_fence_entry {
    uint64_t number;
    enum message_status status;
    uint64_t bytes;     /* that they have put since the last fence */
    struct bytes *data; /* these, or NULL if they are long */
};

/* The members here have come to a fence. Effects: SEND, and at the root DECIDED: to be told to
 * all. Returns 0, TREE_FENCE_OVER (it has failed before they came), -EINVAL, -EALREADY, -ENOMEM. */
int tree_fence_enter(struct tree_fence *f, const struct tree_fence_entry *entry,
                     struct effects *effects);

/* A message of kind FENCE has come from a child. Returns 0, -EPROTO, -ENOMEM. */
int tree_fence_message(struct tree_fence *f, uint32_t from, const struct core_message *message,
                       struct effects *effects);

/* Nodes have been lost: hurt says that one of them has members. */
void tree_fence_rewire(struct tree_fence *f, bool is_hurt, struct effects *effects);

/* There is a new link to the parent: send again. */
void tree_fence_greet(struct tree_fence *f, struct effects *effects);

/* The root has said that a fence is over. Returns whether it is news. */
bool tree_fence_released(struct tree_fence *f, uint64_t number, struct effects *effects);

#endif
