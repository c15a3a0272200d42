/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The engines put together; see node.h. Each call lets an engine append to the inner list of
 * effects; settle() then looks through it, from first to last, while engines append more: it takes
 * the effects meant for this node itself, finds the way of routed messages, and passes on the rest.
 */
#include "bnr/core/tree/node.h"

#include <errno.h>
#include <stdlib.h>

/* ---- groups ---- */

static struct node_group *find_group(struct node_engine *n, uint64_t id)
{
    for (size_t i = 0; i < n->group_count; i++)
        if (n->groups[i]->group->id == id)
            return n->groups[i];
    return NULL;
}

static bool has_owner_ended(struct node_engine *n, uint64_t id, uint32_t owner)
{
    struct node_group *g = find_group(n, id);
    return g && rollup_has_ended(&g->rollup, owner);
}

/* Keep messages of a group that this node does not know yet; the oldest makes room for the
 * newest. */
static int hold(struct node_engine *n, uint32_t from, const struct core_message *message)
{
    if (!n->held && !(n->held = calloc(NODE_HELD_MAX, sizeof(*n->held))))
        return -ENOMEM;
    struct node_held *held = &n->held[n->held_count];
    if (n->held_count == NODE_HELD_MAX) {
        held = &n->held[n->held_next++ % NODE_HELD_MAX];
        bytes_unref(held->message.data);
    } else {
        n->held_count++;
    }
    *held = (struct node_held){*message, from};
    bytes_ref(message->data);
    return 0;
}

/* ---- losses ---- */

static struct bytes *pack_nodes(const struct node_list *nodes)
{
    struct packing p = {0};
    for (size_t i = 0; i < nodes->count; i++)
        pack_u32(&p, nodes->items[i]);
    return pack_end(&p);
}

/* A message with the lost nodes. */
static void send_nodes(struct node_engine *n, enum message_kind kind, uint32_t to,
                       const struct node_list *nodes)
{
    struct core_message message = {
        .kind = (uint8_t)kind, .origin = n->tree.self, .data = pack_nodes(nodes)};
    if (kind == MESSAGE_ATTACH) {
        message.number = n->xcast.have;
        message.other = xcast_below(&n->xcast);
    }
    n->inner.failed |= !message.data;
    effects_add(&n->inner, EFFECT_SEND, to, &message);
    bytes_unref(message.data);
}

/* A link is there. To the parent say again all that may have been lost with an older one; a child
 * may be one because of losses that it does not know of yet. */
static void greet(struct node_engine *n, uint32_t peer)
{
    if (peer != tree_parent(&n->tree, n->tree.self)) {
        if (n->tree.lost.count)
            send_nodes(n, MESSAGE_LOST, peer, &n->tree.lost);
        return;
    }
    send_nodes(n, MESSAGE_ATTACH, peer, &n->tree.lost);
    xcast_greet(&n->xcast, &n->inner);
    for (size_t i = 0; i < n->group_count; i++) {
        tree_fence_greet(&n->groups[i]->fence, &n->inner);
        rollup_greet(&n->groups[i]->rollup, &n->inner);
    }
}

/* Make the neighbours those of the tree. */
static int rewire(struct node_engine *n, int64_t now)
{
    struct node_list neighbours = {0}, come = {0}, gone = {0};
    uint32_t parent = tree_parent(&n->tree, n->tree.self);
    int rc = parent == NODE_NONE ? 0 : node_list_add(&neighbours, parent);
    if (!rc)
        rc = tree_children(&n->tree, TREE_RADIX, n->tree.self, &neighbours);
    if (!rc)
        rc = links_replace(&n->links, &neighbours, &come, &gone);
    for (size_t i = 0; !rc && i < gone.count; i++) {
        struct core_message expelled = {.kind = MESSAGE_EXPELLED, .origin = n->tree.self};
        rc = liveness_event(&n->liveness, LIVENESS_FORGET, gone.items[i], now);
        effects_add(&n->inner, EFFECT_SEND, gone.items[i], &expelled);
        effects_add(&n->inner, EFFECT_DISCONNECT, gone.items[i], NULL);
    }
    for (size_t i = 0; !rc && i < come.count; i++) {
        rc = liveness_event(&n->liveness, LIVENESS_WATCH, come.items[i], now);
        effects_add(&n->inner, EFFECT_CONNECT, come.items[i], NULL);
    }
    if (!rc)
        rc = xcast_rewire(&n->xcast, &n->inner);
    node_list_fini(&neighbours);
    node_list_fini(&come);
    node_list_fini(&gone);
    return rc;
}

/* Act on losses that the tree has taken in. Many may come at once, so the neighbours are made anew once: only the loss
 * of one changes them. */
static int follow_losses(struct node_engine *n, const struct node_list *lost, int64_t now)
{
    bool is_near = false;
    for (size_t i = 0; i < lost->count; i++)
        is_near |= links_has(&n->links, lost->items[i]);
    int rc = is_near ? rewire(n, now) : 0;
    for (size_t i = 0; !rc && i < lost->count; i++) {
        uint32_t node = lost->items[i];
        effects_add(&n->inner, EFFECT_LOST, node, NULL);
        keys_node_lost(&n->keys, node, &n->inner);
        for (size_t g = 0; !rc && g < n->group_count; g++) {
            tree_fence_rewire(&n->groups[g]->fence, rank_map_ranks_on(n->groups[g]->group, node) > 0, &n->inner);
            rc = rollup_node_lost(&n->groups[g]->rollup, node, &n->inner);
        }
        if (node == NODE_ROOT && !n->is_alone) {
            n->is_alone = true;
            effects_add(&n->inner, EFFECT_ALONE, node, NULL);
        }
    }
    return rc;
}

/* Say upwards, and at the root to all, which losses no xcast has told of. */
static int tell_losses(struct node_engine *n)
{
    if (!n->lost_news.count)
        return 0;
    if (n->tree.self != NODE_ROOT) {
        send_nodes(n, MESSAGE_LOST, tree_parent(&n->tree, n->tree.self), &n->lost_news);
        return 0;
    }
    struct bytes *nodes = pack_nodes(&n->lost_news);
    struct bytes *data = nodes ? xcast_address(NULL, 0, nodes->at, nodes->len) : NULL;
    const struct xcast_input input = {XCAST_TAG_LOST, XCAST_BY_SIZE, data};
    int rc = data ? xcast_submit(&n->xcast, &input, &n->inner) : -ENOMEM;
    n->lost_news.count = 0;
    bytes_unref(data);
    bytes_unref(nodes);
    return rc;
}

static int expel_self(struct node_engine *n)
{
    if (!n->is_alone)
        effects_add(&n->inner, EFFECT_ALONE, n->tree.self, NULL);
    n->is_alone = true;
    return 0;
}

/* This node, or another that said so, holds nodes for lost. */
static int lose(struct node_engine *n, const struct node_list *nodes, int64_t now)
{
    struct node_list news = {0};
    int rc = 0;
    for (size_t i = 0; !rc && i < nodes->count; i++) {
        uint32_t node = nodes->items[i];
        int outcome = node == n->tree.self ? expel_self(n) : tree_lose(&n->tree, node);
        if (outcome < 0)
            rc = outcome == -EINVAL ? -EPROTO : outcome;
        else if (node != n->tree.self && outcome != TREE_KNOWN)
            rc = node_list_add(&news, node) || node_list_add(&n->lost_news, node) ? -ENOMEM : 0;
    }
    int followed = follow_losses(n, &news, now); /* of those before a wrong one, too */
    node_list_fini(&news);
    return rc ? rc : followed;
}

static int lose_one(struct node_engine *n, uint32_t node, int64_t now)
{
    return lose(n, &(struct node_list){&node, 1, 1}, now);
}

/* Another node names lost nodes. It cannot name the root: it would be alone. */
static int hear_losses(struct node_engine *n, const struct bytes *data, int64_t now)
{
    struct unpacking u = unpack_begin(data);
    struct node_list nodes = {0};
    int rc = 0;
    while (!rc && u.left) {
        uint32_t node = unpack_u32(&u);
        rc = u.failed || node == NODE_ROOT ? -EPROTO : node_list_add(&nodes, node);
    }
    int lost = lose(n, &nodes, now);
    node_list_fini(&nodes);
    if (!rc)
        rc = lost;
    return rc ? rc : tell_losses(n);
}

/* A node takes this one for lost. The root is not: the node that says so ends, and is lost itself. */
static int hear_expelled(struct node_engine *n, uint32_t from, int64_t now)
{
    if (n->tree.self != NODE_ROOT)
        return expel_self(n);
    int rc = lose_one(n, from, now);
    return rc ? rc : tell_losses(n);
}

/* ---- xcasts that are for the node itself ---- */

/* Forget that a loss has yet to be told. Returns whether it had. */
static bool forget_news(struct node_engine *n, uint32_t node)
{
    for (size_t i = 0; i < n->lost_news.count; i++)
        if (n->lost_news.items[i] == node) {
            n->lost_news.items[i] = n->lost_news.items[--n->lost_news.count];
            return true;
        }
    return false;
}

/* The tree knows these losses already; the xcast's handler has added the new ones. */
static int take_losses(struct node_engine *n, struct unpacking u, int64_t now)
{
    struct node_list news = {0};
    int rc = 0;
    while (!rc && u.left) {
        uint32_t node = unpack_u32(&u);
        bool is_known = forget_news(n, node);
        if (node == n->tree.self)
            rc = expel_self(n);
        else if (!is_known && n->tree.self != NODE_ROOT)
            rc = node_list_add(&news, node);
    }
    if (!rc)
        rc = follow_losses(n, &news, now);
    node_list_fini(&news);
    return rc;
}

static struct bytes *pack_release(const struct core_message *sum)
{
    struct packing p = {0};
    pack_u32(&p, 0); /* to all */
    pack_u64(&p, sum->group);
    pack_u64(&p, sum->number);
    pack_u32(&p, sum->status);
    pack_u32(&p, sum->flags);
    if (sum->data)
        pack_raw(&p, sum->data->at, sum->data->len);
    return pack_end(&p);
}

static int take_release(struct node_engine *n, struct unpacking u)
{
    struct core_message message = {.kind = MESSAGE_FENCE};
    message.group = unpack_u64(&u);
    message.number = unpack_u64(&u);
    message.status = (uint8_t)unpack_u32(&u);
    message.flags = (uint8_t)unpack_u32(&u);
    struct node_group *g = find_group(n, message.group);
    int rc = 0;
    if (u.failed || message.status >= STATUS_ASKED)
        return -EPROTO;
    if (!g || !tree_fence_released(&g->fence, message.number, &n->inner))
        return 0;
    message.data = bytes_create(u.at, u.left);
    if (!message.data)
        return -ENOMEM;
    if (message.flags & MESSAGE_COLLECTED)
        rc = keys_collected(&n->keys, message.group, message.data);
    effects_add(&n->inner, EFFECT_RELEASED, n->tree.self, &message);
    bytes_unref(message.data);
    return rc;
}

/* ---- requests of the engines ---- */

static int deliver(struct node_engine *n, const struct effect *effect, int64_t now,
                   struct effects *effects)
{
    const struct core_message *message = &effect->message;
    bool is_addressed;
    struct unpacking payload;
    int rc = xcast_open(message->data, n->tree.self, &is_addressed, &payload);
    if (rc || !is_addressed)
        return rc;
    switch (message->tag) {
    case XCAST_TAG_LOST: return take_losses(n, payload, now);
    case XCAST_TAG_RELEASE: return take_release(n, payload);
    default: effects_add(effects, EFFECT_DELIVER, n->tree.self, message);
    }
    return 0;
}

static int decide(struct node_engine *n, const struct core_message *sum)
{
    struct bytes *data = pack_release(sum);
    const struct xcast_input input = {XCAST_TAG_RELEASE, XCAST_BY_SIZE, data};
    int rc = data ? xcast_submit(&n->xcast, &input, &n->inner) : -ENOMEM;
    bytes_unref(data);
    return rc;
}

static bool is_routed(const struct core_message *message)
{
    return message->kind == MESSAGE_GET || message->kind == MESSAGE_VALUE ||
           message->kind == MESSAGE_STREAM || message->kind == MESSAGE_CREDIT ||
           message->kind == MESSAGE_NUMBERED;
}

/* Send a message over its link, or drop it if it would not arrive: its engine sends it again.
 */
static void send_on(struct node_engine *n, const struct effect *effect, int64_t now,
                    struct effects *effects)
{
    const struct core_message *message = &effect->message;
    uint32_t peer = effect->node;
    if (is_routed(message))
        peer = tree_is_lost(&n->tree, message->to) ? NODE_NONE : tree_route(&n->tree, message->to);
    bool is_missing = links_has(&n->links, peer) && !links_is_up(&n->links, peer);
    bool is_lost = tree_is_lost(&n->tree, peer) && message->kind != MESSAGE_EXPELLED;
    if (peer == NODE_NONE || is_missing || is_lost)
        return;
    liveness_event(&n->liveness, LIVENESS_SAID, peer, now);
    effects_add(effects, EFFECT_SEND, peer, message);
}

/* Look through the inner effects, as more are added. */
static int settle(struct node_engine *n, int rc, int64_t now, struct effects *effects)
{
    for (size_t i = 0; i < n->inner.count; i++) {
        struct effect effect = n->inner.items[i];
        int failed = 0;
        switch (effect.kind) {
        case EFFECT_SEND: send_on(n, &effect, now, effects); break;
        case EFFECT_DELIVER: failed = deliver(n, &effect, now, effects); break;
        case EFFECT_DECIDED: failed = decide(n, &effect.message); break;
        default: effects_add(effects, effect.kind, effect.node, &effect.message);
        }
        if (rc >= 0 && failed < 0)
            rc = failed;
    }
    if (rc >= 0 && (n->inner.failed || effects->failed))
        rc = -ENOMEM;
    n->inner.failed = false;
    effects_clear(&n->inner);
    return rc;
}

/* ---- life ---- */

int node_init(struct node_engine *n, const struct node_settings *settings, int64_t now,
              struct effects *effects)
{
    *n = (struct node_engine){0};
    tree_init(&n->tree, settings->self, settings->count, settings->radix);
    xcast_init(&n->xcast, &n->tree, &settings->choice);
    liveness_init(&n->liveness, settings->liveness_ns, now);
    keys_init(&n->keys, &n->tree);
    return settle(n, rewire(n, now), now, effects);
}

void node_fini(struct node_engine *n)
{
    for (size_t i = 0; i < n->group_count; i++) {
        tree_fence_fini(&n->groups[i]->fence);
        rollup_fini(&n->groups[i]->rollup);
        free(n->groups[i]);
    }
    free(n->groups);
    for (size_t i = 0; i < n->held_count; i++)
        bytes_unref(n->held[i].message.data);
    free(n->held);
    keys_fini(&n->keys);
    xcast_fini(&n->xcast);
    liveness_fini(&n->liveness);
    links_fini(&n->links);
    node_list_fini(&n->lost_news);
    effects_fini(&n->inner);
    tree_fini(&n->tree);
}

/* ---- messages from other nodes ---- */

static int hear_attach(struct node_engine *n, uint32_t from, const struct core_message *message,
                       int64_t now)
{
    int rc = hear_losses(n, message->data, now);
    if (rc || tree_parent(&n->tree, from) != n->tree.self)
        return rc;
    if (!links_is_up(&n->links, from))
        xcast_relinked(&n->xcast, from);
    links_event(&n->links, from, LINK_MADE); /* it may be a child since just now */
    return xcast_attached(&n->xcast, from, message, &n->inner);
}

static int hear_of_group(struct node_engine *n, uint32_t from, const struct core_message *message)
{
    struct node_group *g = find_group(n, message->group);
    if (!g)
        return hold(n, from, message);
    return message->kind == MESSAGE_FENCE ? tree_fence_message(&g->fence, from, message, &n->inner)
                                          : rollup_message(&g->rollup, message, &n->inner);
}

static int hear_of_key(struct node_engine *n, const struct core_message *message)
{
    if (message->to >= n->tree.count)
        return -EPROTO;
    if (message->to != n->tree.self) {
        effects_add(&n->inner, EFFECT_SEND, message->to, message);
        return 0;
    }
    bool has_ended =
        message->kind == MESSAGE_GET && has_owner_ended(n, message->group, message->tag);
    int rc = keys_message(&n->keys, message, has_ended, &n->inner);
    return rc == -ENOBUFS ? 0 : rc; /* it is asked again */
}

/* The root says which messages of a node's it has: of this node's, or of another's. */
static int hear_numbered(struct node_engine *n, uint32_t from, const struct core_message *message)
{
    if (message->to >= n->tree.count)
        return -EPROTO;
    if (message->to == n->tree.self)
        return xcast_message(&n->xcast, from, message, &n->inner);
    effects_add(&n->inner, EFFECT_SEND, message->to, message);
    return 0;
}

/* A part of a stream: for this node, or for another. */
static int hear_of_stream(struct node_engine *n, const struct core_message *message)
{
    if (message->to >= n->tree.count || message->origin >= n->tree.count)
        return -EPROTO;
    bool is_here = message->to == n->tree.self;
    effects_add(&n->inner, is_here ? EFFECT_ARRIVED : EFFECT_SEND, message->to, message);
    return 0;
}

static int hear(struct node_engine *n, uint32_t from, const struct core_message *message,
                int64_t now)
{
    switch (message->kind) {
    case MESSAGE_ATTACH: return hear_attach(n, from, message, now);
    case MESSAGE_BEAT:
        if (from == tree_parent(&n->tree, n->tree.self))
            xcast_settle(&n->xcast, message->other);
        return 0;
    case MESSAGE_LOST: return hear_losses(n, message->data, now);
    case MESSAGE_EXPELLED: return hear_expelled(n, from, now);
    case MESSAGE_SUBMIT:
    case MESSAGE_XCAST:
    case MESSAGE_HAVE: return xcast_message(&n->xcast, from, message, &n->inner);
    case MESSAGE_NUMBERED: return hear_numbered(n, from, message);
    case MESSAGE_FENCE:
    case MESSAGE_ENDED: return hear_of_group(n, from, message);
    case MESSAGE_GET:
    case MESSAGE_VALUE: return hear_of_key(n, message);
    case MESSAGE_STREAM:
    case MESSAGE_CREDIT: return hear_of_stream(n, message);
    default: return -EPROTO;
    }
}

int node_message(struct node_engine *n, uint32_t from, const struct core_message *message,
                 int64_t now, struct effects *effects)
{
    int rc = 0;
    if (n->is_alone)
        return 0;
    if (from >= n->tree.count || from == n->tree.self)
        return -EPROTO;
    if (tree_is_lost(&n->tree, from)) {
        struct core_message expelled = {.kind = MESSAGE_EXPELLED, .origin = n->tree.self};
        if (message->kind != MESSAGE_EXPELLED)
            effects_add(&n->inner, EFFECT_SEND, from, &expelled);
    } else {
        liveness_event(&n->liveness, LIVENESS_HEARD, from, now);
        rc = hear(n, from, message, now);
    }
    return settle(n, rc, now, effects);
}

void node_heard(struct node_engine *n, uint32_t from, int64_t now)
{
    (void)liveness_event(&n->liveness, LIVENESS_HEARD, from, now);
}

int node_link(struct node_engine *n, uint32_t peer, enum link_event event, int64_t now,
              struct effects *effects)
{
    int rc = 0;
    if (n->is_alone)
        return 0;
    if (event == LINK_MADE)
        liveness_event(&n->liveness, LIVENESS_HEARD, peer, now);
    xcast_relinked(&n->xcast, peer);
    switch (links_event(&n->links, peer, event)) {
    case LINK_GREET: greet(n, peer); break;
    case LINK_CONNECT: effects_add(&n->inner, EFFECT_CONNECT, peer, NULL); break;
    case LINK_LOSE:
        rc = lose_one(n, peer, now);
        if (!rc)
            rc = tell_losses(n);
        break;
    default: break;
    }
    return settle(n, rc, now, effects);
}

int node_tick(struct node_engine *n, int64_t now, struct effects *effects)
{
    struct node_list beats = {0}, silent = {0}, lost = {0};
    struct core_message beat = {
        .kind = MESSAGE_BEAT, .origin = n->tree.self, .other = n->xcast.stable};
    if (n->is_alone)
        return 0;
    int rc = liveness_tick(&n->liveness, now, &beats, &silent);
    for (size_t i = 0; i < beats.count; i++)
        effects_add(&n->inner, EFFECT_SEND, beats.items[i], &beat);
    for (size_t i = 0; !rc && i < silent.count; i++)
        if (links_event(&n->links, silent.items[i], LINK_SILENT) == LINK_LOSE)
            rc = node_list_add(&lost, silent.items[i]);
    if (!rc)
        rc = lose(n, &lost, now);
    if (!rc && silent.count)
        rc = tell_losses(n);
    xcast_tick(&n->xcast, &n->inner);
    keys_tick(&n->keys, now, &n->inner);
    for (size_t i = 0; i < n->group_count; i++)
        rollup_tick(&n->groups[i]->rollup, &n->inner);
    node_list_fini(&beats);
    node_list_fini(&silent);
    node_list_fini(&lost);
    return settle(n, rc, now, effects);
}

/* ---- what this host does ---- */

/* Take early messages of a group that is known now. */
static int hear_held(struct node_engine *n, uint64_t group)
{
    int rc = 0;
    for (size_t i = 0; i < n->held_count;) {
        struct core_message message = n->held[i].message;
        uint32_t from = n->held[i].from;
        if (message.group != group) {
            i++;
            continue;
        }
        n->held[i] = n->held[--n->held_count];
        if (!rc && !tree_is_lost(&n->tree, from))
            rc = hear_of_group(n, from, &message);
        bytes_unref(message.data);
    }
    return rc;
}

int node_add_group(struct node_engine *n, const struct rank_map *group, int64_t now,
                   struct effects *effects)
{
    if (!rank_map_is_sound(group, n->tree.count))
        return -EINVAL;
    if (find_group(n, group->id))
        return -EEXIST;
    struct node_group **groups = realloc(n->groups, (n->group_count + 1) * sizeof(*groups));
    struct node_group *g = groups ? calloc(1, sizeof(*g)) : NULL;
    if (groups)
        n->groups = groups;
    if (!g)
        return -ENOMEM;
    g->group = group;
    tree_fence_init(&g->fence, group, &n->tree);
    rollup_init(&g->rollup, group, &n->tree);
    n->groups[n->group_count++] = g;
    if (!n->xcast.ranks)
        n->xcast.ranks = group;
    int rc = 0;
    for (size_t i = 0; !rc && i < n->tree.lost.count; i++) {
        uint32_t lost = n->tree.lost.items[i];
        tree_fence_rewire(&g->fence, rank_map_ranks_on(group, lost) > 0, &n->inner);
        rc = rollup_node_lost(&g->rollup, lost, &n->inner);
    }
    if (!rc)
        rc = hear_held(n, group->id);
    return settle(n, rc, now, effects);
}

void node_remove_group(struct node_engine *n, uint64_t id)
{
    for (size_t i = 0; i < n->group_count; i++) {
        struct node_group *g = n->groups[i];
        if (g->group->id != id)
            continue;
        if (n->xcast.ranks == g->group)
            n->xcast.ranks = NULL;
        tree_fence_fini(&g->fence);
        rollup_fini(&g->rollup);
        free(g);
        n->groups[i] = n->groups[--n->group_count];
        return;
    }
}

int node_submit(struct node_engine *n, const struct xcast_input *input, int64_t now,
                struct effects *effects)
{
    if (input->tag < XCAST_TAG_USER)
        return -EINVAL;
    return settle(n, xcast_submit(&n->xcast, input, &n->inner), now, effects);
}

int node_route(struct node_engine *n, const struct core_message *message, int64_t now,
               struct effects *effects)
{
    return settle(n, hear_of_stream(n, message), now, effects);
}

int node_put(struct node_engine *n, const struct keys_name *name, struct bytes *value,
             unsigned flags, int64_t now, struct effects *effects)
{
    struct node_group *g = find_group(n, name->group);
    if (!g || rank_map_node_of(g->group, name->owner) != n->tree.self)
        return -ENOENT;
    return settle(n, keys_put(&n->keys, name, value, flags, &n->inner), now, effects);
}

int node_get(struct node_engine *n, const struct keys_name *name, const struct node_getter *getter,
             int64_t now, struct effects *effects)
{
    struct node_group *g = find_group(n, name->group);
    uint32_t home = g ? rank_map_node_of(g->group, name->owner) : NODE_NONE;
    if (home == NODE_NONE)
        return -ENOENT;
    struct keys_home at = {home, rollup_has_ended(&g->rollup, name->owner)};
    int rc = keys_get(&n->keys, name, at, getter->cookie, getter->flags, &n->inner);
    return settle(n, rc, now, effects);
}

int node_fence(struct node_engine *n, uint64_t group, const struct tree_fence_entry *entry,
               int64_t now, struct effects *effects)
{
    struct node_group *g = find_group(n, group);
    if (!g || !rank_map_ranks_on(g->group, n->tree.self))
        return -ENOENT;
    return settle(n, tree_fence_enter(&g->fence, entry, &n->inner), now, effects);
}

int node_ended(struct node_engine *n, uint64_t group, const struct rollup_run *run, int64_t now,
               struct effects *effects)
{
    struct node_group *g = find_group(n, group);
    if (!g)
        return -ENOENT;
    int rc = rollup_ended(&g->rollup, run, &n->inner);
    for (uint32_t i = 0; !rc && i < run->count; i++)
        keys_owner_ended(&n->keys, group, run->first + i, &n->inner);
    return settle(n, rc, now, effects);
}
