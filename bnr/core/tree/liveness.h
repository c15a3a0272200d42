/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The neighbours that are still there. Each is heard of at least every limit / 4, by a beat where
 * nothing else is said; one that is silent is lost before the limit has passed. A stop of this process
 * is no silence of the others: time that it did not see passing does not count.
 *
 * With a limit of 10 s, a daemon that stands still for 5 s is silent for 7.5 s at most.
 */
#ifndef BNR_LIVENESS_H
#define BNR_LIVENESS_H

#include <stdint.h>

#include "bnr/core/tree/message.h"

enum liveness_event {
    LIVENESS_WATCH, /* from now on */
    LIVENESS_FORGET,
    LIVENESS_HEARD,
    LIVENESS_SAID, /* something was sent to it */
};

struct liveness_peer {
    uint32_t node;
    int64_t heard_ns, said_ns;
};

struct liveness {
    int64_t limit_ns, last_tick_ns;
    struct liveness_peer *peers;
    size_t count, room;
};

enum {
    LIVENESS_BEATS = 4, /* in a limit */
    LIVENESS_TICKS = 20 /* in a limit, at least */
};

#define LIVENESS_LIMIT_NS 10000000000LL

void liveness_init(struct liveness *l, int64_t limit_ns, int64_t now);
void liveness_fini(struct liveness *l);

/* Returns 0 or -ENOMEM. Events of a node that is not watched change nothing. */
int liveness_event(struct liveness *l, enum liveness_event event, uint32_t node, int64_t now);

/* Append the nodes to send a beat to, and the lost ones, which are watched no more. To be called
 * every limit / LIVENESS_TICKS or so. Returns 0 or -ENOMEM. */
int liveness_tick(struct liveness *l, int64_t now, struct node_list *beats, struct node_list *lost);

#endif
