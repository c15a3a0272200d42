/* SPDX-License-Identifier: BSD-3-Clause */

/* Facts for tools: counts, gathered from their owners on request; and events. */
#include "mpid/tell/facts.h"

#include <string.h>

#include "mpid/conn/vc.h"
#include "mpid/ground/device.h"
#include "mpid/ground/life.h"
#include "mpid/message/recv.h"
#include "os/clock.h"

/* ---- counts ---- */

/* One word each, in the order of enum vc_state. */
static const char *const state_names[VC_STATES] = {
    [VC_UNBOUND] = "unbound",
    [VC_BINDING] = "binding",
    [VC_CONNECTING] = "connecting",
    [VC_ACCEPTING] = "accepting",
    [VC_OPEN] = "open",
    [VC_LEAVING] = "leaving",
    [VC_LEFT] = "left",
    [VC_LOCAL_CLOSE] = "closing_here",
    [VC_REMOTE_CLOSE] = "closing_there",
    [VC_CLOSE_ACKED] = "closing_both",
    [VC_CLOSED] = "closed",
    [VC_FAILED] = "failed",
};
_Static_assert((int)VC_STATES == (int)MPID_STATES, "each has a name and a count");
_Static_assert((int)ENGINES == (int)MPID_ENGINES, "each has a count");

const char *mpid_state_name(int state)
{
    return state >= 0 && state < VC_STATES ? state_names[state] : NULL;
}

const char *mpid_channel_name(int channel)
{
    return channel < MPID_CHANNELS_MAX && chan_table[channel] ? chan_table[channel]->name : NULL;
}

static int channel_of(const struct vc *vc)
{
    const struct chan_ops *ops = vc->bound ? vc->bound->ops : vc->last_ops;
    for (int i = 0; ops && mpid_channel_name(i); i++)
        if (chan_table[i] == ops)
            return i;
    return -1;
}

/* The credit that eager messages have cost, less what each costs besides its data. */
static void add_traffic(const struct vc *vc, struct mpid_traffic *sum)
{
    const struct stats_counts *counts = stats_counts(vc);
    uint64_t spent = device.eager_credit + counts->credit_back - (uint64_t)vc->credit;
    uint64_t owed = device.credit_step - (uint64_t)vc->due;
    sum->eager_sent += vc->sent;
    sum->eager_sent_bytes += spent - vc->sent * EAGER_OVERHEAD;
    sum->eager_received += vc->received;
    sum->eager_received_bytes += counts->credit_given + owed - vc->received * EAGER_OVERHEAD;
    sum->rndv_sent += counts->rndv_sent;
    sum->rndv_sent_bytes += counts->rndv_sent_bytes;
    sum->rndv_received += counts->rndv_received;
    sum->rndv_received_bytes += counts->rndv_received_bytes;
}

static void add_sum(struct mpid_traffic *sum, const struct mpid_traffic *more)
{
    sum->eager_sent += more->eager_sent;
    sum->eager_sent_bytes += more->eager_sent_bytes;
    sum->eager_received += more->eager_received;
    sum->eager_received_bytes += more->eager_received_bytes;
    sum->rndv_sent += more->rndv_sent;
    sum->rndv_sent_bytes += more->rndv_sent_bytes;
    sum->rndv_received += more->rndv_received;
    sum->rndv_received_bytes += more->rndv_received_bytes;
}

void facts_vc_gone(const struct vc *vc)
{
    add_traffic(vc, &device.stats.gone[channel_of(vc) + 1]);
}

static void add_vc(struct vc *vc, void *arg)
{
    struct mpid_stats *stats = arg;
    add_traffic(vc, &stats->traffic);
    stats->connections[vc->state]++;
}

static uint64_t level(enum mpid_level which)
{
    switch (which) {
    case MPID_LEVEL_POSTED: return device.match.posted_total;
    case MPID_LEVEL_UNEXPECTED: return device.match.arrived_total;
    default: return device.stats.kept;
    }
}

/* Those of other processes, which channels ring for. */
static uint64_t rings(void)
{
    uint64_t sum = 0;
    for (int i = 0; i < device.port_count; i++)
        sum += device.ports[i].chan->rings;
    return sum;
}

void mpid_stats(struct mpid_stats *stats, bool peers)
{
    *stats = (struct mpid_stats){0};
    if (!stats_is_open())
        return;
    os_lock(&device.lock);
    if (peers) {
        vc_each(add_vc, stats);
        for (int i = 0; i <= MPID_CHANNELS_MAX; i++)
            add_sum(&stats->traffic, &device.stats.gone[i]);
    }
    for (int i = 0; i < MPID_LEVELS; i++)
        stats->level[i] = level((enum mpid_level)i);
    stats->unexpected = device.match.arrived_ever;
    memcpy(stats->engine, device.stats.engine, sizeof(stats->engine));
    stats->wakes = device.stats.wakes + rings();
    stats->left = device.stats.left;
    os_unlock(&device.lock);
    stats->sleeps = stats_waits.sleeps;
    stats->sleep_ns = stats_waits.sleep_ns;
    stats->yields = stats_waits.yields;
    stats->idle_ns = stats_waits.idle_ns;
}

uint64_t mpid_level_most(enum mpid_level which)
{
    if (!stats_is_open())
        return 0;
    os_lock(&device.lock);
    struct match *match = &device.match;
    uint64_t now = level(which), most;
    if (which == MPID_LEVEL_POSTED) {
        most = match->posted_most;
        match->posted_most = (uint32_t)now;
    } else if (which == MPID_LEVEL_UNEXPECTED) {
        most = match->arrived_most;
        match->arrived_most = (uint32_t)now;
    } else {
        most = device.stats.kept_most;
        device.stats.kept_most = now;
    }
    os_unlock(&device.lock);
    return most < now ? now : most;
}

void mpid_time_idle(bool on)
{
    atomic_fetch_add(&stats_waits.timed, on ? 1 : -1);
}

struct sum {
    int channel;
    struct mpid_traffic *traffic;
};

static void add_of_channel(struct vc *vc, void *arg)
{
    struct sum *sum = arg;
    if (channel_of(vc) == sum->channel)
        add_traffic(vc, sum->traffic);
}

void mpid_stats_channel(int channel, struct mpid_traffic *traffic)
{
    struct sum sum = {channel, traffic};
    *traffic = (struct mpid_traffic){0};
    if (!stats_is_open() || channel < 0 || channel >= MPID_CHANNELS_MAX)
        return;
    os_lock(&device.lock);
    vc_each(add_of_channel, &sum);
    add_sum(traffic, &device.stats.gone[channel + 1]);
    os_unlock(&device.lock);
}

void mpid_stats_peer(const struct mpid_gid *gid, uint32_t rank, struct mpid_peer *peer)
{
    struct chan_gid id;
    memcpy(&id, gid, sizeof(id));
    *peer = (struct mpid_peer){.state = VC_UNBOUND, .channel = -1};
    if (!stats_is_open())
        return;
    os_lock(&device.lock);
    const struct vc *vc = vc_find(&id, rank);
    if (vc) {
        add_traffic(vc, &peer->traffic);
        peer->state = vc->state;
        peer->channel = channel_of(vc);
    }
    os_unlock(&device.lock);
}

/* ---- events ---- */

static void keep_arrived(const struct chan_peer *peer, const struct chan_head *head, uint64_t bytes,
                         bool rendezvous)
{
    const struct mpid_envelope from = packet_envelope(head);
    stats_keep_message(MPID_EVENT_ARRIVED, peer, &from, bytes, rendezvous);
}

/* Like recv_arrived() and packet_place(), which they call: of the sink, while arrivals are wanted. So
 * nobody else pays for that. */
static void arrived(struct chan_peer *peer, const struct chan_head *head, const void *data, size_t len)
{
    struct packet_rts rts;
    if (packet_type(head) == PACKET_EAGER) {
        keep_arrived(peer, head, len, false);
    } else if (packet_type(head) == PACKET_RTS && len >= sizeof(rts)) {
        memcpy(&rts, data, sizeof(rts));
        packet_turn(PACKET_RTS, &rts);
        keep_arrived(peer, head, rts.total, true);
    }
    recv_arrived(peer, head, data, len);
}

static void *place(struct chan_peer *peer, const struct chan_head *head, size_t len, void **token)
{
    if (packet_type(head) == PACKET_EAGER)
        keep_arrived(peer, head, len, false);
    return packet_place(peer, head, len, token);
}

/* Locked. */
static void listen(void)
{
    bool on = stats_wants(MPID_EVENT_ARRIVED);
    device.sink.arrived = on ? arrived : recv_arrived;
    device.sink.place = on ? place : packet_place;
}

/* Either this or begin() sees what the other one has written. */
void mpid_events_want(unsigned kinds, void (*told)(void))
{
    stats_set_told(told);
    atomic_store(&stats_wanted, kinds);
    if (!stats_is_open())
        return;
    os_lock(&device.lock);
    listen();
    os_unlock(&device.lock);
}

/* The device is there, from here on; or not any more. Before and after, counts are 0. */
static void begin(void)
{
    atomic_store(&stats_there, true);
    os_lock(&device.lock);
    listen();
    os_unlock(&device.lock);
}

static void end(void)
{
    atomic_store(&stats_there, false);
}

const struct life facts_life = {.open = begin, .close = end};
