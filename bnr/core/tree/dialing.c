/* SPDX-License-Identifier: BSD-3-Clause */

/* Racing addresses; see dialing.h. */
#include "bnr/core/tree/dialing.h"

static void add(struct dialing_effects *effects, enum dialing_action action, int address)
{
    effects->items[effects->count++] = (struct dialing_effect){action, address};
}

static bool has(const struct dialing *d, enum dialing_state state)
{
    for (int i = 0; i < d->count; i++)
        if (d->states[i] == state)
            return true;
    return false;
}

static void try_next(struct dialing *d, int64_t now, struct dialing_effects *effects)
{
    for (int i = 0; i < d->count; i++)
        if (d->states[i] == DIALING_WAITING) {
            d->states[i] = DIALING_TRYING;
            d->next_ns = now + d->stagger_ns;
            add(effects, DIALING_TRY, i);
            return;
        }
}

static void drop_all(struct dialing *d, struct dialing_effects *effects)
{
    for (int i = 0; i < d->count; i++) {
        if (d->states[i] == DIALING_TRYING)
            add(effects, DIALING_DROP, i);
        if (d->states[i] != DIALING_WON)
            d->states[i] = DIALING_OVER;
    }
    d->is_over = true;
}

static void move_on(struct dialing *d, int64_t now, struct dialing_effects *effects)
{
    if (now >= d->limit_ns) {
        drop_all(d, effects);
    } else {
        if (now >= d->next_ns || !has(d, DIALING_TRYING))
            try_next(d, now, effects);
        d->is_over = !has(d, DIALING_TRYING);
    }
    if (d->is_over)
        add(effects, DIALING_LOST, -1);
}

void dialing_begin(struct dialing *d, int count, int64_t now, struct dialing_effects *effects)
{
    *d = (struct dialing){.count = count < DIALING_ADDRESSES_MAX ? count : DIALING_ADDRESSES_MAX,
                          .stagger_ns = DIALING_STAGGER_NS,
                          .next_ns = now,
                          .limit_ns = now + DIALING_LIMIT_NS};
    effects->count = 0;
    move_on(d, now, effects);
}

void dialing_step(struct dialing *d, enum dialing_event event, int address, int64_t now,
                  struct dialing_effects *effects)
{
    bool is_answer = event != DIALING_TIME;
    effects->count = 0;
    if (d->is_over ||
        (is_answer && (address < 0 || address >= d->count || d->states[address] != DIALING_TRYING)))
        return;
    if (event == DIALING_CONNECTED) {
        d->states[address] = DIALING_WON;
        drop_all(d, effects);
        add(effects, DIALING_DONE, address);
        return;
    }
    if (event == DIALING_FAILED) {
        d->states[address] = DIALING_OVER;
        d->next_ns = now; /* the next one's turn */
    }
    move_on(d, now, effects);
}

int64_t dialing_next(const struct dialing *d)
{
    if (d->is_over)
        return INT64_MAX;
    bool is_waiting = has(d, DIALING_WAITING) && d->next_ns < d->limit_ns;
    return is_waiting ? d->next_ns : d->limit_ns;
}
