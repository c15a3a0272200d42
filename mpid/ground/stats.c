/* SPDX-License-Identifier: BSD-3-Clause */

/* Counts and events that the device keeps for tools; see stats.h. */
#include "mpid/ground/stats.h"

#include "include/channel.h"
#include "mpid/ground/device.h"
#include "mpid/ground/life.h"
#include "os/clock.h"

/* ---- counts ---- */

int stats_counts_at;

static int reserve(void)
{
    stats_counts_at = mpid_space_reserve(MPID_SPACE_VC, sizeof(struct stats_counts),
                                         _Alignof(struct stats_counts));
    return stats_counts_at < 0;
}

const struct life stats_life = {.start = reserve};

_Atomic bool stats_there;

/* ---- events ---- */

enum { EVENTS = 1024 }; /* kept at once */

_Atomic unsigned stats_wanted;
_Atomic bool stats_pending;

/* The device's lock guards it. */
static struct {
    struct mpid_event event[EVENTS];
    uint32_t first, end; /* positions; they wrap */
    uint64_t dropped[MPID_EVENT_KINDS];
} kept;
static void (*_Atomic deliver)(void);

static void keep(const struct mpid_event *event)
{
    if (kept.end - kept.first == EVENTS)
        kept.dropped[event->kind]++;
    else
        kept.event[kept.end++ % EVENTS] = *event;
    atomic_store_explicit(&stats_pending, true, memory_order_relaxed);
}

void stats_keep_message(enum mpid_event_kind kind, const struct chan_peer *peer, const struct mpid_envelope *from,
                        uint64_t bytes, bool rendezvous)
{
    struct mpid_event event = {.time_ns = os_now_ns(),
                               .kind = kind,
                               .peer = (int32_t)peer->rank,
                               .from = *from,
                               .bytes = bytes,
                               .rendezvous = rendezvous};
    keep(&event);
}

void stats_keep_connection(const struct chan_peer *peer, int old_state, int state)
{
    struct mpid_event event = {.time_ns = os_now_ns(),
                               .kind = MPID_EVENT_CONNECTION,
                               .peer = (int32_t)peer->rank,
                               .old_state = old_state,
                               .state = state};
    keep(&event);
}

bool mpid_event_take(struct mpid_event *event)
{
    if (!stats_is_open())
        return false;
    os_lock(&device.lock);
    bool any = kept.first != kept.end;
    if (any)
        *event = kept.event[kept.first++ % EVENTS];
    else
        atomic_store_explicit(&stats_pending, false, memory_order_relaxed);
    os_unlock(&device.lock);
    return any;
}

uint64_t mpid_events_dropped(enum mpid_event_kind kind)
{
    if (!stats_is_open())
        return 0;
    os_lock(&device.lock);
    uint64_t dropped = kept.dropped[kind];
    kept.dropped[kind] = 0;
    os_unlock(&device.lock);
    return dropped;
}

void stats_set_told(void (*told)(void))
{
    atomic_store(&deliver, told);
}

void stats_tell(void)
{
    void (*told)(void) = atomic_load(&deliver);
    if (told)
        told();
}
