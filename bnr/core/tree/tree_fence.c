/* SPDX-License-Identifier: BSD-3-Clause */

/* Fences over the tree; see tree_fence.h. */
#include "bnr/core/tree/tree_fence.h"

#include <errno.h>
#include <stdlib.h>

#include "bnr/core/tree/rank_map.h"
#include "bnr/core/tree/tree.h"

void tree_fence_init(struct tree_fence *f, const struct rank_map *group, const struct tree *tree)
{
    *f = (struct tree_fence){.group = group, .tree = tree};
}

static void drop_part(struct tree_fence *f, size_t i)
{
    bytes_unref(f->parts[i].data);
    f->parts[i] = f->parts[--f->count];
}

void tree_fence_fini(struct tree_fence *f)
{
    while (f->count)
        drop_part(f, 0);
    free(f->parts);
    *f = (struct tree_fence){0};
}

static struct tree_fence_part *find_part(struct tree_fence *f, uint32_t child)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->parts[i].child == child)
            return &f->parts[i];
    return NULL;
}

/* Keep a part in place of one that came before from the same child. */
static int keep_part(struct tree_fence *f, const struct tree_fence_part *part)
{
    struct tree_fence_part *known = find_part(f, part->child);
    if (!known && f->count == f->room) {
        size_t room = f->room ? 2 * f->room : 4;
        struct tree_fence_part *parts = realloc(f->parts, room * sizeof(*parts));
        if (!parts)
            return -ENOMEM;
        f->parts = parts;
        f->room = room;
    }
    if (known)
        bytes_unref(known->data);
    else
        known = &f->parts[f->count++];
    *known = *part;
    bytes_ref(known->data);
    return 0;
}

static bool has_come(struct tree_fence *f, uint32_t child)
{
    const struct tree_fence_part *part = find_part(f, child);
    return part && part->number == f->released + 1;
}

/* Whether all awaited members have come. */
static bool is_complete(struct tree_fence *f)
{
    struct node_list children = {0};
    uint32_t self = f->tree->self;
    bool all = !rank_map_weight_of(f->group, self) || has_come(f, self);
    if (all && tree_children(f->tree, TREE_RADIX, self, &children))
        all = false;
    for (size_t i = 0; all && i < children.count; i++)
        all = has_come(f, children.items[i]) ||
              !rank_map_weight_below(f->group, f->tree, children.items[i]);
    node_list_fini(&children);
    return all;
}

/* All parts in one message. */
static struct core_message sum_up(struct tree_fence *f)
{
    struct core_message sum = {.kind = MESSAGE_FENCE,
                               .origin = f->tree->self,
                               .group = f->group->id,
                               .number = f->released + 1,
                               .flags = MESSAGE_COLLECTED};
    struct packing p = {0};
    size_t len = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct tree_fence_part *part = &f->parts[i];
        if (part->number != f->released + 1)
            continue;
        len += part->data ? part->data->len : 0;
        sum.tag += (uint32_t)part->nodes;
        sum.other += part->bytes;
        if (part->status > sum.status)
            sum.status = (uint8_t)part->status;
        if (!part->has_data || len > TREE_FENCE_COLLECT_MAX)
            sum.flags = 0;
    }
    for (size_t i = 0; sum.flags && i < f->count; i++)
        if (f->parts[i].number == f->released + 1 && f->parts[i].data)
            pack_raw(&p, f->parts[i].data->at, f->parts[i].data->len);
    sum.data = sum.flags ? pack_end(&p) : NULL;
    if (!sum.data)
        sum.flags = 0;
    return sum;
}

/* The root ends a fence: with the collected entries, if they are short, and all is well. */
static void decide(struct tree_fence *f, struct core_message *sum, struct effects *effects)
{
    if (f->is_hurt)
        sum->status = STATUS_PROC_FAILED;
    if (sum->other > (uint64_t)TREE_FENCE_COLLECT * f->group->rank_count || sum->status) {
        sum->flags = 0;
        bytes_unref(sum->data);
        sum->data = NULL;
    }
    f->is_sent = true;
    effects_add(effects, EFFECT_DECIDED, NODE_ROOT, sum);
}

/* Tell the parent, or at the root decide, if all have come, or one with a failure. */
static void move_on(struct tree_fence *f, struct effects *effects)
{
    bool has_any = false, is_failed = f->is_hurt;
    for (size_t i = 0; i < f->count; i++)
        if (f->parts[i].number == f->released + 1) {
            has_any = true;
            is_failed |= f->parts[i].status != STATUS_GOOD;
        }
    if (f->is_sent || !has_any || (!is_failed && !is_complete(f)))
        return;
    uint32_t parent = tree_parent(f->tree, f->tree->self);
    struct core_message sum = sum_up(f);
    if (f->tree->self == NODE_ROOT) {
        decide(f, &sum, effects);
    } else if (parent != NODE_NONE) {
        f->is_sent = true;
        effects_add(effects, EFFECT_SEND, parent, &sum);
    }
    bytes_unref(sum.data);
}

int tree_fence_enter(struct tree_fence *f, const struct tree_fence_entry *entry,
                     struct effects *effects)
{
    uint32_t self = f->tree->self;
    struct tree_fence_part part = {.child = self,
                                   .number = entry->number,
                                   .status = entry->status,
                                   .bytes = entry->bytes,
                                   .nodes = rank_map_weight_of(f->group, self)};
    if (entry->number <= f->released)
        return TREE_FENCE_OVER;
    if (entry->number > f->released + 1)
        return -EINVAL;
    if (has_come(f, self))
        return -EALREADY;
    uint64_t most = (uint64_t)TREE_FENCE_COLLECT * rank_map_ranks_on(f->group, self);
    part.has_data = (entry->data && entry->bytes <= most) || !entry->bytes;
    part.data = part.has_data ? entry->data : NULL;
    int rc = keep_part(f, &part);
    if (!rc)
        move_on(f, effects);
    return rc;
}

int tree_fence_message(struct tree_fence *f, uint32_t from, const struct core_message *message,
                       struct effects *effects)
{
    struct tree_fence_part part = {.child = from,
                                   .status = message->status,
                                   .number = message->number,
                                   .nodes = message->tag,
                                   .bytes = message->other,
                                   .has_data = message->flags & MESSAGE_COLLECTED,
                                   .data = message->data};
    const struct tree_fence_part *known = find_part(f, from);
    if (from == f->tree->self || message->tag > f->group->rank_count)
        return -EPROTO;
    if (message->number <= f->released || (known && known->number > message->number) ||
        tree_parent(f->tree, from) != f->tree->self)
        return 0; /* of old, or the child of another by now */
    int rc = keep_part(f, &part);
    if (!rc)
        move_on(f, effects);
    return rc;
}

void tree_fence_rewire(struct tree_fence *f, bool is_hurt, struct effects *effects)
{
    for (size_t i = 0; i < f->count;) {
        if (f->parts[i].child != f->tree->self && tree_is_lost(f->tree, f->parts[i].child))
            drop_part(f, i);
        else
            i++;
    }
    if (f->tree->self == NODE_ROOT)
        f->is_hurt |= is_hurt;
    move_on(f, effects);
}

void tree_fence_greet(struct tree_fence *f, struct effects *effects)
{
    if (f->tree->self != NODE_ROOT)
        f->is_sent = false;
    move_on(f, effects);
}

bool tree_fence_released(struct tree_fence *f, uint64_t number, struct effects *effects)
{
    if (number != f->released + 1)
        return false;
    for (size_t i = 0; i < f->count;) {
        if (f->parts[i].number <= number)
            drop_part(f, i);
        else
            i++;
    }
    f->released = number;
    f->is_sent = f->is_hurt = false;
    move_on(f, effects);
    return true;
}
