/* SPDX-License-Identifier: BSD-3-Clause */

/* The routing tree; see tree.h. */
#include "bnr/core/tree/tree.h"

#include <errno.h>
#include <string.h>

void tree_init(struct tree *t, uint32_t self, uint32_t count, uint32_t radix)
{
    *t = (struct tree){.self = self, .count = count, .radix = radix};
}

void tree_fini(struct tree *t)
{
    node_list_fini(&t->lost);
}

/* The index of the first lost node that is not below node. */
static size_t lower_bound(const struct tree *t, uint32_t node)
{
    size_t low = 0, high = t->lost.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->lost.items[middle] < node)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool tree_is_lost(const struct tree *t, uint32_t node)
{
    size_t i = lower_bound(t, node);
    return i < t->lost.count && t->lost.items[i] == node;
}

int tree_lose(struct tree *t, uint32_t node)
{
    if (node >= t->count)
        return -EINVAL;
    size_t i = lower_bound(t, node);
    if (i < t->lost.count && t->lost.items[i] == node)
        return TREE_KNOWN;
    if (node_list_add(&t->lost, node))
        return -ENOMEM;
    uint32_t *at = t->lost.items + i;
    memmove(at + 1, at, (t->lost.count - 1 - i) * sizeof(*at));
    *at = node;
    return 0;
}

uint32_t tree_parent(const struct tree *t, uint32_t node)
{
    while (node != NODE_ROOT) {
        node = (node - 1) / t->radix;
        if (!tree_is_lost(t, node))
            return node;
    }
    return NODE_NONE;
}

bool tree_is_below(const struct tree *t, uint32_t node, uint32_t ancestor)
{
    while (node > ancestor)
        node = (node - 1) / t->radix;
    return node == ancestor;
}

uint32_t tree_route(const struct tree *t, uint32_t to)
{
    if (to == t->self || !tree_is_below(t, to, t->self))
        return to == t->self ? to : tree_parent(t, t->self);
    for (;;) {
        uint32_t parent = tree_parent(t, to);
        if (parent == t->self || parent == NODE_NONE)
            return to;
        to = parent;
    }
}

static uint32_t radix_of(const struct tree *t, enum tree_mode mode)
{
    return mode == TREE_BINARY ? 2 : t->radix;
}

/* The children of node in a shape where nobody is lost: each from *next on; NODE_NONE at the end.
 * *next begins with 0. */
static uint32_t next_child(const struct tree *t, enum tree_mode mode, uint32_t node, uint64_t *next)
{
    uint64_t child = NODE_NONE, i = (*next)++;
    switch (mode) {
    case TREE_LINEAR:
    case TREE_DIRECT:
        if (node == NODE_ROOT)
            child = i + 1;
        break;
    case TREE_BINOMIAL:
        if (node)
            i += 32 - (uint64_t)__builtin_clz(node);
        if (i < 32)
            child = node + ((uint64_t)1 << i);
        break;
    default:
        if (i < radix_of(t, mode))
            child = (uint64_t)node * radix_of(t, mode) + 1 + i;
    }
    return child < t->count ? (uint32_t)child : NODE_NONE;
}

int tree_children(const struct tree *t, enum tree_mode mode, uint32_t node,
                  struct node_list *children)
{
    struct node_list lost = {0}; /* whose children are taken over */
    int rc = node_list_add(&lost, node);
    for (size_t i = 0; !rc && i < lost.count; i++) {
        uint64_t next = 0;
        uint32_t child;
        while (!rc && (child = next_child(t, mode, lost.items[i], &next)) != NODE_NONE)
            rc = node_list_add(tree_is_lost(t, child) ? &lost : children, child);
    }
    node_list_fini(&lost);
    return rc;
}

static bool next_level(const struct tree *t, uint32_t radix, uint32_t *first, uint32_t *last)
{
    uint64_t low = (uint64_t)*first * radix + 1;
    uint64_t high = (uint64_t)*last * radix + radix;
    if (low >= t->count)
        return false;
    *first = (uint32_t)low;
    *last = (uint32_t)(high < t->count ? high : t->count - 1);
    return true;
}

bool tree_next_level(const struct tree *t, uint32_t *first, uint32_t *last)
{
    return next_level(t, t->radix, first, last);
}

/* Below n in the binomial shape are the nodes whose low bits are n. */
static bool reaches_binomial(const struct tree *t, uint32_t node, const uint32_t range[2])
{
    uint64_t step = node ? (uint64_t)1 << (32 - __builtin_clz(node)) : 1, first = node;
    if (range[0] > node)
        first += (range[0] - node + step - 1) / step * step;
    return first <= range[1] && first < t->count;
}

bool tree_reaches(const struct tree *t, enum tree_mode mode, uint32_t node, const uint32_t range[2])
{
    uint32_t low = node, high = node;
    if (mode == TREE_BINOMIAL)
        return reaches_binomial(t, node, range);
    if ((mode == TREE_LINEAR || mode == TREE_DIRECT) && node != NODE_ROOT)
        return range[0] <= node && node <= range[1];
    do
        if (range[0] <= high && range[1] >= low)
            return true;
    while (next_level(t, radix_of(t, mode), &low, &high));
    return false;
}
