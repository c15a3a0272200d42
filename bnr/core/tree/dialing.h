/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reaching a daemon by one of its literal addresses. They are tried in their order, one more each
 * time that a little has passed or one has failed, so that an address that does not answer costs
 * no more than that; the first connection wins, and the others are given up.
 *
 *     WAITING --its turn--> TRYING --connected--> WON
 *                             | failed, another won, time is up
 *                             +--> OVER
 */
#ifndef BNR_DIALING_H
#define BNR_DIALING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    DIALING_ADDRESSES_MAX = 16
};

#define DIALING_STAGGER_NS 50000000LL    /* until the next address is tried too */
#define DIALING_LIMIT_NS   10000000000LL /* for all together */

enum dialing_state {
    DIALING_WAITING,
    DIALING_TRYING,
    DIALING_OVER,
    DIALING_WON
};

enum dialing_event {
    DIALING_CONNECTED, /* and the daemon there is the one that is meant */
    DIALING_FAILED,    /* refused, unreachable, or somebody else */
    DIALING_TIME,      /* it is dialing_next() */
};

enum dialing_action {
    DIALING_TRY = 1, /* connect to address */
    DIALING_DROP,    /* give up the connection to address */
    DIALING_DONE,    /* address has won */
    DIALING_LOST,    /* no address answers */
};

struct dialing_effect {
    enum dialing_action action;
    int address;
};

struct dialing_effects {
    struct dialing_effect items[DIALING_ADDRESSES_MAX + 2];
    int count;
};

struct dialing {
    enum dialing_state states[DIALING_ADDRESSES_MAX];
    int count;
    bool is_over;
    int64_t stagger_ns, next_ns, limit_ns; /* the latter two: moments */
};

/* Begin with so many addresses, the likeliest first; more than DIALING_ADDRESSES_MAX are left
 * out. */
void dialing_begin(struct dialing *d, int count, int64_t now, struct dialing_effects *effects);

/* Move on; address counts for CONNECTED and FAILED. effects is overwritten. */
void dialing_step(struct dialing *d, enum dialing_event event, int address, int64_t now,
                  struct dialing_effects *effects);

/* When DIALING_TIME is due; INT64_MAX: never. */
int64_t dialing_next(const struct dialing *d);

#endif
