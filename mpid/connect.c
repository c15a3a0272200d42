/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From unbound to open: fetch the peer's card, choose, link, and try the next
 * channel where one fails; and the other side, being asked. Of two connections
 * that cross, the one begun by the higher (group id, rank) survives.
 *
 * Nothing here has a deadline: a peer that computes answers when it comes back to
 * MPI, and the end of its process is an event.
 */
#include <stdlib.h>
#include <string.h>

#include "mpid/device.h"

/* ---- our own attempts ---- */

static bool is_own_group(const struct chan_gid *gid)
{
    return !memcmp(gid, &device.env.gid, sizeof(*gid));
}

/* The link is up: whatever waits may go. */
static void up(struct vc *vc)
{
    if (!vc->send_head)
        vc->link = vc->bound;
    vc_mark_busy(vc);
}

static void try_next(struct vc *vc)
{
    for (; vc->tried < vc->choice.count; vc->tried++) {
        int index = vc->choice.candidate[vc->tried];
        struct chan *chan = device.ports[index].chan;
        char params[CHAN_CARD_MAX];
        struct chan_link *link;
        if (card_find(vc->card, chan->ops->name, params) ||
            chan->ops->link(chan, &vc->peer, params, &link))
            continue;
        vc->bound = link;
        progress_look();
        vc_event(vc, VC_LINKED);
        if (vc->choice.verdict[index].fit == CHAN_YES && vc_event(vc, VC_OPENED))
            up(vc);
        return;
    }
    vc_fail(vc, MPID_UNREACHABLE, "no channel reaches it");
}

/* Get the card if it is there. Returns 0, 1 where it is not yet, or -1. */
static int fetch_card(struct vc *vc)
{
    void *card;
    size_t len;
    if (!is_own_group(&vc->peer.gid))
        return -1;
    if (vc->peer.rank == device.env.rank) {
        vc->card = strdup(device.card);
        return vc->card ? 0 : -1;
    }
    switch (BNR_Get_alloc(device.group, (int)vc->peer.rank, "card", &card, &len, BNR_GET_NOWAIT)) {
    case BNR_SUCCESS: vc->card = card; return 0;
    case BNR_ERR_NOT_FOUND: return 1;
    default: return -1;
    }
}

static bool bind_vc(struct vc *vc)
{
    int rc = fetch_card(vc);
    if (rc > 0)
        return false;
    if (!rc && device.ends_seen && device_has_ended(vc->peer.rank)) {
        vc_fail(vc, MPID_LOST, "its process has ended");
    } else if (rc < 0) {
        vc_fail(vc, MPID_LOST, "its card cannot be had");
    } else if (bind_choose(device.card, vc->card, device.ops, device.port_count, &vc->choice)) {
        vc_fail(vc, MPID_UNREACHABLE, "no channel suits both");
    } else {
        try_next(vc);
    }
    return true;
}

void connect_start(struct vc *vc)
{
    if (vc->state != VC_UNBOUND)
        return;
    vc_event(vc, VC_NEED);
    bind_vc(vc);
}

static void poll_vc(struct vc *vc, void *moved)
{
    if (vc->state == VC_BINDING)
        *(bool *)moved |= bind_vc(vc);
}

bool connect_poll(void)
{
    bool moved = false;
    vc_each(poll_vc, &moved);
    return moved;
}

/* ---- upcalls ---- */

enum chan_answer connect_asked(void *owner, const struct chan_ops *ops,
                               const struct chan_gid *gid, uint32_t rank,
                               struct chan_peer **peer)
{
    (void)owner;
    if (!is_own_group(gid) || rank >= (uint32_t)device.world.size)
        return CHAN_REFUSE_UNKNOWN;
    struct vc *vc = vc_get(gid, rank);
    if (!vc)
        return CHAN_REFUSE_UNKNOWN;
    if (vc->state >= VC_CLOSED)
        return CHAN_REFUSE_CLOSED;
    if (vc->state >= VC_ACCEPTING)
        return CHAN_REFUSE_CROSSING;
    if (vc->state == VC_CONNECTING && vc->bound) {
        if (rank < device.env.rank)
            return CHAN_REFUSE_CROSSING;
        if (vc->bound->ops != ops) { /* else the channel makes one of the two */
            struct chan_link *ours = vc->bound;
            vc->bound = NULL;
            ours->ops->unlink(ours);
        }
    }
    vc_event(vc, VC_ASKED);
    *peer = &vc->peer;
    return CHAN_ACCEPT;
}

void connect_opened(struct chan_link *link)
{
    struct vc *vc = (struct vc *)link->peer;
    vc->bound = link;
    if (vc_event(vc, VC_OPENED))
        up(vc);
}

void connect_refused(struct chan_link *link, enum chan_answer answer, const char *why)
{
    struct vc *vc = (struct vc *)link->peer;
    bool ours = vc->bound == link;
    if (ours && vc_is_up(vc)) {
        vc_fail(vc, MPID_LOST, why);
        return;
    }
    link->ops->unlink(link);
    if (!ours)
        return;
    vc->bound = NULL;
    if (answer == CHAN_REFUSE_CROSSING)
        return; /* the peer's connection is on its way */
    int index = vc->choice.candidate[vc->tried++];
    vc->choice.refused[index] = true;
    vc->choice.verdict[index].why = "tried, and it could not connect";
    try_next(vc);
}

void connect_lost(struct chan_link *link, int rc)
{
    struct vc *vc = (struct vc *)link->peer;
    if (vc->bound != link) {
        link->ops->unlink(link);
        return;
    }
    vc_fail(vc, MPID_LOST, strerror(-rc));
    if (vc->bound == link) { /* it had been closed: nothing failed */
        vc->bound = NULL;
        link->ops->unlink(link);
    }
}
