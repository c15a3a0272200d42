/* SPDX-License-Identifier: BSD-3-Clause */

/* Ranks and nodes; see rank_map.h. */
#include "bnr/core/tree/rank_map.h"

#include <errno.h>
#include <stdlib.h>

int rank_map_make(struct rank_map *g, uint64_t id, const uint32_t *node_of, uint32_t count)
{
    struct rank_block *blocks = malloc((count ? count : 1) * sizeof(*blocks));
    size_t made = 0;
    if (!blocks)
        return -ENOMEM;
    for (uint32_t r = 0, n; r < count; r += n) {
        n = 1;
        while (r + n < count && node_of[r + n] == node_of[r])
            n++;
        struct rank_block *last = made ? &blocks[made - 1] : NULL;
        if (last && last->ranks_each == n && last->first_node + last->node_count == node_of[r])
            last->node_count++;
        else
            blocks[made++] = (struct rank_block){r, node_of[r], 1, n};
    }
    *g = (struct rank_map){id, count, blocks, made};
    return 0;
}

bool rank_map_is_sound(const struct rank_map *g, uint32_t node_count)
{
    uint64_t rank = 0;
    for (size_t i = 0; i < g->block_count; i++) {
        const struct rank_block *b = &g->blocks[i];
        if (b->first_rank != rank || !b->node_count || !b->ranks_each ||
            (uint64_t)b->first_node + b->node_count > node_count)
            return false;
        rank += (uint64_t)b->node_count * b->ranks_each;
        if (rank > g->rank_count)
            return false;
    }
    return rank == g->rank_count && rank < UINT32_MAX;
}

uint32_t rank_map_node_of(const struct rank_map *g, uint32_t rank)
{
    size_t low = 0, high = g->block_count;
    if (rank >= g->rank_count)
        return NODE_NONE;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (g->blocks[middle].first_rank <= rank)
            low = middle;
        else
            high = middle;
    }
    const struct rank_block *b = &g->blocks[low];
    return b->first_node + (rank - b->first_rank) / b->ranks_each;
}

static bool has_node(const struct rank_block *b, uint32_t node)
{
    return node >= b->first_node && node - b->first_node < b->node_count;
}

uint32_t rank_map_ranks_on(const struct rank_map *g, uint32_t node)
{
    uint32_t count = 0;
    for (size_t i = 0; i < g->block_count; i++)
        if (has_node(&g->blocks[i], node))
            count += g->blocks[i].ranks_each;
    return count;
}

uint32_t rank_map_weight_of(const struct rank_map *g, uint32_t node)
{
    uint32_t weight = 0;
    for (size_t i = 0; i < g->block_count; i++)
        weight += has_node(&g->blocks[i], node);
    return weight;
}

static uint64_t overlap(const struct rank_block *b, uint64_t first, uint64_t last)
{
    uint64_t low = first > b->first_node ? first : b->first_node;
    uint64_t high = (uint64_t)b->first_node + b->node_count - 1;
    if (last < high)
        high = last;
    return low <= high ? high - low + 1 : 0;
}

/* A sum over the live nodes below node: of their ranks, or of their weights. */
static uint64_t sum_below(const struct rank_map *g, const struct tree *t, uint32_t node,
                          bool is_ranks)
{
    uint64_t sum = 0;
    uint32_t first = node, last = node;
    do {
        for (size_t i = 0; i < g->block_count; i++) {
            const struct rank_block *b = &g->blocks[i];
            sum += overlap(b, first, last) * (is_ranks ? b->ranks_each : 1);
        }
    } while (tree_next_level(t, &first, &last));
    for (size_t i = 0; i < t->lost.count; i++) {
        uint32_t lost = t->lost.items[i];
        if (tree_is_below(t, lost, node))
            sum -= is_ranks ? rank_map_ranks_on(g, lost) : rank_map_weight_of(g, lost);
    }
    return sum;
}

uint64_t rank_map_weight_below(const struct rank_map *g, const struct tree *t, uint32_t node)
{
    return sum_below(g, t, node, false);
}

uint64_t rank_map_ranks_below(const struct rank_map *g, const struct tree *t, uint32_t node)
{
    return sum_below(g, t, node, true);
}
