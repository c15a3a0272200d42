/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Who wants to hear of which events. Each registration counts what it has been
 * given, so a late one gets all that happened before, in order, once.
 */
#ifndef BNR_EVENT_H
#define BNR_EVENT_H

#include <stdint.h>

#include "bnr/client/backend.h"

struct event_reg;

struct events {
    struct event_reg *first;
    uint32_t delivered; /* every registration has had this many */
    int last_id;
    int running; /* a delivery is under way: no second one inside it */
};

int event_register(struct events *e, unsigned mask, BNR_Event_fn fn, void *arg, int *id);
int event_unregister(struct events *e, int id);

/* Deliver what is due. Returns the number of callbacks run. */
int event_deliver(struct events *e, struct backend *b);

/* Drop every registration. */
void event_clear(struct events *e);

#endif
