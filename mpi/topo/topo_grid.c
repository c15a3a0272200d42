/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Orders of a grid's nodes in which neighbours are close. If all places of a level have room for
 * equally many processes, the grid is cut into equal blocks, one for each place, of the least
 * surface; and these into blocks for the places of the next level. Otherwise the grid is treated as
 * a graph. See topo_place.h.
 */
#include <mpi.h>
#include <stdlib.h>

#include "mpi/topo/topo_place.h"

/* ---- blocks ---- */

struct blocks {
    const struct topo_grid *grid;
    int levels;
    int *box;        /* [levels + 2][ndims]: sides of the box that a level cuts; [0]: the grid */
    int *block;      /* [ndims]: being tried */
    int64_t surface; /* of the best one so far; -1: none */
    int *nodes;      /* out: [nodes] */
    int count;       /* so many of them */
};

/* Find how many of the first seats are in each place of a level. Returns 0 where the places differ,
 * or the last place is not full. */
static int room_of(const struct topo_places *places, int nodes, int level)
{
    int room = 0, now = 0;
    for (int seat = 0; seat < nodes; seat++) {
        const int *group = places->group + (size_t)seat * (size_t)places->levels;
        now++;
        if (seat + 1 < nodes && group[level] == group[places->levels + level])
            continue;
        if (room && now != room)
            return 0;
        room = now;
        now = 0;
    }
    return room;
}

/* Try all sides of a block from dimension d on; rest is their product. */
static void try_block(struct blocks *b, const int *box, int *best, int d, int rest)
{
    int ndims = b->grid->ndims;
    if (d < ndims) {
        for (int side = 1; side <= box[d] && side <= rest; side++)
            if (box[d] % side == 0 && rest % side == 0) {
                b->block[d] = side;
                try_block(b, box, best, d + 1, rest / side);
            }
        return;
    }
    int64_t surface = 0, volume = 1;
    for (int i = 0; i < ndims; i++)
        volume *= b->block[i];
    for (int i = 0; i < ndims; i++)
        surface += b->block[i] < box[i] ? volume / b->block[i] : 0;
    if (rest != 1 || (b->surface >= 0 && surface >= b->surface))
        return;
    b->surface = surface;
    for (int i = 0; i < ndims; i++)
        best[i] = b->block[i];
}

/* Choose the sides of the blocks of all levels; a level without equal blocks ends the choice. */
static void choose_blocks(struct blocks *b, const struct topo_places *places, int nodes)
{
    int ndims = b->grid->ndims;
    for (int d = 0; d < ndims; d++)
        b->box[d] = b->grid->dims[d];
    for (int level = 0; level < places->levels; level++) {
        int room = room_of(places, nodes, level);
        int *box = b->box + (size_t)b->levels * (size_t)ndims;
        b->surface = -1;
        if (room)
            try_block(b, box, box + ndims, 0, room);
        if (b->surface < 0)
            break;
        b->levels++;
    }
}

/* Append the nodes of a box that begins at node first, level by level. d: the next dimension to
 * step along. */
static void add_box(struct blocks *b, int level, int d, int first)
{
    int ndims = b->grid->ndims;
    const int *box = b->box + (size_t)level * (size_t)ndims;
    if (d == ndims && level == b->levels) {
        b->nodes[b->count++] = first;
        return;
    }
    if (d == ndims) {
        add_box(b, level + 1, 0, first);
        return;
    }
    int stride = 1, step = level < b->levels ? box[ndims + d] : 1;
    for (int i = d + 1; i < ndims; i++)
        stride *= b->grid->dims[i];
    for (int at = 0; at < box[d]; at += step)
        add_box(b, level, d + 1, first + at * stride);
}

static int place_blocks(const struct topo_places *places, const struct topo_edges *edges,
                        const struct topo_grid *grid, int *nodes, int *rank_of_node)
{
    size_t ndims = (size_t)grid->ndims;
    struct blocks b = {.grid = grid, .nodes = nodes};
    b.box = calloc((HARDWARE_LEVELS + 3) * (ndims + 1), sizeof(*b.box));
    if (!b.box)
        return MPI_ERR_NO_MEM;
    b.block = b.box + (HARDWARE_LEVELS + 2) * ndims;
    choose_blocks(&b, places, edges->nodes);
    add_box(&b, 0, 0, 0);
    free(b.box);
    return topo_place_choose(places, edges, nodes, rank_of_node);
}

int topo_place_grid(const struct topo_places *places, const struct topo_grid *grid,
                    int *rank_of_node)
{
    struct topo_edges edges;
    int rc = topo_edges_of_grid(grid, &edges);
    if (rc)
        return rc;
    int *nodes = malloc(((size_t)edges.nodes + 1) * sizeof(*nodes));
    rc = nodes ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    if (!rc)
        rc = topo_place_graph(places, &edges, rank_of_node);
    if (!rc)
        rc = place_blocks(places, &edges, grid, nodes, rank_of_node);
    free(nodes);
    topo_edges_free(&edges);
    return rc;
}
