/* SPDX-License-Identifier: BSD-3-Clause */

/* Messages to all nodes; see xcast.h. */
#include "bnr/core/tree/xcast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bnr/core/hash.h"


struct xcast_origin {
    uint32_t node;
    uint64_t last;
    uint64_t question; /* that waits for room; 0: none does */
    UT_hash_handle hh;
};

enum {
    HELP_TICKS = 2, /* until a child that gets nothing new is helped */
    ASK_TICKS_MAX = 64 /* between questions to a root that says nothing */
};

const struct xcast_choice xcast_choice_default = {.direct_nodes = 2,
                                                  .linear_nodes = 16,
                                                  .linear_bytes = 64 << 10,
                                                  .radix_bytes = 16 << 10,
                                                  .binomial_bytes = 16 << 10,
                                                  .part_bytes = 64 << 10};

/* ---- queues ---- */

static struct core_message *queue_at(const struct xcast_queue *q, uint64_t number)
{
    if (number < q->first || number - q->first >= q->count)
        return NULL;
    return &q->items[(q->begin + (size_t)(number - q->first)) % q->room];
}

static int queue_push(struct xcast_queue *q, const struct core_message *message)
{
    if (q->count == q->room) {
        size_t room = q->room ? 2 * q->room : 8;
        struct core_message *items = malloc(room * sizeof(*items));
        if (!items)
            return -ENOMEM;
        for (size_t i = 0; i < q->count; i++)
            items[i] = q->items[(q->begin + i) % q->room];
        free(q->items);
        q->items = items;
        q->room = room;
        q->begin = 0;
    }
    struct core_message *item = &q->items[(q->begin + q->count++) % q->room];
    *item = *message;
    bytes_ref(item->data);
    q->bytes += item->data ? item->data->len : 0;
    return 0;
}

static void queue_pop(struct xcast_queue *q)
{
    struct core_message *item = &q->items[q->begin];
    q->bytes -= item->data ? item->data->len : 0;
    bytes_unref(item->data);
    q->begin = (q->begin + 1) % q->room;
    q->count--;
    q->first++;
}

static void queue_fini(struct xcast_queue *q)
{
    while (q->count)
        queue_pop(q);
    free(q->items);
}

static bool queue_is_full(const struct xcast_queue *q)
{
    return q->count >= XCAST_WINDOW || q->bytes >= XCAST_WINDOW_BYTES;
}

/* ---- addresses ---- */

enum tree_mode xcast_mode(const struct xcast_choice *choice, uint32_t nodes, size_t bytes)
{
    if (choice->is_forced)
        return choice->mode;
    if (nodes < choice->direct_nodes)
        return TREE_DIRECT;
    if (nodes < choice->linear_nodes && bytes < choice->linear_bytes)
        return TREE_LINEAR;
    if (bytes < choice->radix_bytes)
        return TREE_RADIX;
    return bytes < choice->binomial_bytes ? TREE_BINOMIAL : TREE_BINARY;
}

struct bytes *xcast_address(const uint32_t *ranges, size_t range_count, const void *payload,
                            size_t len)
{
    struct packing p = {0};
    pack_u32(&p, (uint32_t)range_count);
    for (size_t i = 0; i < 2 * range_count; i++)
        pack_u32(&p, ranges[i]);
    pack_raw(&p, payload, len);
    return pack_end(&p);
}

int xcast_open(const struct bytes *data, uint32_t node, bool *is_addressed,
               struct unpacking *payload)
{
    struct unpacking u = unpack_begin(data);
    uint32_t count = unpack_u32(&u);
    bool is_found = count == 0;
    if (count > XCAST_RANGES_MAX)
        return -EPROTO;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = unpack_u32(&u), last = unpack_u32(&u);
        is_found |= node >= first && node <= last;
    }
    if (u.failed)
        return -EPROTO;
    *is_addressed = is_found;
    *payload = u;
    return 0;
}

/* Whether node is addressed, or any below it in a shape. */
static bool is_any_addressed(const struct tree *t, const struct bytes *data, enum tree_mode mode,
                             uint32_t node)
{
    struct unpacking u = unpack_begin(data);
    uint32_t count = unpack_u32(&u);
    bool is_found = count == 0;
    for (uint32_t i = 0; i < count && !is_found; i++) {
        uint32_t range[2] = {unpack_u32(&u)};
        range[1] = unpack_u32(&u);
        is_found = tree_reaches(t, mode, node, range);
    }
    return is_found;
}

/* The addresses without the payload. */
static struct bytes *strip(const struct bytes *data)
{
    struct unpacking u = unpack_begin(data);
    return bytes_create(data->at, 4 + 8 * (size_t)unpack_u32(&u));
}

/* ---- what everybody has ---- */

static bool is_root(const struct xcast *x)
{
    return x->tree->self == NODE_ROOT;
}

uint64_t xcast_below(const struct xcast *x)
{
    uint64_t below = x->have;
    for (size_t i = 0; i < x->child_count; i++) {
        const struct xcast_child *child = &x->children[i];
        uint64_t known = child->is_heard ? child->below : 0;
        if (known < below)
            below = known;
    }
    return below > x->stable ? below : x->stable;
}

void xcast_settle(struct xcast *x, uint64_t stable)
{
    if (stable > x->have)
        stable = x->have;
    while (x->log.count && x->log.first <= stable)
        queue_pop(&x->log);
    if (stable > x->stable)
        x->stable = stable;
}

/* The root tells the nodes that have asked how many of their messages it has. They send all others
 * again at once, so the answer waits for room. */
static void answer_questions(struct xcast *x, struct effects *effects)
{
    struct xcast_origin *origin, *next;
    if (!x->questions || queue_is_full(&x->log))
        return;
    x->questions = 0;
    HASH_ITER(hh, x->origins, origin, next)
    {
        struct core_message numbered = {.kind = MESSAGE_NUMBERED,
                                        .origin = NODE_ROOT,
                                        .to = origin->node,
                                        .number = origin->last,
                                        .other = origin->question};
        if (origin->question && !tree_is_lost(x->tree, origin->node))
            effects_add(effects, EFFECT_SEND, origin->node, &numbered);
        origin->question = 0;
    }
}

/* Tell the parent its news: the number that all below have at once, the rest by a tick. */
static void tell_parent(struct xcast *x, bool is_tick, struct effects *effects)
{
    uint64_t below = xcast_below(x);
    uint32_t parent = tree_parent(x->tree, x->tree->self);
    if (is_root(x)) {
        xcast_settle(x, below);
        answer_questions(x, effects);
        return;
    }
    if (parent == NODE_NONE || (below <= x->told_below && !(is_tick && x->have > x->told_have)))
        return;
    x->told_below = below;
    x->told_have = x->have;
    struct core_message have = {
        .kind = MESSAGE_HAVE, .origin = x->tree->self, .number = x->have, .other = below};
    effects_add(effects, EFFECT_SEND, parent, &have);
}

/* ---- taking a message, and passing it on ---- */

static struct xcast_child *find_child(struct xcast *x, uint32_t node)
{
    for (size_t i = 0; i < x->child_count; i++)
        if (x->children[i].node == node)
            return &x->children[i];
    return NULL;
}

static void pass_to(struct xcast *x, const struct core_message *message, uint32_t to,
                    struct effects *effects)
{
    struct core_message copy = *message;
    struct xcast_child *child = find_child(x, to);
    if (child && message->number == child->sent + 1)
        child->sent++;
    struct bytes *stripped = NULL;
    copy.other = x->stable;
    /* By the routing tree others get from it what the dead have not passed on. */
    if (!(copy.flags & MESSAGE_STRIPPED) &&
        !is_any_addressed(x->tree, copy.data, (enum tree_mode)copy.mode, to) &&
        !is_any_addressed(x->tree, copy.data, TREE_RADIX, to)) {
        stripped = strip(copy.data);
        copy.data = stripped;
        copy.flags |= MESSAGE_STRIPPED;
    }
    effects_add(effects, EFFECT_SEND, to, &copy);
    bytes_unref(stripped);
}

/* Take losses in before the message that tells of them is passed on. */
static int take_losses(struct xcast *x, const struct core_message *message)
{
    bool is_addressed;
    struct unpacking u;
    int rc = xcast_open(message->data, x->tree->self, &is_addressed, &u);
    while (!rc && u.left) {
        uint32_t node = unpack_u32(&u);
        if (u.failed || node >= x->tree->count || node == NODE_ROOT)
            rc = -EPROTO;
        else if (node != x->tree->self) /* which ends, once it is delivered */
            rc = tree_lose(x->tree, node);
        if (rc == TREE_KNOWN)
            rc = 0;
        if (!rc)
            xcast_join_forget(&x->joins, node);
    }
    return rc;
}

/* Hand a message to this host, once all its parts have come. */
static int deliver(struct xcast *x, const struct core_message *message, struct effects *effects)
{
    struct core_message whole = *message;
    struct unpacking payload;
    bool is_addressed;
    int rc = xcast_open(message->data, x->tree->self, &is_addressed, &payload);
    if (!rc && is_addressed)
        rc = xcast_join_take(&x->joins, message, payload.left, &whole.data);
    else
        whole.data = message->flags & MESSAGE_MORE ? NULL : bytes_ref(message->data);
    if (!rc && whole.data)
        effects_add(effects, EFFECT_DELIVER, x->tree->self, &whole);
    bytes_unref(whole.data);
    return rc;
}

/* A message of this node's has come back. */
static void release_outbox(struct xcast *x, const struct core_message *message)
{
    if (message->origin == x->tree->self)
        while (x->outbox.count && x->outbox.first <= message->group)
            queue_pop(&x->outbox);
}

/* How often a node is sent a message. */
static uint32_t copies(const struct xcast *x, const struct core_message *message, uint32_t node)
{
    uint32_t ranks = 1;
    if (message->mode == TREE_DIRECT && x->ranks &&
        is_any_addressed(x->tree, message->data, TREE_DIRECT, node))
        ranks = rank_map_ranks_on(x->ranks, node);
    return ranks ? ranks : 1;
}

static int take(struct xcast *x, const struct core_message *message, struct effects *effects)
{
    struct node_list children = {0};
    int rc = message->tag == XCAST_TAG_LOST ? take_losses(x, message) : 0;
    if (!rc)
        rc = queue_push(&x->log, message);
    if (rc)
        return rc;
    x->have = message->number;
    release_outbox(x, message);
    rc = deliver(x, message, effects);
    if (!rc)
        rc = tree_children(x->tree, message->mode, x->tree->self, &children);
    for (size_t i = 0; !rc && i < children.count; i++)
        for (uint32_t copy = 0; copy < copies(x, message, children.items[i]); copy++)
            pass_to(x, message, children.items[i], effects);
    node_list_fini(&children);
    return rc;
}

/* A message that a child may lack. */
static void pass_help(struct xcast *x, const struct core_message *message, uint32_t child, struct effects *effects)
{
    struct core_message copy = *message;
    copy.flags |= MESSAGE_HELP;
    pass_to(x, &copy, child, effects);
}

/* A message that this node lacked until now: those below it may lack it too. */
static void help_all(struct xcast *x, const struct core_message *message, struct effects *effects)
{
    for (size_t i = 0; i < x->child_count; i++) {
        const struct xcast_child *child = &x->children[i];
        if (child->have < message->number && child->sent < message->number)
            pass_help(x, message, child->node, effects);
    }
}

static int take_early(struct xcast *x, struct effects *effects)
{
    for (size_t i = 0; i < x->early_count;) {
        struct core_message message = x->early[i];
        if (message.number > x->have + 1) {
            i++;
            continue;
        }
        x->early[i] = x->early[--x->early_count];
        int rc = message.number == x->have + 1 ? take(x, &message, effects) : 0;
        bytes_unref(message.data);
        if (rc)
            return rc;
        i = 0;
    }
    if (!x->early_count) {
        free(x->early);
        x->early = NULL;
    }
    return 0;
}

/* A message that there is no room for comes again: the parent keeps it. */
static void keep_early(struct xcast *x, const struct core_message *message)
{
    for (size_t i = 0; i < x->early_count; i++)
        if (x->early[i].number == message->number)
            return;
    if (!x->early)
        x->early = malloc(XCAST_EARLY_MAX * sizeof(*x->early));
    if (!x->early || x->early_count == XCAST_EARLY_MAX)
        return;
    x->early[x->early_count++] = *message;
    bytes_ref(message->data);
}

static int hear_xcast(struct xcast *x, const struct core_message *message, struct effects *effects)
{
    bool is_addressed;
    struct unpacking payload;
    if (is_root(x) || message->mode >= TREE_MODE_END || !message->number ||
        message->origin >= x->tree->count ||
        xcast_open(message->data, x->tree->self, &is_addressed, &payload))
        return -EPROTO;
    /* A node that lacks the data has passed it on in its shape: they come by the routing tree. */
    if ((message->flags & MESSAGE_STRIPPED) &&
        is_any_addressed(x->tree, message->data, TREE_RADIX, x->tree->self))
        return 0;
    struct core_message own = *message;
    own.flags &= (uint8_t)~MESSAGE_HELP;
    bool is_next = own.number == x->have + 1;
    if (own.number > x->have + 1)
        keep_early(x, &own);
    int rc = is_next ? take(x, &own, effects) : 0;
    if (!rc && is_next && (message->flags & MESSAGE_HELP))
        help_all(x, &own, effects);
    if (!rc)
        rc = take_early(x, effects);
    if (!rc)
        xcast_settle(x, message->other);
    tell_parent(x, false, effects);
    return rc;
}

/* ---- at the root: one order for all ---- */

static struct xcast_origin *find_or_add_origin(struct xcast *x, uint32_t node)
{
    struct xcast_origin *origin;
    HASH_FIND(hh, x->origins, &node, sizeof(node), origin);
    if (origin || !(origin = calloc(1, sizeof(*origin))))
        return origin;
    origin->node = node;
    HASH_ADD(hh, x->origins, node, sizeof(origin->node), origin);
    return origin;
}

/* Number a message, if it is the next of its origin; others are known, or come again in order. */
static int number_message(struct xcast *x, const struct core_message *submit,
                          struct effects *effects)
{
    struct xcast_origin *origin;
    bool is_addressed;
    struct unpacking payload;
    if (tree_is_lost(x->tree, submit->origin)) /* nothing of it follows the word that it is lost */
        return 0;
    if (!(origin = find_or_add_origin(x, submit->origin)))
        return -ENOMEM;
    bool may_wait = submit->origin != x->tree->self && submit->tag >= XCAST_TAG_USER;
    if (submit->number != origin->last + 1 || (may_wait && queue_is_full(&x->log)))
        return 0;
    if (xcast_open(submit->data, x->tree->self, &is_addressed, &payload))
        return -EPROTO;
    struct core_message message = {.kind = MESSAGE_XCAST,
                                   .tag = submit->tag,
                                   .flags = submit->flags & MESSAGE_MORE,
                                   .data = submit->data,
                                   .origin = submit->origin,
                                   .group = submit->number,
                                   .number = x->have + 1};
    message.mode = submit->mode != XCAST_BY_SIZE
                       ? (uint8_t)(submit->mode - 1)
                       : (uint8_t)xcast_mode(&x->choice, x->tree->count, submit->other);
    origin->last++;
    int rc = take(x, &message, effects);
    tell_parent(x, false, effects);
    return rc;
}

/* A node asks which of its messages have come. */
static int take_question(struct xcast *x, const struct core_message *message,
                         struct effects *effects)
{
    struct xcast_origin *origin = find_or_add_origin(x, message->origin);
    if (!origin)
        return -ENOMEM;
    x->questions += !origin->question;
    origin->question = message->number;
    answer_questions(x, effects);
    return 0;
}

/* A question, or a message, goes on towards the root. */
static void pass_up(const struct xcast *x, const struct core_message *message,
                    struct effects *effects)
{
    uint32_t parent = tree_parent(x->tree, x->tree->self);
    if (parent != NODE_NONE)
        effects_add(effects, EFFECT_SEND, parent, message);
}

static int hear_question(struct xcast *x, const struct core_message *message,
                         struct effects *effects)
{
    if (message->origin >= x->tree->count || message->origin == x->tree->self || !message->number)
        return -EPROTO;
    if (is_root(x))
        return take_question(x, message, effects);
    pass_up(x, message, effects);
    return 0;
}

static int hear_submit(struct xcast *x, const struct core_message *message, struct effects *effects)
{
    if (message->flags & MESSAGE_ASK)
        return hear_question(x, message, effects);
    if (message->origin >= x->tree->count || message->tag < XCAST_TAG_USER || !message->data ||
        message->mode > TREE_MODE_END)
        return -EPROTO;
    if (is_root(x))
        return number_message(x, message, effects);
    pass_up(x, message, effects);
    return 0;
}

/* Hand in a message, or a part of one. */
static int submit_part(struct xcast *x, struct core_message *part, struct effects *effects)
{
    part->number = x->outbox.first + x->outbox.count;
    int rc = queue_push(&x->outbox, part);
    if (rc)
        return rc;
    if (is_root(x))
        return number_message(x, part, effects);
    pass_up(x, part, effects);
    return 0;
}

/* The addresses of data, and len bytes of the payload behind them. */
static struct bytes *slice(const struct bytes *data, size_t head, const uint8_t *at, size_t len)
{
    struct bytes *made = bytes_create(NULL, head + len);
    if (made) {
        memcpy(made->at, data->at, head);
        memcpy(made->at + head, at, len);
    }
    return made;
}

/* How many bytes of a payload go in one part, behind the addresses. */
static size_t part_bytes(const struct xcast *x, size_t head, size_t payload)
{
    size_t wanted = x->choice.part_bytes ? x->choice.part_bytes : MESSAGE_DATA_MAX - head;
    size_t least = (payload + XCAST_PARTS_MAX - 1) / XCAST_PARTS_MAX;
    return wanted > least ? wanted : least;
}

int xcast_submit(struct xcast *x, const struct xcast_input *input, struct effects *effects)
{
    bool is_addressed, is_full = queue_is_full(&x->outbox) || (is_root(x) && queue_is_full(&x->log));
    struct unpacking left;
    if (input->data->len > XCAST_DATA_MAX)
        return -EMSGSIZE;
    if (is_full && input->tag >= XCAST_TAG_USER)
        return XCAST_AGAIN;
    int rc = xcast_open(input->data, x->tree->self, &is_addressed, &left);
    if (rc)
        return rc;
    size_t head = input->data->len - left.left, most = part_bytes(x, head, left.left);
    struct core_message part = {.kind = MESSAGE_SUBMIT,
                                .origin = x->tree->self,
                                .mode = input->shape,
                                .tag = input->tag,
                                .flags = MESSAGE_MORE,
                                .other = left.left};
    bool is_whole = left.left <= most || input->tag == XCAST_TAG_LOST; /* taken in at once */
    while (!rc && part.flags) {
        size_t len = left.left < most || is_whole ? left.left : most;
        const uint8_t *at = unpack_raw(&left, len);
        part.flags = left.left ? MESSAGE_MORE : 0;
        part.data = is_whole ? bytes_ref(input->data) : slice(input->data, head, at, len);
        rc = part.data ? submit_part(x, &part, effects) : -ENOMEM;
        bytes_unref(part.data);
    }
    return rc;
}

/* ---- children ---- */

/* Give a child what it lacks, up to a message; nothing twice over one link. */
static void help(struct xcast *x, struct xcast_child *child, uint64_t last, struct effects *effects)
{
    if (child->have > child->sent)
        child->sent = child->have;
    for (uint64_t number = child->sent + 1; number <= last; number++) {
        const struct core_message *message = queue_at(&x->log, number);
        if (message)
            pass_help(x, message, child->node, effects);
    }
}

static int hear_have(struct xcast *x, uint32_t from, const struct core_message *message,
                     struct effects *effects)
{
    struct xcast_child *child = find_child(x, from);
    if (message->other > message->number || message->number > x->have + XCAST_AHEAD_MAX)
        return -EPROTO;
    if (!child)
        return 0;
    child->is_heard = true;
    if (message->number > child->have)
        child->have = message->number;
    if (message->other > child->below)
        child->below = message->other;
    tell_parent(x, false, effects);
    return 0;
}

/* Hand in again the messages up to last that have not come to the root. */
static void submit_again(struct xcast *x, uint64_t come, uint64_t last, struct effects *effects)
{
    for (size_t i = 0; i < x->outbox.count; i++) {
        const struct core_message *message = queue_at(&x->outbox, x->outbox.first + i);
        if (message->number > come && message->number <= last)
            pass_up(x, message, effects);
    }
}

static int hear_numbered(struct xcast *x, const struct core_message *message,
                         struct effects *effects)
{
    if (is_root(x) || message->origin != NODE_ROOT)
        return -EPROTO;
    if (message->other != x->asked)
        return 0;
    x->asked++; /* one answer to a question is enough */
    x->ask_ticks = 0;
    submit_again(x, message->number, x->asked_last, effects);
    return 0;
}

int xcast_message(struct xcast *x, uint32_t from, const struct core_message *message,
                  struct effects *effects)
{
    switch (message->kind) {
    case MESSAGE_SUBMIT: return hear_submit(x, message, effects);
    case MESSAGE_XCAST: return hear_xcast(x, message, effects);
    case MESSAGE_NUMBERED: return hear_numbered(x, message, effects);
    default: return hear_have(x, from, message, effects);
    }
}

int xcast_rewire(struct xcast *x, struct effects *effects)
{
    struct node_list nodes = {0};
    struct xcast_child *children = NULL;
    int rc = tree_children(x->tree, TREE_RADIX, x->tree->self, &nodes);
    if (!rc && nodes.count && !(children = calloc(nodes.count, sizeof(*children))))
        rc = -ENOMEM;
    for (size_t i = 0; !rc && i < nodes.count; i++) {
        struct xcast_child *known = find_child(x, nodes.items[i]);
        children[i] = known ? *known : (struct xcast_child){.node = nodes.items[i]};
    }
    if (!rc) {
        free(x->children);
        x->children = children;
        x->child_count = nodes.count;
        tell_parent(x, false, effects);
    }
    node_list_fini(&nodes);
    return rc;
}

int xcast_attached(struct xcast *x, uint32_t from, const struct core_message *attach,
                   struct effects *effects)
{
    struct xcast_child *child = find_child(x, from);
    int rc = hear_have(x, from, attach, effects);
    if (rc || !child)
        return rc;
    /* What went out over the link before the first word of the child is still to come there. */
    if (child->is_attached)
        child->sent = attach->number;
    child->is_attached = true;
    help(x, child, x->have, effects);
    return 0;
}

void xcast_relinked(struct xcast *x, uint32_t node)
{
    struct xcast_child *child = find_child(x, node);
    if (!child)
        return;
    child->is_attached = false;
    child->sent = child->have;
}

/* Ask which messages the root has, if none has come back for a while: ever more seldom. */
static void ask(struct xcast *x, struct effects *effects)
{
    bool is_still = x->outbox.count && x->outbox_at_tick == x->outbox.first;
    x->outbox_at_tick = x->outbox.first;
    x->still_ticks = is_still ? x->still_ticks + 1 : 0;
    if (!is_still)
        x->ask_ticks = 0;
    if (is_root(x) || x->still_ticks <= x->ask_ticks)
        return;
    struct core_message question = {.kind = MESSAGE_SUBMIT,
                                    .flags = MESSAGE_ASK,
                                    .origin = x->tree->self,
                                    .number = ++x->asked};
    x->asked_last = x->outbox.first + x->outbox.count - 1;
    x->still_ticks = 0;
    x->ask_ticks = x->ask_ticks < ASK_TICKS_MAX / 2 ? 2 * x->ask_ticks + 1 : ASK_TICKS_MAX;
    pass_up(x, &question, effects);
}

void xcast_greet(struct xcast *x, struct effects *effects)
{
    x->told_below = xcast_below(x);
    x->told_have = x->have;
    submit_again(x, 0, UINT64_MAX, effects);
}

void xcast_tick(struct xcast *x, struct effects *effects)
{
    for (size_t i = 0; i < x->child_count; i++) {
        struct xcast_child *child = &x->children[i];
        bool is_still = child->have == child->have_at_tick;
        child->still_ticks = is_still ? child->still_ticks + (child->still_ticks < HELP_TICKS) : 0;
        child->have_at_tick = child->have;
        if (child->is_heard && child->still_ticks == HELP_TICKS)
            help(x, child, x->have_before, effects);
    }
    x->have_before = x->have_at_tick;
    x->have_at_tick = x->have;
    ask(x, effects);
    tell_parent(x, true, effects);
}

void xcast_init(struct xcast *x, struct tree *tree, const struct xcast_choice *choice)
{
    *x = (struct xcast){.tree = tree, .choice = *choice};
    x->log.first = x->outbox.first = 1;
}

void xcast_fini(struct xcast *x)
{
    struct xcast_origin *origin, *next;
    HASH_ITER(hh, x->origins, origin, next)
    {
        HASH_DEL(x->origins, origin);
        free(origin);
    }
    queue_fini(&x->log);
    queue_fini(&x->outbox);
    for (size_t i = 0; i < x->early_count; i++)
        bytes_unref(x->early[i].data);
    xcast_join_fini(&x->joins);
    free(x->early);
    free(x->children);
}
