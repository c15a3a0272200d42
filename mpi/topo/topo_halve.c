/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Halving a graph so that few edges cross. The left half grows from one node: it always takes the
 * neighbouring node whose move cuts least. Then nodes of both halves change places as long as that
 * helps. The best of a few starts is taken. See topo_place.h.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/topo/topo_place.h"

enum {
    BEGINNINGS = 4,
    SWAPS = 64
};

struct topo_half {
    int64_t gain; /* weight of its edges to the left, minus that of those to the right */
    bool within;  /* belongs to the nodes that are split */
    bool left, beside;
    bool best;    /* left, in the best split so far */
};

int topo_halver_make(const struct topo_edges *edges, struct topo_halver *halver)
{
    *halver = (struct topo_halver){edges, calloc((size_t)edges->nodes + 1, sizeof(struct topo_half)),
                                   calloc((size_t)edges->nodes + 1, sizeof(int))};
    if (halver->half && halver->list)
        return MPI_SUCCESS;
    topo_halver_free(halver);
    return MPI_ERR_NO_MEM;
}

void topo_halver_free(struct topo_halver *halver)
{
    free(halver->half);
    free(halver->list);
}

/* Move a node to the other side. Neighbours of the left half that this finds are added to the list.
 */
static int change_side(struct topo_halver *h, int node, int listed)
{
    int sign = h->half[node].left ? -2 : 2;
    h->half[node].left = !h->half[node].left;
    for (int64_t i = h->edges->start[node]; i < h->edges->start[node + 1]; i++) {
        struct topo_half *other = &h->half[h->edges->end[i].node];
        other->gain += (int64_t)sign * h->edges->end[i].weight;
        if (other->within && !other->beside) {
            other->beside = true;
            h->list[listed++] = h->edges->end[i].node;
        }
    }
    return listed;
}

/* Put all nodes to the right. */
static void begin(struct topo_halver *h, const int *nodes, int count)
{
    for (int i = 0; i < count; i++)
        h->half[nodes[i]] = (struct topo_half){.within = true, .best = h->half[nodes[i]].best};
    for (int i = 0; i < count; i++)
        for (int64_t k = h->edges->start[nodes[i]]; k < h->edges->start[nodes[i] + 1]; k++)
            if (h->half[h->edges->end[k].node].within)
                h->half[nodes[i]].gain -= h->edges->end[k].weight;
}

/* Grow the left half to so many nodes, from one of them. Returns the last node taken. */
static int grow(struct topo_halver *h, const int *nodes, int left, int from)
{
    int listed = 0, untouched = 0, node = from;
    for (int taken = 0; taken < left; taken++) {
        int best = -1;
        for (int i = 0; i < listed; i++)
            if (best < 0 || h->half[h->list[i]].gain > h->half[h->list[best]].gain)
                best = i;
        if (best >= 0) {
            node = h->list[best];
            memmove(h->list + best, h->list + best + 1, (size_t)(--listed - best) * sizeof(int));
        } else if (taken) {
            while (h->half[nodes[untouched]].beside)
                untouched++;
            node = nodes[untouched];
        }
        h->half[node].beside = true;
        listed = change_side(h, node, listed);
    }
    return node;
}

static int64_t weight_between(const struct topo_edges *edges, int a, int b)
{
    int64_t weight = 0;
    for (int64_t i = edges->start[a]; i < edges->start[a + 1]; i++)
        weight += edges->end[i].node == b ? edges->end[i].weight : 0;
    return weight;
}

/* Exchange the two nodes with the most gain. Returns whether the cut has become less. */
static bool swap_best(struct topo_halver *h, const int *nodes, int count)
{
    int a = -1, b = -1; /* of the left, of the right */
    for (int i = 0; i < count; i++) {
        const struct topo_half *half = &h->half[nodes[i]];
        if (half->left && (a < 0 || half->gain < h->half[a].gain))
            a = nodes[i];
        if (!half->left && (b < 0 || half->gain > h->half[b].gain))
            b = nodes[i];
    }
    if (h->half[b].gain - h->half[a].gain <= 2 * weight_between(h->edges, a, b))
        return false;
    (void)change_side(h, a, 0);
    (void)change_side(h, b, 0);
    return true;
}

/* The weight of the edges between the halves, minus a constant that is the same for all splits. */
static int64_t cut_of(const struct topo_halver *h, const int *nodes, int count)
{
    int64_t cut = 0;
    for (int i = 0; i < count; i++)
        cut -= h->half[nodes[i]].left ? h->half[nodes[i]].gain : -h->half[nodes[i]].gain;
    return cut;
}

int topo_split_graph(void *how, int *nodes, int count, int left)
{
    struct topo_halver *h = how;
    int64_t least = INT64_MAX;
    int from = nodes[0], lefts = 0, rights = left;
    for (int i = 0; i < BEGINNINGS; i++) {
        begin(h, nodes, count);
        from = grow(h, nodes, left, from);
        for (int k = 0; k < count; k++)
            h->half[nodes[k]].beside = true; /* nobody is listed any more */
        for (int swaps = 0; swaps < SWAPS && swap_best(h, nodes, count); swaps++)
            ;
        int64_t cut = cut_of(h, nodes, count);
        for (int k = 0; k < count && cut < least; k++)
            h->half[nodes[k]].best = h->half[nodes[k]].left;
        least = cut < least ? cut : least;
    }
    memcpy(h->list, nodes, (size_t)count * sizeof(int));
    for (int k = 0; k < count; k++) {
        nodes[h->half[h->list[k]].best ? lefts++ : rights++] = h->list[k];
        h->half[h->list[k]].within = false;
    }
    return MPI_SUCCESS;
}
