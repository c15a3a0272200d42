/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The exchange of a job's streams, at mpiexec: the hub, and the ways to its parties. These are
 * mpiexec itself (number 0), the ranks' pipes of this host (EXCHANGE_RANKS), processes that come in
 * by the door, and the same of other hosts, whose numbers begin with their node.
 */
#ifndef BNR_EXCHANGE_H
#define BNR_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "bnr/core/stream/hub.h"
#include "bnr/streams/door.h"

enum {
    EXCHANGE_RANKS = 1, /* bnr/streams/pipes.h */
};

struct exchange_hooks {
    void (*text)(void *arg, int wish, int fd);             /* see door.h */
    void (*own)(void *arg, const struct hub_message *m);   /* for mpiexec */
    void (*ranks)(void *arg, const struct hub_message *m); /* for the ranks' pipes here */
    /* For a process on another node; m: NULL, cut it off. NULL: there are none. */
    void (*far)(void *arg, uint32_t node, uint32_t party, const struct hub_message *m);
    void *arg;
};

struct exchange {
    struct hub *hub;
    struct hub_effects queue;
    struct exchange_hooks hooks;
    struct door *door;
    bool is_running, is_over;
};

/* For a job of so many ranks. Returns 0 or -ENOMEM. */
int exchange_start(struct exchange *x, uv_loop_t *loop, int32_t ranks,
                   const struct exchange_hooks *hooks);
/* Close everything; the loop must run once more. */
void exchange_stop(struct exchange *x);

/* A party says something, or is gone. */
void exchange_say(struct exchange *x, uint64_t party, const struct hub_message *m);
void exchange_gone(struct exchange *x, uint64_t party);

/* So are all of a node. */
void exchange_node_lost(struct exchange *x, uint32_t node);

static inline uint64_t exchange_party(uint32_t node, uint32_t party)
{
    return (uint64_t)node << HUB_NODE_SHIFT | party;
}

#endif
