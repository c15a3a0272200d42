/* SPDX-License-Identifier: BSD-3-Clause */

/* Seats, graphs, and the choice among orders; see topo_place.h. */
#include "mpi/topo/topo_place.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* ---- seats ---- */

struct sorting {
    const struct hardware_place *list;
    const int *group; /* by rank, of HARDWARE_LEVELS each: as in struct topo_places */
    int level;        /* to distinguish; groups of the levels before are known */
};

/* Order by the groups that are known, then by the place in the next level. */
static int by_place(const void *a, const void *b, void *arg)
{
    const struct sorting *s = arg;
    int i = *(const int *)a, j = *(const int *)b;
    for (int level = 0; level < s->level; level++) {
        int left = s->group[(size_t)i * HARDWARE_LEVELS + (size_t)level];
        int right = s->group[(size_t)j * HARDWARE_LEVELS + (size_t)level];
        if (left != right)
            return left < right ? -1 : 1;
    }
    if (s->level < HARDWARE_LEVELS && s->list[i].id[s->level] != s->list[j].id[s->level])
        return s->list[i].id[s->level] < s->list[j].id[s->level] ? -1 : 1;
    return (i > j) - (i < j);
}

/* Whether two neighbours in the order are in the same place. */
static bool are_together(const struct sorting *s, int i, int j)
{
    size_t outer = (size_t)s->level - 1;
    return (s->level == 0 || s->group[(size_t)i * HARDWARE_LEVELS + outer] ==
                                 s->group[(size_t)j * HARDWARE_LEVELS + outer]) &&
           s->list[i].id[s->level] == s->list[j].id[s->level];
}

/* Find the groups of all levels by rank, and sort the ranks. Returns the levels (bits) that
 * distinguish processes which the levels before do not. */
static unsigned find_groups(const struct hardware_place *list, int count, int *rank, int *group)
{
    struct sorting s = {list, group, 0};
    unsigned levels = 0;
    int parts = count > 0;
    for (; s.level < HARDWARE_LEVELS; s.level++) {
        int found = 0, first = 0;
        qsort_r(rank, (size_t)count, sizeof(*rank), by_place, &s);
        for (int i = 0; i < count; i++) {
            if (i == 0 || !are_together(&s, rank[i - 1], rank[i])) {
                first = rank[i];
                found++;
            }
            group[(size_t)rank[i] * HARDWARE_LEVELS + (size_t)s.level] = first;
        }
        levels |= found > parts ? 1U << s.level : 0;
        parts = found;
    }
    qsort_r(rank, (size_t)count, sizeof(*rank), by_place, &s);
    return levels;
}

int topo_places_make(const struct hardware_place *list, int count, struct topo_places *places)
{
    size_t n = (size_t)count + !count;
    int *by_rank = malloc(n * HARDWARE_LEVELS * sizeof(*by_rank));
    *places = (struct topo_places){.count = count, .rank = malloc(n * sizeof(int))};
    places->group = malloc(n * HARDWARE_LEVELS * sizeof(*places->group));
    if (!by_rank || !places->rank || !places->group) {
        free(by_rank);
        topo_places_free(places);
        return MPI_ERR_NO_MEM;
    }
    for (int i = 0; i < count; i++)
        places->rank[i] = i;
    unsigned levels = find_groups(list, count, places->rank, by_rank);
    int *group = places->group;
    for (int seat = 0; seat < count; seat++)
        for (int level = 0; level < HARDWARE_LEVELS; level++)
            if (levels & 1U << level)
                *group++ = by_rank[(size_t)places->rank[seat] * HARDWARE_LEVELS + (size_t)level];
    places->levels = __builtin_popcount(levels);
    free(by_rank);
    return MPI_SUCCESS;
}

void topo_places_free(struct topo_places *places)
{
    free(places->rank);
    free(places->group);
    *places = (struct topo_places){0};
}

/* Outermost level in which two seats are in different places; places->levels: none. */
static int apart_at(const struct topo_places *places, int a, int b)
{
    const int *left = places->group + (size_t)a * (size_t)places->levels;
    const int *right = places->group + (size_t)b * (size_t)places->levels;
    int level = 0;
    while (level < places->levels && left[level] == right[level])
        level++;
    return level;
}

/* ---- graphs ---- */

static int edges_alloc(struct topo_edges *edges, int nodes, int64_t ends)
{
    *edges = (struct topo_edges){.nodes = nodes};
    edges->start = calloc((size_t)nodes + 2, sizeof(*edges->start));
    edges->end = calloc((size_t)ends + 1, sizeof(*edges->end));
    if (edges->start && edges->end)
        return MPI_SUCCESS;
    topo_edges_free(edges);
    return MPI_ERR_NO_MEM;
}

int topo_edges_make(const struct topo_edge *list, int64_t count, int nodes,
                    struct topo_edges *edges)
{
    if (edges_alloc(edges, nodes, 2 * count))
        return MPI_ERR_NO_MEM;
    int64_t *at = edges->start + 1; /* ends up one node further */
    for (int64_t i = 0; i < count; i++)
        if (list[i].from != list[i].to) {
            at[list[i].from + 1]++;
            at[list[i].to + 1]++;
        }
    at[0] = 0;
    for (int i = 0; i < nodes; i++)
        at[i + 1] += at[i];
    for (int64_t i = 0; i < count; i++)
        if (list[i].from != list[i].to) {
            edges->end[at[list[i].from]++] = (struct topo_end){list[i].to, list[i].weight};
            edges->end[at[list[i].to]++] = (struct topo_end){list[i].from, list[i].weight};
        }
    return MPI_SUCCESS;
}

int topo_edges_of_grid(const struct topo_grid *grid, struct topo_edges *edges)
{
    int64_t nodes = 1, count = 0;
    for (int d = 0; d < grid->ndims; d++)
        nodes *= grid->dims[d];
    struct topo_edge *list = malloc((size_t)(nodes * grid->ndims + 1) * sizeof(*list));
    if (!list)
        return MPI_ERR_NO_MEM;
    for (int node = 0; node < nodes; node++) {
        int stride = 1;
        for (int d = grid->ndims - 1; d >= 0; d--) {
            int size = grid->dims[d], at = node / stride % size;
            if (at + 1 < size)
                list[count++] = (struct topo_edge){node, node + stride, 1};
            else if (grid->periods[d])
                list[count++] = (struct topo_edge){node, node - at * stride, 1};
            stride *= size;
        }
    }
    int rc = topo_edges_make(list, count, (int)nodes, edges);
    free(list);
    return rc;
}

void topo_edges_free(struct topo_edges *edges)
{
    free(edges->start);
    free(edges->end);
    *edges = (struct topo_edges){0};
}

/* ---- choosing ---- */

static void measure(const struct topo_places *places, const struct topo_edges *edges,
                    const int *seat_of_node, int64_t cut[HARDWARE_LEVELS])
{
    memset(cut, 0, HARDWARE_LEVELS * sizeof(*cut));
    for (int node = 0; node < edges->nodes; node++)
        for (int64_t i = edges->start[node]; i < edges->start[node + 1]; i++) {
            int level = apart_at(places, seat_of_node[node], seat_of_node[edges->end[i].node]);
            if (level < places->levels)
                cut[level] += edges->end[i].weight;
        }
}

int topo_place_cut(const struct topo_places *places, const struct topo_edges *edges,
                   const int *rank_of_node, int64_t cut[HARDWARE_LEVELS])
{
    size_t nodes = (size_t)edges->nodes, count = (size_t)places->count;
    int *seat = malloc((count + nodes + 1) * sizeof(*seat)), *of_node = seat + count;
    if (!seat)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < places->count; i++)
        seat[places->rank[i]] = i;
    for (int node = 0; node < edges->nodes; node++)
        of_node[node] = seat[rank_of_node[node]];
    measure(places, edges, of_node, cut);
    free(seat);
    return MPI_SUCCESS;
}

static bool is_less(const int64_t *a, const int64_t *b)
{
    int level = 0;
    while (level < HARDWARE_LEVELS - 1 && a[level] == b[level])
        level++;
    return a[level] < b[level];
}

int topo_place_choose(const struct topo_places *places, const struct topo_edges *edges,
                      const int *node_of_seat, int *rank_of_node)
{
    int64_t cut[HARDWARE_LEVELS], before[HARDWARE_LEVELS];
    int *seat = malloc(((size_t)edges->nodes + 1) * sizeof(*seat));
    int rc = seat ? topo_place_cut(places, edges, rank_of_node, before) : MPI_ERR_NO_MEM;
    for (int i = 0; !rc && i < edges->nodes; i++)
        seat[node_of_seat[i]] = i;
    if (!rc)
        measure(places, edges, seat, cut);
    for (int i = 0; !rc && is_less(cut, before) && i < edges->nodes; i++)
        rank_of_node[i] = places->rank[seat[i]];
    free(seat);
    return rc;
}

/* ---- splitting ---- */

struct splitting {
    const struct topo_places *places;
    topo_split_fn split;
    void *how;
};

/* Order count nodes for the seats from first on. */
static int split_range(const struct splitting *s, int *nodes, int first, int count)
{
    while (count > 1) {
        /* The outermost border; of several, the one that is nearest to the middle. */
        int left = 0, outermost = s->places->levels;
        for (int i = 1; i < count; i++) {
            int level = apart_at(s->places, first + i - 1, first + i);
            if (level < outermost ||
                (level == outermost && left && abs(2 * i - count) < abs(2 * left - count))) {
                outermost = level;
                left = i;
            }
        }
        if (!left)
            return MPI_SUCCESS;
        int rc = s->split(s->how, nodes, count, left);
        if (!rc)
            rc = split_range(s, nodes, first, left);
        if (rc)
            return rc;
        nodes += left;
        first += left;
        count -= left;
    }
    return MPI_SUCCESS;
}

int topo_place_split(const struct topo_places *places, int *nodes, int count, topo_split_fn split,
                     void *how)
{
    struct splitting s = {places, split, how};
    return split_range(&s, nodes, 0, count);
}

int topo_place_graph(const struct topo_places *places, const struct topo_edges *edges,
                     int *rank_of_node)
{
    int *nodes = malloc(((size_t)edges->nodes + 1) * sizeof(*nodes)), taken = 0;
    struct topo_halver halver;
    for (int i = 0; i < edges->nodes; i++)
        rank_of_node[i] = i;
    if (!nodes || topo_halver_make(edges, &halver)) {
        free(nodes);
        return MPI_ERR_NO_MEM;
    }
    /* If each process has a node, begin with the present order. */
    for (int seat = 0; seat < places->count; seat++)
        if (places->rank[seat] < edges->nodes)
            nodes[taken++] = places->rank[seat];
    int rc = topo_place_split(places, nodes, edges->nodes, topo_split_graph, &halver);
    if (!rc)
        rc = topo_place_choose(places, edges, nodes, rank_of_node);
    topo_halver_free(&halver);
    free(nodes);
    return rc;
}
