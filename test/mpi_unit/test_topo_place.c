/* SPDX-License-Identifier: BSD-3-Clause */

/* Which process takes which node, among places that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mpi/topo/topo_place.h"

enum {
    MOST = 4096
};

/* So many hosts, packages in each, and cores in each package. */
struct machine {
    int hosts, packages, cores;
};

static struct hardware_place list[MOST];

static int machine_size(const struct machine *m)
{
    return m->hosts * m->packages * m->cores;
}

/* Seat of a machine to a rank: in order, around the hosts, or mixed up. */
enum order {
    IN_ORDER,
    ROUND_ROBIN,
    RANDOM,
    ORDERS
};

static void fill(const struct machine *m, enum order order)
{
    int size = machine_size(m), each = m->packages * m->cores, seat[MOST];
    for (int i = 0; i < size; i++)
        seat[i] = order == ROUND_ROBIN ? i % m->hosts * each + i / m->hosts : i;
    for (int i = size - 1; i > 0 && order == RANDOM; i--) {
        int j = rand() % (i + 1), swap = seat[i];
        seat[i] = seat[j];
        seat[j] = swap;
    }
    for (int i = 0; i < size; i++) {
        struct hardware_place *p = &list[i];
        memset(p, 0xff, sizeof(*p)); /* unknown */
        p->id[HARDWARE_HOST] = 1000 - (uint64_t)(seat[i] / each);
        p->id[HARDWARE_PACKAGE] = (uint64_t)(seat[i] / m->cores % m->packages);
        p->id[HARDWARE_CORE] = (uint64_t)(seat[i] % each);
    }
}

struct cuts {
    int64_t before[HARDWARE_LEVELS], after[HARDWARE_LEVELS];
};

static bool is_no_worse(const struct cuts *cuts)
{
    for (int i = 0; i < HARDWARE_LEVELS; i++)
        if (cuts->after[i] != cuts->before[i])
            return cuts->after[i] < cuts->before[i];
    return true;
}

/* Each node has one process, and what is said of the cut is so. */
static void check(const struct topo_places *places, const struct topo_edges *edges,
                  const int *rank_of_node, struct cuts *cuts)
{
    bool taken[MOST] = {false};
    int identity[MOST];
    for (int i = 0; i < edges->nodes; i++) {
        assert_in_range(rank_of_node[i], 0, places->count - 1);
        assert_false(taken[rank_of_node[i]]);
        taken[rank_of_node[i]] = true;
        identity[i] = i;
    }
    assert_int_equal(topo_place_cut(places, edges, identity, cuts->before), 0);
    assert_int_equal(topo_place_cut(places, edges, rank_of_node, cuts->after), 0);
    int64_t across = 0;
    for (int i = 0; i < edges->nodes; i++)
        for (int64_t k = edges->start[i]; k < edges->start[i + 1]; k++)
            if (list[rank_of_node[i]].id[0] != list[rank_of_node[edges->end[k].node]].id[0])
                across += edges->end[k].weight;
    if (list[places->rank[0]].id[0] != list[places->rank[places->count - 1]].id[0])
        assert_int_equal(across, cuts->after[0]); /* hosts are the first level */
    else
        assert_int_equal(across, 0);
    assert_true(is_no_worse(cuts));
}

static struct cuts place_grid(const struct machine *m, enum order order,
                              const struct topo_grid *grid)
{
    struct topo_places places;
    struct topo_edges edges;
    struct cuts cuts;
    int rank_of_node[MOST];
    fill(m, order);
    assert_int_equal(topo_places_make(list, machine_size(m), &places), 0);
    assert_int_equal(topo_edges_of_grid(grid, &edges), 0);
    assert_int_equal(topo_place_grid(&places, grid, rank_of_node), 0);
    check(&places, &edges, rank_of_node, &cuts);
    topo_edges_free(&edges);
    topo_places_free(&places);
    return cuts;
}

/* The graph of a grid, with no knowledge of its being one. */
static struct cuts place_graph(const struct machine *m, enum order order,
                               const struct topo_grid *grid)
{
    struct topo_places places;
    struct topo_edges edges;
    struct cuts cuts;
    int rank_of_node[MOST];
    fill(m, order);
    assert_int_equal(topo_places_make(list, machine_size(m), &places), 0);
    assert_int_equal(topo_edges_of_grid(grid, &edges), 0);
    assert_int_equal(topo_place_graph(&places, &edges, rank_of_node), 0);
    check(&places, &edges, rank_of_node, &cuts);
    topo_edges_free(&edges);
    topo_places_free(&places);
    return cuts;
}

struct example {
    struct machine machine;
    int ndims, dims[3], periods[3];
    int64_t best; /* edges between hosts, counted at both ends; -1: not known */
    const char *claim;
};

static const struct example examples[] = {
    {{2, 1, 8}, 2, {4, 4}, {0, 0}, 8, "a square on two hosts is cut across the middle"},
    {{2, 2, 4}, 2, {4, 4}, {0, 0}, 8, "and so it is where hosts have packages"},
    {{2, 1, 8}, 2, {4, 4}, {1, 1}, 16, "a torus is cut twice"},
    {{4, 1, 4}, 2, {4, 4}, {0, 0}, 16, "four hosts get a quarter each"},
    {{9, 1, 4}, 2, {6, 6}, {0, 0}, 48, "nine hosts get squares of four"},
    {{8, 1, 8}, 3, {4, 4, 4}, {0, 0, 0}, 96, "eight hosts get cubes"},
    {{4, 1, 4}, 1, {16}, {0}, 6, "a line is cut into pieces"},
    {{4, 1, 4}, 1, {16}, {1}, 8, "a ring is cut into pieces"},
    {{3, 1, 6}, 2, {6, 3}, {0, 0}, 12, "three hosts get a strip each"},
};

static void test_examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
        const struct example *e = &examples[i];
        struct topo_grid grid = {e->ndims, e->dims, e->periods};
        for (int order = 0; order < ORDERS; order++) {
            print_message("%s, order %d\n", e->claim, order);
            struct cuts cuts = place_grid(&e->machine, (enum order)order, &grid);
            assert_int_equal(cuts.after[0], e->best);
            assert_true(order == IN_ORDER || cuts.after[0] < cuts.before[0]);
            cuts = place_graph(&e->machine, (enum order)order, &grid);
            assert_true(order == IN_ORDER || cuts.after[0] < cuts.before[0]);
            print_message("    %lld, as a graph %lld\n", (long long)e->best,
                          (long long)cuts.after[0]);
            assert_true(cuts.after[0] <= e->best * 4 / 3);
        }
    }
}

/* Within hosts packages count: four by four on two hosts of two packages each. */
static void test_packages(void **state)
{
    (void)state;
    static const struct machine machine = {2, 2, 4};
    static const int dims[2] = {4, 4}, periods[2] = {0, 0};
    struct topo_grid grid = {2, dims, periods};
    for (int order = ROUND_ROBIN; order < ORDERS; order++) {
        struct cuts cuts = place_grid(&machine, (enum order)order, &grid);
        assert_int_equal(cuts.after[0], 8);
        assert_int_equal(cuts.after[1], 8); /* two squares in each half */
    }
}

/* Any grid on any hosts, some of which may have fewer processes: never worse. */
static void test_random_grids(void **state)
{
    (void)state;
    int better = 0;
    for (unsigned seed = 0; seed < 400; seed++) {
        srand(seed);
        struct machine m = {1 + rand() % 5, 1 + rand() % 3, 1 + rand() % 6};
        int size = machine_size(&m), ndims = 1 + rand() % 3, dims[3], periods[3], rest = size;
        for (int d = 0; d < ndims; d++) {
            dims[d] = 1 + rand() % rest;
            periods[d] = rand() % 2;
            rest /= dims[d];
        }
        struct topo_grid grid = {ndims, dims, periods};
        struct cuts cuts = place_grid(&m, RANDOM, &grid);
        better += memcmp(cuts.after, cuts.before, sizeof(cuts.after)) != 0;
        cuts = place_graph(&m, RANDOM, &grid);
        better += memcmp(cuts.after, cuts.before, sizeof(cuts.after)) != 0;
    }
    assert_true(better > 400);
}

/* Groups of nodes that talk much among themselves, and little with others, come together. */
static void test_clusters(void **state)
{
    (void)state;
    static const struct machine machine = {4, 1, 8};
    struct topo_edge edge[MOST];
    int count = 0, rank_of_node[MOST];
    srand(5);
    for (int i = 0; i < 32; i++)
        for (int j = 0; j < i; j++)
            if (i % 4 == j % 4)
                edge[count++] = (struct topo_edge){i, j, 50 + rand() % 50};
            else if (rand() % 3 == 0)
                edge[count++] = (struct topo_edge){j, i, 1};
    edge[count++] = (struct topo_edge){3, 3, 1000}; /* of no account */
    struct topo_places places;
    struct topo_edges edges;
    struct cuts cuts;
    fill(&machine, IN_ORDER);
    assert_int_equal(topo_places_make(list, 32, &places), 0);
    assert_int_equal(topo_edges_make(edge, count, 32, &edges), 0);
    assert_int_equal(topo_place_graph(&places, &edges, rank_of_node), 0);
    check(&places, &edges, rank_of_node, &cuts);
    for (int i = 0; i < 32; i++)
        assert_int_equal(list[rank_of_node[i]].id[0], list[rank_of_node[i % 4]].id[0]);
    topo_edges_free(&edges);
    topo_places_free(&places);
}

/* Where all processes are in one place, or each level is unknown, they stay as they are. */
static void test_one_place(void **state)
{
    (void)state;
    struct topo_places places;
    memset(list, 0xff, sizeof(list));
    assert_int_equal(topo_places_make(list, 100, &places), 0);
    assert_int_equal(places.levels, 0);
    topo_places_free(&places);
}

/* Sizes that are no toys end soon, and pay. */
static void test_large(void **state)
{
    (void)state;
    static const struct machine machine = {32, 2, 64};
    static const int dims[3] = {16, 16, 16}, periods[3] = {1, 0, 0};
    struct topo_grid grid = {3, dims, periods};
    struct cuts cuts = place_grid(&machine, ROUND_ROBIN, &grid);
    assert_true(cuts.after[0] * 2 < cuts.before[0]);
    struct cuts graph = place_graph(&machine, RANDOM, &grid);
    assert_true(graph.after[0] * 2 < graph.before[0]);
    assert_true(graph.after[0] <= 2 * cuts.after[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),     cmocka_unit_test(test_packages),
        cmocka_unit_test(test_random_grids), cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_one_place),    cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
