/* SPDX-License-Identifier: BSD-3-Clause */

/* Event registrations; see event.h. */
#include "bnr/client/event.h"

#include <stdbool.h>
#include <stdlib.h>

struct event_reg {
    struct event_reg *next;
    unsigned mask;
    BNR_Event_fn fn; /* NULL: unregistered, freed when no delivery runs */
    void *arg;
    int id;
    uint32_t had; /* events offered so far */
};

int event_register(struct events *e, unsigned mask, BNR_Event_fn fn, void *arg, int *id)
{
    struct event_reg *reg = calloc(1, sizeof(*reg));
    if (!reg)
        return BNR_ERR_NOMEM;
    reg->mask = mask;
    reg->fn = fn;
    reg->arg = arg;
    reg->id = *id = ++e->last_id;
    struct event_reg **end = &e->first;
    while (*end)
        end = &(*end)->next;
    *end = reg;
    e->delivered = 0;
    return BNR_SUCCESS;
}

static void sweep(struct events *e)
{
    for (struct event_reg **at = &e->first; *at;) {
        struct event_reg *reg = *at;
        if (reg->fn) {
            at = &reg->next;
        } else {
            *at = reg->next;
            free(reg);
        }
    }
}

int event_unregister(struct events *e, int id)
{
    for (struct event_reg *reg = e->first; reg; reg = reg->next) {
        if (reg->id != id || !reg->fn)
            continue;
        reg->fn = NULL;
        if (!e->running)
            sweep(e);
        return BNR_SUCCESS;
    }
    return BNR_ERR_NOT_FOUND;
}

static int deliver_to(struct event_reg *reg, struct backend *b, uint32_t count)
{
    int run = 0;
    while (reg->fn && reg->had < count) {
        BNR_Event ev = {.gid = b->gid};
        b->ops->event(b, reg->had, &ev);
        ev.seq = ++reg->had;
        if (reg->mask & (unsigned)ev.type) {
            reg->fn(&ev, reg->arg);
            run++;
        }
    }
    return run;
}

int event_deliver(struct events *e, struct backend *b)
{
    uint32_t count = atomic_load_explicit(b->events, memory_order_acquire);
    if (__builtin_expect(count == e->delivered, 1) || e->running)
        return 0;
    int run = 0;
    e->running = 1;
    e->delivered = count; /* a registration that a callback makes sets it back */
    for (struct event_reg *reg = e->first; reg; reg = reg->next)
        run += deliver_to(reg, b, count);
    e->running = 0;
    sweep(e);
    return run;
}

void event_clear(struct events *e)
{
    for (struct event_reg *reg = e->first; reg; reg = reg->next)
        reg->fn = NULL;
    sweep(e);
    e->delivered = 0;
}
