/* SPDX-License-Identifier: BSD-3-Clause */

/* The exchange of a job's streams; see exchange.h. */
#include "bnr/streams/exchange.h"

#include <errno.h>

#include "os/settings.h"

enum {
    STREAMS_SPARE = 4096 /* that processes may make, beside those of each rank */
};

static void pass_on(struct exchange *x, uint64_t party, const struct hub_message *m)
{
    uint32_t node = (uint32_t)(party >> HUB_NODE_SHIFT);
    if (!party)
        x->hooks.own(x->hooks.arg, m);
    else if (party == EXCHANGE_RANKS)
        x->hooks.ranks(x->hooks.arg, m);
    else if (node && x->hooks.far)
        x->hooks.far(x->hooks.arg, node, (uint32_t)party, m->kind ? m : NULL);
    else if (!node && x->door && m->kind)
        door_hear(x->door, party, m);
    else if (!node && x->door)
        door_cut(x->door, party);
}

/* Carry out the hub's effects; further ones are appended, and carried out too. */
static void run_queue(struct exchange *x)
{
    if (x->is_running)
        return;
    x->is_running = true;
    while (x->queue.count) {
        struct hub_effects now = x->queue;
        x->queue = (struct hub_effects){0};
        for (size_t i = 0; i < now.count && !x->is_over; i++)
            pass_on(x, now.items[i].party, &now.items[i].message);
        hub_effects_fini(&now);
    }
    x->is_running = false;
}

void exchange_say(struct exchange *x, uint64_t party, const struct hub_message *m)
{
    if (x->is_over)
        return;
    if (hub_message(x->hub, party, m, &x->queue))
        pass_on(x, party, &(struct hub_message){0});
    x->queue.failed = false;
    run_queue(x);
}

void exchange_gone(struct exchange *x, uint64_t party)
{
    if (x->is_over)
        return;
    (void)hub_party_gone(x->hub, party, &x->queue);
    run_queue(x);
}

void exchange_node_lost(struct exchange *x, uint32_t node)
{
    uint64_t party;
    while (!x->is_over && hub_find_party(x->hub, exchange_party(node, 0),
                                         exchange_party(node, UINT32_MAX), &party))
        exchange_gone(x, party);
}

static void door_says(void *arg, uint64_t party, const struct hub_message *m)
{
    exchange_say(arg, party, m);
}

static void door_gone(void *arg, uint64_t party)
{
    exchange_gone(arg, party);
}

static void door_text(void *arg, int wish, int fd)
{
    struct exchange *x = arg;
    x->hooks.text(x->hooks.arg, wish, fd);
}

int exchange_start(struct exchange *x, uv_loop_t *loop, int32_t ranks,
                   const struct exchange_hooks *hooks)
{
    const struct door_hooks door = {door_text, door_says, door_gone, x};
    *x = (struct exchange){.hooks = *hooks};
    x->hub = hub_create(ranks, 3 * (size_t)ranks + STREAMS_SPARE,
                        (uint64_t)os_setting(OS_SETTING_STREAM_WINDOW));
    if (!x->hub)
        return -ENOMEM;
    x->door = door_open(loop, DOOR_OF_JOB, &door);
    return 0;
}

void exchange_stop(struct exchange *x)
{
    x->is_over = true;
    door_close(x->door);
    x->door = NULL;
    hub_effects_fini(&x->queue);
    hub_destroy(x->hub);
    x->hub = NULL;
}
