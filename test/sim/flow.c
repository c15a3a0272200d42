/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Streams between the root and each other node, both ways, as a host's I/O has them. Blocks come in
 * order, each once; at rest all are taken. While no link breaks and nobody dies nothing is lost once
 * there are links, and then no block is said twice, however long others stand still.
 */
#include "test/sim/sim.h"

#include <stdlib.h>
#include <string.h>

#include "bnr/core/stream/stream.h"

#define CALM_NS (10 * SIM_S) /* by then there are links, and who stood still goes on */

/* One direction. */
struct way {
    struct stream_out out;
    struct stream_in in;
    uint64_t put, said, taken;
};

struct sim_flow {
    struct way *ways; /* of each node: to the root, and from it */
};

/* The way that a node sends on: the root has one for each other node. */
static struct way *way_of(struct sim *s, uint32_t from, uint32_t to)
{
    return from == NODE_ROOT ? &s->flow->ways[2 * to + 1] : &s->flow->ways[2 * from];
}

static bool is_calm(const struct sim *s)
{
    return !s->settings.deaths && !s->settings.breaks;
}

static void route(struct sim *s, uint32_t node, struct effects *effects)
{
    for (size_t i = 0; i < effects->count; i++) {
        const struct core_message *m = &effects->items[i].message;
        if (m->kind == MESSAGE_STREAM && m->number)
            way_of(s, m->origin, m->to)->said++;
        if (node_route(&s->nodes[node].node, m, s->now, &s->effects))
            sim_fail(s, node, "what it sends in a stream is taken");
    }
    effects_fini(effects);
    sim_carry_out(s, node);
}

static void put(struct sim *s, uint32_t from, uint32_t to)
{
    struct way *way = way_of(s, from, to);
    struct effects effects = {0};
    uint64_t number = ++way->put;
    struct bytes *block = bytes_create(&number, sizeof(number));
    if (stream_out_put(&way->out, block, s->now, &effects))
        sim_fail(s, from, "a block is taken");
    bytes_unref(block);
    route(s, from, &effects);
}

void flow_step(struct sim *s, uint32_t node)
{
    uint32_t other = node;
    bool is_early = is_calm(s) && s->now < CALM_NS;
    for (uint64_t blocks = s->flow && !is_early ? sim_random(s, 4) : 0; blocks; blocks--) {
        if (node == NODE_ROOT)
            other = (uint32_t)sim_random(s, s->settings.count);
        if (other != NODE_ROOT)
            put(s, node, node == NODE_ROOT ? other : NODE_ROOT);
    }
}

void flow_tick(struct sim *s, uint32_t node)
{
    struct effects effects = {0};
    for (uint32_t i = 1; s->flow && i < s->settings.count; i++)
        if (node == NODE_ROOT || node == i)
            stream_out_tick(&way_of(s, node, node == NODE_ROOT ? i : NODE_ROOT)->out, false, s->now,
                            &effects);
    route(s, node, &effects);
}

void flow_arrived(struct sim *s, uint32_t node, const struct core_message *m)
{
    struct effects effects = {0};
    if (m->kind == MESSAGE_CREDIT) {
        stream_out_credit(&way_of(s, node, m->origin)->out, m, s->now, &effects);
    } else {
        struct way *way = way_of(s, m->origin, node);
        uint64_t number;
        if (!stream_in_take(&way->in, m)) {
            memcpy(&number, m->data->at, sizeof(number));
            if (m->data->len != sizeof(number) || number != ++way->taken)
                sim_fail(s, node, "blocks of %u come in order, each once", m->origin);
        }
        struct core_message credit = stream_in_credit(&way->in, m, way->in.taken);
        effects_add(&effects, EFFECT_SEND, credit.to, &credit);
    }
    route(s, node, &effects);
}

void flow_check_end(struct sim *s)
{
    for (uint32_t i = 1; s->flow && i < s->settings.count; i++)
        for (int back = 0; back < 2; back++) {
            const struct way *way = &s->flow->ways[2 * i + (uint32_t)back];
            if (!sim_is_alive(s, i))
                continue;
            if (way->taken != way->put || !stream_out_is_empty(&way->out))
                sim_fail(s, i, "all %llu blocks are taken, not %llu", (unsigned long long)way->put,
                         (unsigned long long)way->taken);
            if (is_calm(s) && way->said > way->put)
                sim_fail(s, i, "what is not lost is not said again: %llu blocks, %llu times",
                         (unsigned long long)way->put, (unsigned long long)way->said);
        }
}

void flow_init(struct sim *s)
{
    uint32_t count = s->settings.count;
    if (!s->settings.has_flow)
        return;
    s->flow = calloc(1, sizeof(*s->flow));
    s->flow->ways = calloc(2 * (size_t)count, sizeof(*s->flow->ways));
    for (uint32_t i = 1; i < count; i++) {
        stream_out_init(&way_of(s, i, NODE_ROOT)->out, i, NODE_ROOT, 0, SIZE_MAX);
        stream_out_init(&way_of(s, NODE_ROOT, i)->out, NODE_ROOT, i, 0, SIZE_MAX);
    }
    for (uint32_t i = 0; is_calm(s) && i < 3 * count; i++)
        sim_at(s, CALM_NS + (int64_t)sim_random(s, 3 * SIM_S), SIM_STEP,
               (uint32_t)sim_random(s, count));
    if (is_calm(s) && sim_random(s, 2))
        sim_at(s, CALM_NS, SIM_STOP, NODE_ROOT);
}

void flow_fini(struct sim *s)
{
    for (uint32_t i = 0; s->flow && i < 2 * s->settings.count; i++)
        stream_out_fini(&s->flow->ways[i].out);
    if (s->flow)
        free(s->flow->ways);
    free(s->flow);
}
