/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The routing tree over the nodes of a virtual machine, and the shapes by which an xcast spreads.
 * All are functions of the number of nodes, a shape, and the set of nodes that are lost, which
 * only grows; so nodes that know of the same losses agree without a word.
 *
 *     radix r    children of n: r n + 1 ... r n + r
 *     linear     all are children of node 0
 *     binomial   children of n: n + 2^i, for each 2^i above n
 *     binary     radix 2, for what is long: a node sends few copies, and each part of it goes on
 *                while the next one comes
 *     direct     as linear, with a copy for each process in place of each host
 *
 * Where a node is lost, its parent takes over its children. Routing uses the radix shape.
 */
#ifndef BNR_TREE_H
#define BNR_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bnr/core/tree/message.h"

enum tree_mode {
    TREE_RADIX,  /* as the routing tree */
    TREE_LINEAR, /* node 0 to each */
    TREE_BINOMIAL,
    TREE_DIRECT,
    TREE_BINARY,
    TREE_MODE_END
};

enum {
    TREE_RADIX_DEFAULT = 8,
    TREE_RADIX_MAX = 1024
};

struct tree {
    uint32_t self, count, radix;
    struct node_list lost; /* sorted */
};

void tree_init(struct tree *t, uint32_t self, uint32_t count, uint32_t radix);
void tree_fini(struct tree *t);

bool tree_is_lost(const struct tree *t, uint32_t node);

enum tree_outcome {
    TREE_KNOWN = 1
};

/* Take a node for lost. Returns 0 if that is news, TREE_KNOWN, -EINVAL for no node, -ENOMEM. */
int tree_lose(struct tree *t, uint32_t node);

/* The nearest live node above, or NODE_NONE: node is the root, or the root is lost. */
uint32_t tree_parent(const struct tree *t, uint32_t node);

/* Whether node lies below ancestor, or is it. */
bool tree_is_below(const struct tree *t, uint32_t node, uint32_t ancestor);

/* The neighbour of self that leads to a live node. */
uint32_t tree_route(const struct tree *t, uint32_t to);

/* Append the live children of node, and those of lost ones in their place. Returns 0 or -ENOMEM. */
int tree_children(const struct tree *t, enum tree_mode mode, uint32_t node,
                  struct node_list *children);

/* Walk the levels of the subtree of node, itself first: each is a range of nodes. Begin with
 * *first = *last = node; false when there is no further level. */
bool tree_next_level(const struct tree *t, uint32_t *first, uint32_t *last);

/* Whether any node from first to last lies below node in a shape where nobody is lost, or is it. */
bool tree_reaches(const struct tree *t, enum tree_mode mode, uint32_t node,
                  const uint32_t range[2]);

#endif
