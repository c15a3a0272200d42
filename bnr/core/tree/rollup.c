/* SPDX-License-Identifier: BSD-3-Clause */

/* How ends come to the root; see rollup.h. */
#include "bnr/core/tree/rollup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/core/tree/rank_map.h"
#include "bnr/core/tree/tree.h"

enum {
    RUN_LEN = 16
};

/* The index of the first run that ends after rank. */
static size_t position(const struct rollup_runs *runs, uint32_t rank)
{
    size_t low = 0, high = runs->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (runs->items[middle].first + runs->items[middle].count <= rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_joined(const struct rollup_run *a, const struct rollup_run *b)
{
    return a->first + a->count == b->first && a->status == b->status && a->flags == b->flags;
}

/* Put in a run that overlaps none, before index i. */
static int insert(struct rollup_runs *runs, size_t i, const struct rollup_run *run)
{
    runs->ranks += run->count;
    if (i > 0 && is_joined(&runs->items[i - 1], run)) {
        runs->items[i - 1].count += run->count;
        if (i < runs->count && is_joined(&runs->items[i - 1], &runs->items[i])) {
            runs->items[i - 1].count += runs->items[i].count;
            memmove(&runs->items[i], &runs->items[i + 1],
                    (--runs->count - i) * sizeof(*runs->items));
        }
        return 0;
    }
    if (i < runs->count && is_joined(run, &runs->items[i])) {
        runs->items[i].first = run->first;
        runs->items[i].count += run->count;
        return 0;
    }
    if (runs->count == runs->room) {
        size_t room = runs->room ? 2 * runs->room : 8;
        struct rollup_run *items = realloc(runs->items, room * sizeof(*items));
        if (!items)
            return -ENOMEM;
        runs->items = items;
        runs->room = room;
    }
    memmove(&runs->items[i + 1], &runs->items[i], (runs->count++ - i) * sizeof(*runs->items));
    runs->items[i] = *run;
    return 0;
}

static void runs_clear(struct rollup_runs *runs)
{
    runs->count = 0;
    runs->ranks = 0;
}

/* Take in what of a run is not known. */
static int learn(struct rollup *r, const struct rollup_run *run)
{
    uint32_t at = run->first, end = run->first + run->count;
    while (at < end) {
        size_t i = position(&r->all, at);
        const struct rollup_run *next = i < r->all.count ? &r->all.items[i] : NULL;
        if (next && next->first <= at) {
            at = next->first + next->count;
            continue;
        }
        struct rollup_run part = *run;
        part.first = at;
        part.count = (next && next->first < end ? next->first : end) - at;
        at += part.count;
        int rc = insert(&r->all, i, &part);
        if (!rc)
            rc = insert(&r->news, position(&r->news, part.first), &part);
        if (rc)
            return rc;
    }
    return 0;
}

static bool is_failure(const struct rollup_run *run)
{
    return run->status || (run->flags & (ROLLUP_ABORTED | ROLLUP_NODE_LOST)) ||
           (run->flags & (ROLLUP_INITIALIZED | ROLLUP_FINALIZED)) == ROLLUP_INITIALIZED;
}

static bool has_failure(const struct rollup_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        if (is_failure(&runs->items[i]))
            return true;
    return false;
}

static void tell(struct rollup *r, const struct rollup_runs *runs, struct effects *effects)
{
    bool is_root = r->tree->self == NODE_ROOT;
    uint32_t parent = is_root ? NODE_ROOT : tree_parent(r->tree, r->tree->self);
    struct packing p = {0};
    if (!runs->count || parent == NODE_NONE)
        return;
    for (size_t i = 0; i < runs->count; i++) {
        pack_u32(&p, runs->items[i].first);
        pack_u32(&p, runs->items[i].count);
        pack_u32(&p, runs->items[i].status);
        pack_u32(&p, runs->items[i].flags);
    }
    struct core_message ended = {.kind = MESSAGE_ENDED,
                                 .origin = r->tree->self,
                                 .group = r->group->id,
                                 .data = pack_end(&p)};
    if (!ended.data)
        effects->failed = true;
    else
        effects_add(effects, is_root ? EFFECT_RANKS_ENDED : EFFECT_SEND, parent, &ended);
    bytes_unref(ended.data);
    runs_clear(&r->news);
}

static void move_on(struct rollup *r, struct effects *effects)
{
    if (r->tree->self == NODE_ROOT || has_failure(&r->news) ||
        r->all.ranks >= rank_map_ranks_below(r->group, r->tree, r->tree->self))
        tell(r, &r->news, effects);
}

void rollup_init(struct rollup *r, const struct rank_map *group, const struct tree *tree)
{
    *r = (struct rollup){.group = group, .tree = tree};
}

void rollup_fini(struct rollup *r)
{
    free(r->all.items);
    free(r->news.items);
    *r = (struct rollup){0};
}

static bool is_sound(const struct rollup *r, const struct rollup_run *run)
{
    return run->count && run->first < r->group->rank_count &&
           run->count <= r->group->rank_count - run->first;
}

int rollup_ended(struct rollup *r, const struct rollup_run *run, struct effects *effects)
{
    if (!is_sound(r, run))
        return -EINVAL;
    int rc = learn(r, run);
    if (!rc)
        move_on(r, effects);
    return rc;
}

bool rollup_unpack(struct unpacking *u, struct rollup_run *run)
{
    if (!u->left || u->failed)
        return false;
    run->first = unpack_u32(u);
    run->count = unpack_u32(u);
    run->status = unpack_u32(u);
    run->flags = unpack_u32(u);
    return !u->failed;
}

int rollup_message(struct rollup *r, const struct core_message *message, struct effects *effects)
{
    struct unpacking u = unpack_begin(message->data);
    struct rollup_run run;
    int rc = u.left && u.left % RUN_LEN == 0 ? 0 : -EPROTO;
    while (!rc && rollup_unpack(&u, &run))
        rc = is_sound(r, &run) ? learn(r, &run) : -EPROTO;
    if (!rc)
        move_on(r, effects);
    return rc;
}

int rollup_node_lost(struct rollup *r, uint32_t node, struct effects *effects)
{
    int rc = 0;
    for (size_t i = 0; !rc && i < r->group->block_count; i++) {
        const struct rank_block *b = &r->group->blocks[i];
        if (node < b->first_node || node - b->first_node >= b->node_count)
            continue;
        struct rollup_run run = {.first = b->first_rank + (node - b->first_node) * b->ranks_each,
                                 .count = b->ranks_each,
                                 .flags = ROLLUP_NODE_LOST};
        if (r->tree->self == NODE_ROOT)
            rc = learn(r, &run);
    }
    move_on(r, effects);
    return rc;
}

void rollup_greet(struct rollup *r, struct effects *effects)
{
    tell(r, &r->all, effects);
}

void rollup_tick(struct rollup *r, struct effects *effects)
{
    tell(r, &r->news, effects);
}

bool rollup_has_ended(const struct rollup *r, uint32_t rank)
{
    size_t i = position(&r->all, rank);
    return i < r->all.count && r->all.items[i].first <= rank;
}
