/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Which ranks of a group run on which nodes, as a list of regular blocks: a job of any size on
 * like hosts is one block.
 */
#ifndef BNR_RANK_MAP_H
#define BNR_RANK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bnr/core/tree/tree.h"

/* nodes first_node, first_node + 1, ...: ranks_each ranks on each, one after another. */
struct rank_block {
    uint32_t first_rank, first_node, node_count, ranks_each;
};

struct rank_map {
    uint64_t id;
    uint32_t rank_count;
    const struct rank_block *blocks; /* in the order of ranks, without gaps */
    size_t block_count;
};

/* Make the blocks, to be released with free(), for ranks on these nodes. Returns 0 or -ENOMEM. */
int rank_map_make(struct rank_map *g, uint64_t id, const uint32_t *node_of, uint32_t count);

/* Whether the blocks are as they should be, over so many nodes. */
bool rank_map_is_sound(const struct rank_map *g, uint32_t node_count);

/* The node of a rank, NODE_NONE if there is no such rank. */
uint32_t rank_map_node_of(const struct rank_map *g, uint32_t rank);

/* How many of its ranks a node has. */
uint32_t rank_map_ranks_on(const struct rank_map *g, uint32_t node);

/* How many live nodes below node, itself too, have ranks of the group. A node that is in several
 * blocks counts once for each; all who ask count the same. */
uint64_t rank_map_weight_below(const struct rank_map *g, const struct tree *t, uint32_t node);

/* How many ranks live nodes below node have, itself too. */
uint64_t rank_map_ranks_below(const struct rank_map *g, const struct tree *t, uint32_t node);

/* The count of a node in that sum. */
uint32_t rank_map_weight_of(const struct rank_map *g, uint32_t node);

#endif
