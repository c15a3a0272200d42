/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The registrations for events. Each one counts the events that it has been given, so a late
 * registration gets all earlier events, in order, once.
 */
#ifndef BNR_EVENT_H
#define BNR_EVENT_H

#include <stdint.h>

#include "bnr/client/backend.h"

struct event_reg;

struct events {
    struct event_reg *first;
    uint32_t delivered; /* every registration has been given this many */
    int last_id;
    int running; /* a delivery is running: no second one starts inside it */
};

int event_register(struct events *e, unsigned mask, BNR_Event_fn fn, void *arg, int *id);
int event_unregister(struct events *e, int id);

/* Deliver due events. Returns the number of callbacks run. */
int event_deliver(struct events *e, struct backend *b);

/* Drop every registration. */
void event_clear(struct events *e);

#endif
