/* SPDX-License-Identifier: BSD-3-Clause */

/* The routing tree, the shapes of xcasts, and the ranks on it, against the slow way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bnr/core/tree/rank_map.h"
#include "bnr/core/tree/tree.h"

static void parents_and_children_are_these(void **state)
{
    static const struct {
        enum tree_mode mode;
        uint32_t radix, count, node;
        uint32_t children[8];
    } rows[] = {
        {TREE_RADIX, 2, 7, 0, {1, 2}},        {TREE_RADIX, 2, 7, 2, {5, 6}},
        {TREE_RADIX, 2, 6, 2, {5}},           {TREE_RADIX, 3, 9, 2, {7, 8}},
        {TREE_RADIX, 1, 3, 1, {2}},           {TREE_RADIX, 8, 2, 1, {0}},
        {TREE_LINEAR, 2, 5, 0, {1, 2, 3, 4}}, {TREE_LINEAR, 2, 5, 3, {0}},
        {TREE_BINOMIAL, 2, 8, 0, {1, 2, 4}},  {TREE_BINOMIAL, 2, 8, 1, {3, 5}},
        {TREE_BINOMIAL, 2, 8, 2, {6}},        {TREE_BINOMIAL, 2, 8, 3, {7}},
        {TREE_BINOMIAL, 2, 8, 4, {0}},        {TREE_BINOMIAL, 2, 11, 2, {6, 10}},
        {TREE_BINARY, 8, 7, 0, {1, 2}},       {TREE_BINARY, 8, 7, 2, {5, 6}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct tree t;
        struct node_list children = {0};
        size_t count = 0;
        tree_init(&t, 0, rows[i].count, rows[i].radix);
        assert_int_equal(tree_children(&t, rows[i].mode, rows[i].node, &children), 0);
        while (rows[i].children[count])
            count++;
        assert_int_equal(children.count, count);
        for (size_t c = 0; c < count; c++)
            assert_int_equal(children.items[c], rows[i].children[c]);
        node_list_fini(&children);
        tree_fini(&t);
    }
}

/* Whether a node from first to last lies below node, asked of all nodes. */
static bool reaches_slowly(const struct tree *t, enum tree_mode mode, uint32_t node,
                           const uint32_t range[2])
{
    struct node_list children = {0};
    bool is_found = range[0] <= node && node <= range[1];
    assert_int_equal(tree_children(t, mode, node, &children), 0);
    for (size_t i = 0; i < children.count && !is_found; i++)
        is_found = reaches_slowly(t, mode, children.items[i], range);
    node_list_fini(&children);
    return is_found;
}

static void what_lies_below_is_known(void **state)
{
    for (uint32_t count = 1; count < 12; count++)
        for (uint32_t i = 0; i < TREE_MODE_END * count * count * count; i++) {
            struct tree t;
            enum tree_mode mode = (enum tree_mode)(i % TREE_MODE_END);
            uint32_t node = i / TREE_MODE_END % count;
            uint32_t range[2] = {i / TREE_MODE_END / count % count,
                                 i / TREE_MODE_END / count / count};
            if (range[0] > range[1])
                continue;
            tree_init(&t, 0, count, 2);
            assert_int_equal(tree_reaches(&t, mode, node, range),
                             reaches_slowly(&t, mode, node, range));
            tree_fini(&t);
        }
}

static void a_lost_node_is_replaced_by_its_parent(void **state)
{
    struct tree t;
    struct node_list children = {0};
    tree_init(&t, 0, 15, 2);
    assert_int_equal(tree_lose(&t, 1), 0);
    assert_int_equal(tree_lose(&t, 4), 0);
    assert_int_equal(tree_lose(&t, 4), TREE_KNOWN);
    assert_true(tree_lose(&t, 15) < 0);
    assert_int_equal(tree_parent(&t, 3), 0);
    assert_int_equal(tree_parent(&t, 9), 0);
    assert_int_equal(tree_parent(&t, 7), 3);
    assert_int_equal(tree_route(&t, 10), 10);
    assert_int_equal(tree_route(&t, 8), 3);
    assert_int_equal(tree_children(&t, TREE_RADIX, 0, &children), 0);
    static const uint32_t all[] = {2, 3, 9, 10};
    assert_int_equal(children.count, 4);
    assert_memory_equal(children.items, all, sizeof(all));
    assert_int_equal(tree_lose(&t, 0), 0);
    assert_int_equal(tree_parent(&t, 2), NODE_NONE);
    node_list_fini(&children);
    tree_fini(&t);
}

/* Every live node is reached once in each shape, and by its route, whoever is lost. */
static void all_that_live_are_reached_once(void **state)
{
    unsigned seed = 5;
    for (int round = 0; round < 400; round++) {
        uint32_t count = 1 + (uint32_t)rand_r(&seed) % 80;
        struct tree t;
        tree_init(&t, 0, count, 1 + (uint32_t)rand_r(&seed) % 9);
        for (int i = rand_r(&seed) % 10; i && count > 1; i--)
            tree_lose(&t, 1 + (uint32_t)rand_r(&seed) % (count - 1));
        for (int mode = 0; mode < TREE_MODE_END; mode++) {
            struct node_list reached = {0};
            node_list_add(&reached, 0);
            for (size_t i = 0; i < reached.count; i++)
                tree_children(&t, (enum tree_mode)mode, reached.items[i], &reached);
            assert_int_equal(reached.count, count - t.lost.count);
            char seen[80] = {0};
            for (size_t i = 0; i < reached.count; i++)
                assert_int_equal(seen[reached.items[i]]++, 0);
            node_list_fini(&reached);
        }
        for (uint32_t to = 0; to < count; to++) {
            uint32_t from = (uint32_t)rand_r(&seed) % count, at = from;
            if (tree_is_lost(&t, to) || tree_is_lost(&t, from))
                continue;
            for (uint32_t hops = 0; at != to; hops++) {
                assert_true(hops < count + 2);
                t.self = at;
                at = tree_route(&t, to);
                assert_false(tree_is_lost(&t, at));
            }
        }
        tree_fini(&t);
    }
}

static void ranks_are_found(void **state)
{
    static const struct rank_block blocks[] = {{0, 2, 4, 3}, {12, 0, 2, 1}, {14, 3, 1, 5}};
    struct rank_map g = {1, 19, blocks, 3};
    static const uint32_t nodes[19] = {2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 0, 1, 3, 3, 3, 3, 3};
    assert_true(rank_map_is_sound(&g, 6));
    assert_false(rank_map_is_sound(&g, 5));
    for (uint32_t rank = 0; rank < 19; rank++)
        assert_int_equal(rank_map_node_of(&g, rank), nodes[rank]);
    assert_int_equal(rank_map_node_of(&g, 19), NODE_NONE);
    assert_int_equal(rank_map_ranks_on(&g, 3), 8);
    assert_int_equal(rank_map_ranks_on(&g, 1), 1);
    struct tree t;
    tree_init(&t, 0, 6, 2);
    assert_int_equal(rank_map_ranks_below(&g, &t, 0), 19);
    assert_int_equal(rank_map_ranks_below(&g, &t, 1), 1 + 8 + 3);
    assert_int_equal(rank_map_weight_below(&g, &t, 1), 1 + 2 + 1);
    tree_lose(&t, 3);
    assert_int_equal(rank_map_ranks_below(&g, &t, 1), 1 + 3);
    tree_fini(&t);
    g.rank_count = 18;
    assert_false(rank_map_is_sound(&g, 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parents_and_children_are_these),
        cmocka_unit_test(what_lies_below_is_known),
        cmocka_unit_test(a_lost_node_is_replaced_by_its_parent),
        cmocka_unit_test(all_that_live_are_reached_once),
        cmocka_unit_test(ranks_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
