/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the device counts for tools, and the events that it keeps for them.
 *
 * Nothing is counted twice: what matching, credit and connections know anyway is read there
 * (mpid/tell/facts.c). Of an eager message only its number is counted in its VC; its bytes follow from
 * the credit that it has cost.
 */
#ifndef MPID_STATS_H
#define MPID_STATS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "include/mpid.h"

struct chan_peer;
struct vc;

/* The device's lock guards it. */
struct stats {
    uint64_t engine[MPID_ENGINES];
    uint64_t kept, kept_most; /* bytes of unexpected messages */
    uint64_t wakes;           /* of threads of this process */
    uint64_t left;            /* connections that were let go, as they were idle */
    struct mpid_traffic gone[MPID_CHANNELS_MAX + 1]; /* of connections that are there no more: over
                                                      * none, and over each channel */
};

/* The counts of each VC, in space reserved there. */
struct stats_counts {
    uint64_t credit_back, credit_given; /* in all, by the peer and to it */
    uint64_t rndv_sent, rndv_sent_bytes, rndv_received, rndv_received_bytes; /* and complete */
};
extern int stats_counts_at;

/* Before the first VC. Returns 0, or non-zero without space. */

static inline struct stats_counts *stats_counts(const struct vc *vc)
{
    return (struct stats_counts *)((uintptr_t)vc + (size_t)stats_counts_at);
}

/* A rendezvous is complete. */
static inline void stats_count_sent(struct vc *vc, uint64_t bytes)
{
    struct stats_counts *counts = stats_counts(vc);
    counts->rndv_sent++;
    counts->rndv_sent_bytes += bytes;
}

static inline void stats_count_received(struct vc *vc, uint64_t bytes)
{
    struct stats_counts *counts = stats_counts(vc);
    counts->rndv_received++;
    counts->rndv_received_bytes += bytes;
}

/* Counts of waits, unlocked and thus atomic. */
struct stats_waits {
    _Atomic uint64_t sleeps, sleep_ns, yields, idle_ns;
    _Atomic int timed; /* users of mpid_time_idle() */
};
extern struct stats_waits stats_waits;

/* Bits of the kinds of events that are wanted. */
extern _Atomic unsigned stats_wanted;
/* There are events that nobody has been told of. */
extern _Atomic bool stats_pending;

/* Tools may ask before the device is there, and while another thread makes it: its lock does not
 * help then. */
extern _Atomic bool stats_there;
static inline bool stats_is_open(void)
{
    return atomic_load(&stats_there);
}

/* The lock is held. */
void stats_keep_message(enum mpid_event_kind kind, const struct chan_peer *peer, const struct mpid_envelope *from,
                        uint64_t bytes, bool rendezvous);
void stats_keep_connection(const struct chan_peer *peer, int old_state, int state);

static inline bool stats_wants(enum mpid_event_kind kind)
{
    return __builtin_expect(atomic_load_explicit(&stats_wanted, memory_order_relaxed) & 1u << kind,
                            0);
}

static inline void stats_unexpected(const struct chan_peer *peer, const struct mpid_envelope *from,
                                    uint64_t bytes, bool rendezvous)
{
    if (stats_wants(MPID_EVENT_UNEXPECTED))
        stats_keep_message(MPID_EVENT_UNEXPECTED, peer, from, bytes, rendezvous);
}

static inline void stats_connection(const struct chan_peer *peer, int old_state, int state)
{
    if (stats_wants(MPID_EVENT_CONNECTION))
        stats_keep_connection(peer, old_state, state);
}

/* Whom to tell. */
void stats_set_told(void (*told)(void));
/* The lock is not held: tell the kept events. */
void stats_tell(void);
static inline void stats_deliver(void)
{
    if (__builtin_expect(atomic_load_explicit(&stats_pending, memory_order_relaxed), 0))
        stats_tell();
}

#endif
