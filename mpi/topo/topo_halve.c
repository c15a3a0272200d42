/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Halving a graph (into any two sizes) with few edges across: one part grows from a node at the
 * graph's rim, always by the node that is bound to it most; and then nodes change sides in
 * pairs, best first, as long as that lowers the cut somewhere on the way. The same is done with the
 * order that was given, and the better one of both is taken. See topo_place.h.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/topo/topo_place.h"

enum side {
    SIDE_NONE,
    SIDE_LEFT,
    SIDE_RIGHT,
    SIDE_LEFT_FIXED,
    SIDE_RIGHT_FIXED
};

enum {
    PASSES = 8,
    PATIENCE = 64 /* pairs without a new best */
};

/* How much a node would lower the cut by changing sides; growing looks at the nodes first that
 * touch the part. */
struct topo_gain {
    bool touches;
    int64_t value;
};

int topo_halver_make(const struct topo_edges *edges, struct topo_halver *halver)
{
    size_t n = (size_t)edges->nodes + 1;
    *halver = (struct topo_halver){.edges = edges};
    halver->side = calloc(n, sizeof(*halver->side));
    halver->gain = calloc(n, sizeof(*halver->gain));
    halver->heap = calloc(n, sizeof(*halver->heap));
    halver->place = calloc(n, sizeof(*halver->place));
    halver->moved = calloc(n, sizeof(*halver->moved));
    if (halver->side && halver->gain && halver->heap && halver->place && halver->moved)
        return MPI_SUCCESS;
    topo_halver_free(halver);
    return MPI_ERR_NO_MEM;
}

void topo_halver_free(struct topo_halver *halver)
{
    free(halver->side);
    free(halver->gain);
    free(halver->heap);
    free(halver->place);
    free(halver->moved);
}

/* ---- a heap of nodes, greatest gain first, then lowest number ---- */

struct heap {
    struct topo_halver *h;
    int *item; /* in h->heap */
    int count;
};

static bool is_before(const struct topo_halver *h, int a, int b)
{
    const struct topo_gain *left = &h->gain[a], *right = &h->gain[b];
    if (left->touches != right->touches)
        return left->touches;
    return left->value != right->value ? left->value > right->value : a < b;
}

static void put(struct heap *heap, int at, int node)
{
    heap->item[at] = node;
    heap->h->place[node] = at;
}

/* Bring the node of this place to where it belongs. */
static void settle(struct heap *heap, int at)
{
    int node = heap->item[at];
    while (at && is_before(heap->h, node, heap->item[(at - 1) / 2])) {
        put(heap, at, heap->item[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (;;) {
        int child = 2 * at + 1;
        if (child + 1 < heap->count && is_before(heap->h, heap->item[child + 1], heap->item[child]))
            child++;
        if (child >= heap->count || !is_before(heap->h, heap->item[child], node))
            break;
        put(heap, at, heap->item[child]);
        at = child;
    }
    put(heap, at, node);
}

static void push(struct heap *heap, int node)
{
    put(heap, heap->count++, node);
    settle(heap, heap->count - 1);
}

static int pop(struct heap *heap)
{
    int node = heap->item[0];
    put(heap, 0, heap->item[--heap->count]);
    if (heap->count)
        settle(heap, 0);
    return node;
}

/* ---- gains ---- */

static bool is_left(const struct topo_halver *h, int node)
{
    return h->side[node] == SIDE_LEFT || h->side[node] == SIDE_LEFT_FIXED;
}

/* Weight across less weight within. */
static int64_t gain_of(const struct topo_halver *h, int node)
{
    int64_t gain = 0;
    for (int64_t i = h->edges->start[node]; i < h->edges->start[node + 1]; i++) {
        const struct topo_end *end = &h->edges->end[i];
        if (h->side[end->node])
            gain += is_left(h, end->node) == is_left(h, node) ? -end->weight : end->weight;
    }
    return gain;
}

/* Twice the weight across. */
static int64_t cut_of(const struct topo_halver *h, const int *nodes, int count)
{
    int64_t cut = 0;
    for (int i = 0; i < count; i++)
        for (int64_t k = h->edges->start[nodes[i]]; k < h->edges->start[nodes[i] + 1]; k++) {
            const struct topo_end *end = &h->edges->end[k];
            if (h->side[end->node] && is_left(h, end->node) != is_left(h, nodes[i]))
                cut += end->weight;
        }
    return cut;
}

/* A node has changed sides: so do the gains of its neighbours, which are in these heaps. */
static void changed(const struct topo_halver *h, int node, struct heap *left, struct heap *right)
{
    for (int64_t i = h->edges->start[node]; i < h->edges->start[node + 1]; i++) {
        int other = h->edges->end[i].node;
        int64_t weight = 2 * (int64_t)h->edges->end[i].weight;
        if (h->side[other] != SIDE_LEFT && h->side[other] != SIDE_RIGHT)
            continue;
        h->gain[other].value += is_left(h, other) == is_left(h, node) ? -weight : weight;
        h->gain[other].touches = true;
        struct heap *heap = h->side[other] == SIDE_LEFT ? left : right;
        if (heap)
            settle(heap, h->place[other]);
    }
}

/* ---- growing ---- */

/* The node that a search from the first one comes to last; all are on the right. */
static int find_rim(struct topo_halver *h, const int *nodes, int count)
{
    int *queue = h->heap, *seen = h->place, first = 0, last = 0;
    for (int i = 0; i < count; i++)
        seen[nodes[i]] = 0;
    queue[last++] = nodes[0];
    seen[nodes[0]] = 1;
    for (; first < last; first++)
        for (int64_t i = h->edges->start[queue[first]]; i < h->edges->start[queue[first] + 1];
             i++) {
            int other = h->edges->end[i].node;
            if (h->side[other] && !seen[other]) {
                seen[other] = 1;
                queue[last++] = other;
            }
        }
    return queue[last - 1];
}

static void grow(struct topo_halver *h, const int *nodes, int count, int left)
{
    for (int i = 0; i < count; i++)
        h->side[nodes[i]] = SIDE_RIGHT;
    int rim = find_rim(h, nodes, count);
    struct heap heap = {h, h->heap, 0};
    for (int i = 0; i < count; i++)
        h->gain[nodes[i]] = (struct topo_gain){nodes[i] == rim, gain_of(h, nodes[i])};
    for (int i = 0; i < count; i++)
        push(&heap, nodes[i]);
    for (int i = 0; i < left; i++) {
        int node = pop(&heap);
        h->side[node] = SIDE_LEFT_FIXED;
        changed(h, node, NULL, &heap);
    }
    for (int i = 0; i < count; i++)
        h->side[nodes[i]] = is_left(h, nodes[i]) ? SIDE_LEFT : SIDE_RIGHT;
}

/* ---- changing sides ---- */

/* The best node of a heap goes to the other side, and stays there. Returns its gain. */
static int64_t move_best(struct topo_halver *h, struct heap *heap, int to, struct heap *left,
                         struct heap *right)
{
    int node = pop(heap);
    int64_t gain = h->gain[node].value;
    h->side[node] = (int8_t)to;
    changed(h, node, left, right);
    return gain;
}

/* One pass over pairs; returns by how much it has lowered the cut. */
static int64_t refine(struct topo_halver *h, const int *nodes, int count, int left)
{
    struct heap lefts = {h, h->heap, 0}, rights = {h, h->heap + left, 0};
    int64_t sum = 0, best = 0;
    int kept = 0, pairs = left < count - left ? left : count - left, done = 0;
    for (int i = 0; i < count; i++)
        h->gain[nodes[i]] = (struct topo_gain){true, gain_of(h, nodes[i])};
    for (int i = 0; i < count; i++)
        push(is_left(h, nodes[i]) ? &lefts : &rights, nodes[i]);
    for (; done < pairs && done - kept < PATIENCE; done++) {
        h->moved[2 * done] = lefts.item[0];
        sum += move_best(h, &lefts, SIDE_RIGHT_FIXED, &lefts, &rights);
        h->moved[2 * done + 1] = rights.item[0];
        sum += move_best(h, &rights, SIDE_LEFT_FIXED, &lefts, &rights);
        if (sum > best) {
            best = sum;
            kept = done + 1;
        }
    }
    for (int i = 2 * kept; i < 2 * done; i++) /* back to where they were */
        h->side[h->moved[i]] = i % 2 ? SIDE_RIGHT : SIDE_LEFT;
    for (int i = 0; i < count; i++)
        h->side[nodes[i]] = is_left(h, nodes[i]) ? SIDE_LEFT : SIDE_RIGHT;
    return best;
}

/* Bring the nodes of the left side to the front; both keep their order. */
static void arrange(struct topo_halver *h, int *nodes, int count)
{
    int left = 0, right = 0;
    for (int i = 0; i < count; i++) {
        if (is_left(h, nodes[i]))
            nodes[left++] = nodes[i];
        else
            h->heap[right++] = nodes[i];
    }
    memcpy(nodes + left, h->heap, (size_t)right * sizeof(*nodes));
}

static void refine_fully(struct topo_halver *h, const int *nodes, int count, int left)
{
    for (int pass = 0; pass < PASSES && refine(h, nodes, count, left) > 0; pass++)
        continue;
}

int topo_split_graph(void *how, int *nodes, int count, int left)
{
    struct topo_halver *h = how;
    for (int i = 0; i < count; i++)
        h->side[nodes[i]] = i < left ? SIDE_LEFT : SIDE_RIGHT;
    refine_fully(h, nodes, count, left);
    int64_t given = cut_of(h, nodes, count);
    arrange(h, nodes, count);
    grow(h, nodes, count, left);
    refine_fully(h, nodes, count, left);
    if (cut_of(h, nodes, count) < given)
        arrange(h, nodes, count);
    for (int i = 0; i < count; i++)
        h->side[nodes[i]] = SIDE_NONE;
    return MPI_SUCCESS;
}
