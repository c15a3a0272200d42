/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the hosts do, and what must hold. Each host, in rounds: its ranks put a key, come to a
 * fence, get keys of others; in between it sends messages to all or to some. At the end its
 * ranks end. Meanwhile nodes die and links break.
 *
 * After each step: xcasts are delivered in one order, each once, to its addressees; a
 * fence that is released with success has been entered by all that live, and is released alike
 * everywhere; a get brings what was put, or the end of its owner; no living host is held for
 * lost. At rest: nothing is missing.
 */
#include "test/sim/sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS_MAX = 16,
    FILL_MAX = 100 /* bytes behind what is told of an xcast */
};

/* An xcast as the root has put it in order. */
struct told {
    uint64_t number, count;       /* count: of its origin's */
    uint32_t origin, first, last; /* first > last: to all */
};

struct sim_play {
    struct told *told;
    size_t told_count, told_room;
    uint64_t *counts; /* of messages that each node has handed in, as the root has seen them */
    uint64_t *parts;  /* of those, and of parts of them */
    uint64_t noted;   /* the last one that was looked at */
    int status[ROUNDS_MAX + 1]; /* of each fence; -1: not over */
    bool *ended;                /* ranks, as the root knows */
    uint32_t ended_count;
    uint32_t submits_left, delivered;
    int64_t time[PLAY_MOMENT_END];
};

static uint32_t rank_of(const struct sim *s, uint32_t node)
{
    return node * s->settings.ranks_each;
}

static struct keys_name name_of(const struct sim *s, uint32_t rank, uint32_t round, char text[16])
{
    snprintf(text, 16, "key%u", round);
    return (struct keys_name){s->group.id, rank, text, strlen(text)};
}

static void value_of(uint32_t rank, uint32_t round, char text[32])
{
    snprintf(text, 32, "of %u in %u", rank, round);
}

static void call(struct sim *s, uint32_t node, int rc)
{
    if (rc)
        sim_fail(s, node, "the host's call fails: %d", rc);
    sim_carry_out(s, node);
}

/* ---- acts of a host ---- */

static void put_and_enter(struct sim *s, uint32_t node)
{
    struct sim_node *n = &s->nodes[node];
    uint32_t round = ++n->entered;
    struct tree_fence_entry entry = {.number = round};
    struct packing p = {0};
    for (uint32_t i = 0; i < s->settings.ranks_each; i++) {
        char key[16], text[32];
        struct keys_name name = name_of(s, rank_of(s, node) + i, round, key);
        value_of(name.owner, round, text);
        struct bytes *value = bytes_create(text, strlen(text));
        keys_pack(&p, &name, value);
        entry.bytes += value->len;
        call(s, node, node_put(&n->node, &name, value, 0, s->now, &s->effects));
        bytes_unref(value);
    }
    if (round % 2 == 0 || s->settings.is_lazy)
        entry.bytes += 300 * s->settings.ranks_each; /* too much to be collected */
    entry.data = pack_end(&p);
    int rc = node_fence(&n->node, s->group.id, &entry, s->now, &s->effects);
    bytes_unref(entry.data);
    call(s, node, rc == TREE_FENCE_OVER ? 0 : rc);
}

static void get_some(struct sim *s, uint32_t node)
{
    struct sim_node *n = &s->nodes[node];
    for (uint32_t i = 0; i < s->settings.gets; i++) {
        char key[16];
        uint32_t rank = (uint32_t)sim_random(s, s->group.rank_count);
        uint32_t round = 1 + (uint32_t)sim_random(s, n->entered);
        struct keys_name name = name_of(s, rank, round, key);
        struct node_getter getter = {.cookie = (uint64_t)rank << 32 | round,
                                     .flags = sim_random(s, 4) ? 0 : KEYS_LATER};
        n->gets_open++;
        call(s, node, node_get(&n->node, &name, &getter, s->now, &s->effects));
    }
}

/* The bytes behind the value of a message. */
static uint8_t fill_byte(const uint32_t value[2], size_t i)
{
    return (uint8_t)(value[0] * 31 + value[1] * 7 + i);
}

static void submit(struct sim *s, uint32_t node)
{
    struct sim_node *n = &s->nodes[node];
    uint32_t range[2] = {0, 0}, value[2];
    uint8_t payload[sizeof(value) + FILL_MAX];
    size_t fill = (size_t)sim_random(s, FILL_MAX + 1);
    bool is_for_some = sim_random(s, 3) == 0;
    if (is_for_some) {
        range[0] = (uint32_t)sim_random(s, s->settings.count);
        range[1] = range[0] + (uint32_t)sim_random(s, s->settings.count - range[0]);
    }
    value[0] = node;
    value[1] = ++n->submitted;
    memcpy(payload, value, sizeof(value));
    for (size_t i = 0; i < fill; i++)
        payload[sizeof(value) + i] = fill_byte(value, i);
    struct bytes *data = xcast_address(range, is_for_some, payload, sizeof(value) + fill);
    struct xcast_input input = {XCAST_TAG_USER + 1, XCAST_BY_SIZE, data};
    if (sim_random(s, 4) == 0)
        input.shape = (uint8_t)(1 + sim_random(s, TREE_MODE_END));
    int rc = node_submit(&n->node, &input, s->now, &s->effects);
    if (rc == XCAST_AGAIN)
        n->submitted--;
    bytes_unref(data);
    call(s, node, rc == XCAST_AGAIN ? 0 : rc);
}

static void end_ranks(struct sim *s, uint32_t node)
{
    struct rollup_run run = {rank_of(s, node), s->settings.ranks_each, 0, 0};
    s->nodes[node].has_ended = true;
    if (sim_random(s, 20) == 0)
        run.status = 3 << 8;
    call(s, node, node_ended(&s->nodes[node].node, s->group.id, &run, s->now, &s->effects));
}

static void step(struct sim *s, uint32_t node)
{
    struct sim_node *n = &s->nodes[node];
    flow_step(s, node);
    if (s->play->submits_left && sim_random(s, 2)) {
        s->play->submits_left--;
        submit(s, node);
    }
    if (n->entered > n->released)
        return; /* it waits in a fence: the release goes on with it */
    if (n->got < n->entered)
        get_some(s, node);
    n->got = n->entered;
    if (n->entered < s->settings.rounds)
        put_and_enter(s, node);
    else if (!n->gets_open && !n->has_ended)
        end_ranks(s, node);
}

/* ---- news of a host ---- */

static bool is_addressed(const struct told *told, uint32_t node)
{
    return told->first > told->last || (node >= told->first && node <= told->last);
}

/* A message that the root has put in order. */
static void note_order(struct sim *s, const struct core_message *m)
{
    struct sim_play *p = s->play;
    if (m->tag < XCAST_TAG_USER ||
        m->number <= p->noted)
        return;
    p->noted = m->number;
    if (m->group != ++p->parts[m->origin] && m->origin != NODE_ROOT) /* which says other things too */
        sim_fail(s, m->origin, "what one node sends stays in order, without gaps");
    if (m->flags & MESSAGE_MORE)
        return;
    uint64_t count = ++p->counts[m->origin];
    if (p->told_count == p->told_room) {
        p->told_room = p->told_room ? 2 * p->told_room : 64;
        p->told = realloc(p->told, p->told_room * sizeof(*p->told));
    }
    struct unpacking u = unpack_begin(m->data);
    struct told told = {m->number, count, m->origin, 1, 0};
    if (unpack_u32(&u)) {
        told.first = unpack_u32(&u);
        told.last = unpack_u32(&u);
    }
    p->told[p->told_count++] = told;
}

/* The order is what the root logs; one that is alone delivers to itself and logs nothing. */
static void look_at_order(struct sim *s)
{
    const struct xcast_queue *log = &s->nodes[NODE_ROOT].node.xcast.log;
    for (size_t i = 0; i < log->count; i++)
        note_order(s, &log->items[(log->begin + i) % log->room]);
}

/* What the root says to the dead alone is not seen here, so its count may be more. */
static bool is_alone(const struct sim *s, uint32_t origin)
{
    return origin == NODE_ROOT && s->dead_count;
}

static void check_delivery(struct sim *s, uint32_t node, const struct core_message *m)
{
    struct sim_play *p = s->play;
    struct sim_node *n = &s->nodes[node];
    struct unpacking u;
    bool is_mine;
    uint32_t value[2];
    if (xcast_open(m->data, node, &is_mine, &u) || !is_mine || u.left < sizeof(value))
        sim_fail(s, node, "what is delivered is for this node");
    memcpy(value, unpack_raw(&u, sizeof(value)), sizeof(value));
    if (value[0] != m->origin)
        sim_fail(s, node, "an xcast brings what its origin put in");
    for (size_t i = 0; i < u.left && u.left <= FILL_MAX; i++)
        if (u.at[i] != fill_byte(value, i))
            sim_fail(s, node, "all parts of an xcast come, in order");
    size_t i = 0;
    while (i < p->told_count && p->told[i].number <= n->delivered)
        i++;
    while (i < p->told_count && p->told[i].number < m->number)
        if (is_addressed(&p->told[i++], node))
            sim_fail(s, node, "xcast %llu comes before %llu",
                     (unsigned long long)p->told[i - 1].number, (unsigned long long)m->number);
    if (i == p->told_count || p->told[i].number != m->number || p->told[i].origin != m->origin ||
        (p->told[i].count != value[1] && !is_alone(s, m->origin)) || m->number <= n->delivered)
        sim_fail(s, node, "xcast %llu is the one that the root has told, once",
                 (unsigned long long)m->number);
    n->delivered = m->number;
    p->delivered++;
    p->time[PLAY_XCAST] = s->now;
}

static void check_release(struct sim *s, uint32_t node, const struct core_message *m)
{
    struct sim_node *n = &s->nodes[node];
    if (m->number != n->released + 1 || m->number > ROUNDS_MAX)
        sim_fail(s, node, "fences are released in order, each once");
    n->released++;
    s->play->time[PLAY_FENCE] = s->now;
    int *status = &s->play->status[m->number];
    if (*status >= 0 && *status != m->status)
        sim_fail(s, node, "fence %u ends alike everywhere", n->released);
    if (*status < 0)
        for (uint32_t i = 0; m->status == STATUS_GOOD && i < s->settings.count; i++)
            if (sim_is_alive(s, i) && s->nodes[i].entered < m->number)
                sim_fail(s, i, "who lives has entered fence %u, which succeeds", n->released);
    *status = m->status;
    if (m->status != STATUS_GOOD && !s->dead_count)
        sim_fail(s, node, "no fence fails where nobody has died");
    if (n->entered < n->released) {
        n->entered = n->released; /* it has failed before this host came */
        for (uint32_t i = 0; i < s->settings.ranks_each; i++) {
            char key[16], text[32];
            struct keys_name name = name_of(s, rank_of(s, node) + i, n->entered, key);
            value_of(name.owner, n->entered, text);
            struct bytes *value = bytes_create(text, strlen(text));
            call(s, node, node_put(&n->node, &name, value, 0, s->now, &s->effects));
            bytes_unref(value);
        }
    }
    sim_at(s, s->now + 1 + (int64_t)sim_random(s, (uint64_t)s->settings.delay_ns + 1), SIM_STEP,
           node);
}

static void check_value(struct sim *s, uint32_t node, const struct core_message *m)
{
    struct sim_node *n = &s->nodes[node];
    uint32_t rank = (uint32_t)(m->number >> 32), round = (uint32_t)m->number;
    uint32_t owner = rank / s->settings.ranks_each;
    char text[32];
    if (m->number == KEYS_NO_GETTER)
        return;
    value_of(rank, round, text);
    if (!n->gets_open--)
        sim_fail(s, node, "a get is answered once");
    if (m->status == STATUS_GOOD &&
        (m->data->len != strlen(text) || memcmp(m->data->at, text, m->data->len)))
        sim_fail(s, node, "a get of %u's key brings '%s'", rank, text);
    if (m->status != STATUS_GOOD && m->status != STATUS_ABSENT && m->status != STATUS_ASKED &&
        (m->status != STATUS_PROC_FAILED || sim_is_alive(s, owner)))
        sim_fail(s, node, "a get fails only where its owner is dead");
    if (!n->gets_open && n->entered == n->released && n->entered == s->settings.rounds)
        sim_at(s, s->now + 1, SIM_STEP, node);
}

static void note_ends(struct sim *s, uint32_t node, const struct core_message *m)
{
    struct unpacking u = unpack_begin(m->data);
    struct rollup_run run;
    while (rollup_unpack(&u, &run))
        for (uint32_t i = run.first; i < run.first + run.count; i++) {
            uint32_t owner = i / s->settings.ranks_each;
            if (i >= s->group.rank_count || s->play->ended[i])
                sim_fail(s, node, "the end of rank %u is told once", i);
            bool is_lost = run.flags & ROLLUP_NODE_LOST;
            if (is_lost ? sim_is_alive(s, owner) : !s->nodes[owner].has_ended)
                sim_fail(s, node, "rank %u has ended", i);
            s->play->ended[i] = true;
            s->play->ended_count++;
        }
    s->play->time[PLAY_END] = s->now;
}

/* When all know of a loss, if it is the only one: the time of liveness, and the way to the root and
 * back, where stops and broken links may hold the news up. */
static int64_t notice_limit(const struct sim *s)
{
    int64_t way = 2 * (s->settings.delay_ns + 11 * s->settings.jitter_ns);
    int64_t levels = s->settings.radix == 1 ? s->settings.count : 6;
    bool is_smooth = !s->settings.stops && !s->settings.breaks;
    return s->settings.liveness_ns + levels * way * 2 + (is_smooth ? 0 : 20 * SIM_S);
}

static void hear(struct sim *s, uint32_t node, const struct effect *effect)
{
    const struct core_message *m = &effect->message;
    if (node == NODE_ROOT)
        look_at_order(s);
    switch (effect->kind) {
    case EFFECT_DELIVER:
        if (node == NODE_ROOT)
            note_order(s, m);
        check_delivery(s, node, m);
        break;
    case EFFECT_RELEASED: check_release(s, node, m); break;
    case EFFECT_ARRIVED: flow_arrived(s, node, m); break;
    case EFFECT_VALUE: check_value(s, node, m); break;
    case EFFECT_RANKS_ENDED: note_ends(s, node, m); break;
    case EFFECT_LOST:
        if (sim_is_alive(s, effect->node))
            sim_fail(s, node, "node %u is alive", effect->node);
        if (s->dead_count == 1 && s->now - s->died_at > notice_limit(s))
            sim_fail(s, node, "a loss is known everywhere in time, not after %.1f s",
                     (double)(s->now - s->died_at) / 1e9);
        break;
    case EFFECT_ALONE: sim_fail(s, node, "a live node is not expelled");
    default: break;
    }
}

const struct sim_acts play_acts = {step, hear};

/* ---- one xcast alone ---- */

void play_send(struct sim *s, size_t len)
{
    struct packing p = {0};
    struct bytes *zeros = bytes_create(NULL, len);
    uint32_t value[2] = {NODE_ROOT, ++s->nodes[NODE_ROOT].submitted};
    pack_u32(&p, 0); /* to all */
    pack_raw(&p, value, sizeof(value));
    pack_raw(&p, zeros->at, len);
    struct bytes *data = pack_end(&p);
    const struct xcast_input input = {XCAST_TAG_USER + 1, XCAST_BY_SIZE, data};
    call(s, NODE_ROOT, node_submit(&s->nodes[NODE_ROOT].node, &input, s->now, &s->effects));
    bytes_unref(zeros);
    bytes_unref(data);
}

bool play_is_told(const struct sim *s)
{
    return s->play->delivered == s->settings.count;
}

/* ---- life ---- */

void play_init(struct sim *s)
{
    const struct sim_settings *set = &s->settings;
    struct sim_play *p = s->play = calloc(1, sizeof(*p));
    p->counts = calloc(set->count, sizeof(*p->counts));
    p->parts = calloc(set->count, sizeof(*p->parts));
    p->ended = calloc(s->group.rank_count, sizeof(*p->ended));
    p->submits_left = set->submits;
    for (int i = 0; i <= ROUNDS_MAX; i++)
        p->status[i] = -1;
    uint64_t span = 20 * (uint64_t)(set->delay_ns + set->jitter_ns) + 1;
    for (uint32_t i = 0; i < set->count; i++)
        sim_at(s, set->deaths ? (int64_t)sim_random(s, span) : 0, SIM_STEP, i);
    for (uint32_t i = 0; i < set->deaths && set->count > 1; i++)
        sim_at(s, (int64_t)sim_random(s, 2 * span), SIM_DEATH,
               1 + (uint32_t)sim_random(s, set->count - 1));
    for (uint32_t i = 0; i < set->stops; i++)
        sim_at(s, (int64_t)sim_random(s, 2 * span), SIM_STOP, (uint32_t)sim_random(s, set->count));
    for (uint32_t i = 0; i < set->breaks; i++)
        sim_at(s, (int64_t)sim_random(s, 2 * span), SIM_BREAK, 0);
    for (uint32_t i = 0; i < set->submits; i++)
        sim_at(s, (int64_t)sim_random(s, 2 * span), SIM_STEP, (uint32_t)sim_random(s, set->count));
}

void play_fini(struct sim *s)
{
    free(s->play->told);
    free(s->play->counts);
    free(s->play->parts);
    free(s->play->ended);
    free(s->play);
}

bool play_is_done(const struct sim *s)
{
    return s->play->ended_count == s->group.rank_count;
}

int64_t play_time(const struct sim *s, enum play_moment moment)
{
    return s->play->time[moment];
}

/* All know the dead, and count nobody else among them. */
static void check_losses(struct sim *s, uint32_t node)
{
    const struct tree *t = &s->nodes[node].node.tree;
    for (uint32_t i = 0; i < s->settings.count; i++)
        if (tree_is_lost(t, i) == sim_is_alive(s, i))
            sim_fail(s, node, "node %u is known to be %s", i,
                     sim_is_alive(s, i) ? "alive" : "lost");
}

void play_check_end(struct sim *s)
{
    struct sim_play *p = s->play;
    for (uint32_t i = 0; i < s->settings.count; i++) {
        struct sim_node *n = &s->nodes[i];
        if (!sim_is_alive(s, i))
            continue;
        if (s->dead_count || i < 16)
            check_losses(s, i);
        if (n->released != s->settings.rounds || n->gets_open || !n->has_ended)
            sim_fail(s, i, "its host is through: %u fences entered, %u released, %u gets",
                     n->entered, n->released, n->gets_open);
        for (size_t t = p->told_count; t && p->told[t - 1].number > n->delivered; t--)
            if (is_addressed(&p->told[t - 1], i))
                sim_fail(s, i, "xcast %llu has come", (unsigned long long)p->told[t - 1].number);
        if (p->counts[i] != n->submitted && !is_alone(s, i))
            sim_fail(s, i, "all its %u messages have been told, not %llu", n->submitted,
                     (unsigned long long)p->counts[i]);
        uint32_t parent = tree_parent(&n->node.tree, i);
        if (parent != NODE_NONE &&
            (!links_is_up(&n->node.links, parent) || !links_is_up(&s->nodes[parent].node.links, i)))
            sim_fail(s, i, "the link to its parent %u is up", parent);
        if (n->node.xcast.log.count)
            sim_fail(s, i, "what all have is forgotten");
    }
    flow_check_end(s);
    if (!play_is_done(s))
        sim_fail(s, 0, "the ends of all %u ranks are known, not of %u", s->group.rank_count,
                 p->ended_count);
}
