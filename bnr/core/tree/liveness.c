/* SPDX-License-Identifier: BSD-3-Clause */

/* The neighbours that are still there; see liveness.h. */
#include "bnr/core/tree/liveness.h"

#include <errno.h>
#include <stdlib.h>

void liveness_init(struct liveness *l, int64_t limit_ns, int64_t now)
{
    *l = (struct liveness){.limit_ns = limit_ns, .last_tick_ns = now};
}

void liveness_fini(struct liveness *l)
{
    free(l->peers);
    *l = (struct liveness){0};
}

static struct liveness_peer *find(struct liveness *l, uint32_t node)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->peers[i].node == node)
            return &l->peers[i];
    return NULL;
}

static int watch(struct liveness *l, uint32_t node, int64_t now)
{
    struct liveness_peer *peer = find(l, node);
    if (!peer && l->count == l->room) {
        size_t room = l->room ? 2 * l->room : 4;
        struct liveness_peer *peers = realloc(l->peers, room * sizeof(*peers));
        if (!peers)
            return -ENOMEM;
        l->peers = peers;
        l->room = room;
    }
    if (!peer)
        peer = &l->peers[l->count++];
    *peer = (struct liveness_peer){.node = node, .heard_ns = now, .said_ns = now};
    return 0;
}

int liveness_event(struct liveness *l, enum liveness_event event, uint32_t node, int64_t now)
{
    struct liveness_peer *peer = find(l, node);
    if (event == LIVENESS_WATCH)
        return watch(l, node, now);
    if (!peer)
        return 0;
    switch (event) {
    case LIVENESS_HEARD: peer->heard_ns = now; break;
    case LIVENESS_SAID: peer->said_ns = now; break;
    default: *peer = l->peers[--l->count];
    }
    return 0;
}

int liveness_tick(struct liveness *l, int64_t now, struct node_list *beats, struct node_list *lost)
{
    int rc = 0;
    int64_t beat_ns = l->limit_ns / LIVENESS_BEATS, tick_ns = l->limit_ns / LIVENESS_TICKS;
    int64_t asleep_ns = now - l->last_tick_ns > beat_ns ? now - l->last_tick_ns - tick_ns : 0;
    l->last_tick_ns = now;
    for (size_t i = 0; !rc && i < l->count;) {
        struct liveness_peer *peer = &l->peers[i];
        peer->heard_ns = peer->heard_ns + asleep_ns < now ? peer->heard_ns + asleep_ns : now;
        if (now - peer->heard_ns >= l->limit_ns - tick_ns) { /* the next tick is too late */
            rc = node_list_add(lost, peer->node);
            *peer = l->peers[--l->count];
            continue;
        }
        if (now - peer->said_ns >= beat_ns) {
            rc = node_list_add(beats, peer->node);
            peer->said_ns = now;
        }
        i++;
    }
    return rc;
}
