/* SPDX-License-Identifier: BSD-3-Clause */

/* Starting daemons; see launching.h. */
#include "bnr/core/launching.h"

#include <errno.h>
#include <stdlib.h>

const struct launching_settings launching_settings_default = {
    .fan_out = 64, .attempts = 3, .limit_ns = 30000000000LL, .rest_ns = 500000000LL};

/* An event that is not in the table changes nothing.
 * RETRY: RESTING, or FAILED after the last attempt. */
enum {
    RETRY = LAUNCHING_STATE_END
};

static const struct launching_transition {
    enum launching_event event;
    uint8_t from, to;
} transitions[] = {
    {LAUNCHING_PLACE, LAUNCHING_WAITING, LAUNCHING_STARTING},
    {LAUNCHING_DIALED, LAUNCHING_STARTING, LAUNCHING_UP},
    {LAUNCHING_DIALED, LAUNCHING_RESTING, LAUNCHING_UP}, /* of an attempt that was given up */
    {LAUNCHING_ENDED, LAUNCHING_STARTING, RETRY},
    {LAUNCHING_LATE, LAUNCHING_STARTING, RETRY},
    {LAUNCHING_REFUSED, LAUNCHING_STARTING, LAUNCHING_FAILED},
    {LAUNCHING_LOST, LAUNCHING_UP, LAUNCHING_FAILED},
    {LAUNCHING_RESTED, LAUNCHING_RESTING, LAUNCHING_WAITING},
};

static void add(struct launching *l, struct launching_effects *e, enum launching_action action,
                uint32_t host)
{
    if (e->count == e->room) {
        size_t room = e->room ? 2 * e->room : 16;
        struct launching_effect *items = realloc(e->items, room * sizeof(*items));
        if (!items) {
            e->failed = true;
            return;
        }
        e->items = items;
        e->room = room;
    }
    const struct launching_host *h = &l->hosts[host];
    e->items[e->count++] =
        (struct launching_effect){action, host, h->attempts, (enum launching_stage)h->stage};
}

/* Enter a state, and do its work. */
static void enter(struct launching *l, uint32_t host, uint8_t state, int64_t now,
                  struct launching_effects *effects)
{
    struct launching_host *h = &l->hosts[host];
    l->starting -= h->state == LAUNCHING_STARTING;
    l->settled -= h->state == LAUNCHING_UP;
    h->state = state;
    switch (state) {
    case LAUNCHING_STARTING:
        l->starting++;
        h->attempts++;
        h->until_ns = now + l->settings.limit_ns;
        add(l, effects, LAUNCHING_START, host);
        break;
    case LAUNCHING_RESTING: h->until_ns = now + (l->settings.rest_ns << (h->attempts - 1)); break;
    case LAUNCHING_WAITING:
        if (host < l->next)
            l->next = host;
        break;
    case LAUNCHING_FAILED: add(l, effects, LAUNCHING_GIVE_UP, host); /* fall through */
    default: l->settled++;
    }
}

static void move(struct launching *l, uint32_t host, enum launching_event event, int64_t now,
                 struct launching_effects *effects)
{
    struct launching_host *h = &l->hosts[host];
    for (size_t i = 0; i < sizeof(transitions) / sizeof(transitions[0]); i++) {
        const struct launching_transition *t = &transitions[i];
        if (t->event != event || t->from != h->state)
            continue;
        uint8_t to = t->to;
        if (event == LAUNCHING_LATE)
            add(l, effects, LAUNCHING_STOP, host);
        if (to == RETRY && event == LAUNCHING_LATE && h->stage >= LAUNCHING_DIAL_BACK)
            to = LAUNCHING_FAILED; /* the daemon runs, and cannot connect: nor will the next one */
        if (to == RETRY)
            to = h->attempts < l->settings.attempts ? LAUNCHING_RESTING : LAUNCHING_FAILED;
        enter(l, host, to, now, effects);
        return;
    }
}

static void fill_places(struct launching *l, int64_t now, struct launching_effects *effects)
{
    while (l->starting < l->settings.fan_out && l->next < l->count) {
        if (l->hosts[l->next].state == LAUNCHING_WAITING)
            move(l, l->next, LAUNCHING_PLACE, now, effects);
        else
            l->next++;
    }
}

int launching_begin(struct launching *l, uint32_t count, const struct launching_settings *settings,
                    int64_t now, struct launching_effects *effects)
{
    *l = (struct launching){.settings = *settings, .count = count};
    l->hosts = calloc(count ? count : 1, sizeof(*l->hosts));
    if (!l->hosts)
        return -ENOMEM;
    fill_places(l, now, effects);
    return 0;
}

void launching_fini(struct launching *l)
{
    free(l->hosts);
    *l = (struct launching){0};
}

void launching_step(struct launching *l, uint32_t host, enum launching_event event,
                    enum launching_stage stage, int64_t now, struct launching_effects *effects)
{
    if (host >= l->count)
        return;
    struct launching_host *h = &l->hosts[host];
    bool was_complete = l->settled == l->count;
    if (event == LAUNCHING_REACHED && stage > h->stage)
        h->stage = (uint8_t)stage;
    move(l, host, event, now, effects);
    fill_places(l, now, effects);
    if (l->settled == l->count && !was_complete)
        add(l, effects, LAUNCHING_COMPLETE, host);
}

void launching_hold(struct launching *l, uint32_t host, int64_t now)
{
    if (host < l->count && l->hosts[host].state == LAUNCHING_STARTING)
        l->hosts[host].until_ns = now + l->settings.limit_ns;
}

void launching_tick(struct launching *l, int64_t now, struct launching_effects *effects)
{
    for (uint32_t i = 0; i < l->count; i++) {
        const struct launching_host *h = &l->hosts[i];
        if (h->until_ns > now)
            continue;
        if (h->state == LAUNCHING_STARTING)
            launching_step(l, i, LAUNCHING_LATE, LAUNCHING_RESOLVE, now, effects);
        else if (h->state == LAUNCHING_RESTING)
            launching_step(l, i, LAUNCHING_RESTED, LAUNCHING_RESOLVE, now, effects);
    }
}

void launching_paused(struct launching *l, int64_t ns)
{
    for (uint32_t i = 0; i < l->count; i++)
        l->hosts[i].until_ns += ns;
}

int64_t launching_next(const struct launching *l)
{
    int64_t next = INT64_MAX;
    for (uint32_t i = 0; i < l->count; i++) {
        const struct launching_host *h = &l->hosts[i];
        bool has_time = h->state == LAUNCHING_STARTING || h->state == LAUNCHING_RESTING;
        if (has_time && h->until_ns < next)
            next = h->until_ns;
    }
    return next;
}

void launching_effects_fini(struct launching_effects *effects)
{
    free(effects->items);
    *effects = (struct launching_effects){0};
}

const char *launching_stage_word(enum launching_stage stage)
{
    static const char *const words[] = {"resolve", "connect", "authenticate", "execute",
                                        "dial back", "stay until all hosts were there"};
    return words[stage];
}
