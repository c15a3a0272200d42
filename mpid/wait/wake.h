/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The threads of this process that sleep, and how they are woken; sleep.h says how they sleep. The
 * device's lock guards all of it.
 */
#ifndef MPID_WAKE_H
#define MPID_WAKE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "include/channel.h"
#include "include/mpid.h"
#include "mpid/ground/device.h"
#include "os/futex.h"

struct wait;

enum {
    WATCHES = 8,
    BUCKETS = 64
};

/* That a sleeper waits for this request. */
struct watch {
    struct watch *next, **link;
    const struct mpid_request *request;
    struct sleeper *sleeper;
};

/* On its thread's stack. The waker unlinks it first. */
struct sleeper {
    struct sleeper *next, *prev;
    struct wait *wait;
    bool (*is_done)(void *arg); /* of a wait for shared memory: others may look, too */
    void *arg;
    struct watch watches[WATCHES];
    int watch_count;
    uint64_t limit_ns; /* how long it sleeps at most */
    bool any;      /* of the watches, one will do */
    bool anything; /* it cannot say what it waits for */
    bool linked;
    bool on_channels;
    _Atomic uint32_t woken; /* stored after the news, and the last that its waker does with it; pairs with
                             * sleep_beside() */
};

/* Those that sleep; sleep.c sees to all but the first three. */
extern struct sleepers {
    struct sleeper *first, *last; /* the longest sleeper is first */
    struct watch *buckets[BUCKETS];
    int anything; /* sleepers that cannot say */
    struct wait *poller;
    struct sleeper *on_channels;
    bool dozing;         /* the poller */
    enum chan_sleep how; /* on_channels does it */
    uint64_t until_ns;   /* and then looks up */
} wake_list;

/* Wake sleeping threads of this process, locked: all; those that wait for this request, and for
 * what they cannot say; or the latter alone; or, where a VC is busy, or a channel has no room that
 * had some as that one armed it, or a completion is to be delivered, the one on the channels. */
void wake_all(void);
void wake_for(const struct mpid_request *request);
void wake_some(void);
void wake_work(bool is_blocked);

static inline bool wake_is_wanted(void)
{
    return __builtin_expect(atomic_load_explicit(&device.sleepers, memory_order_relaxed), 0);
}

/* Something came about that a sleeping thread may wait for, and no channel tells it. */
static inline void wake_news(void)
{
    if (wake_is_wanted())
        wake_some();
}

/* How many sleep, but not on the channels, until memory changes that is shared with other
 * processes. */
extern int wake_shared;
/* Wake those whose wait is over. */
void wake_look_shared(void);

/* The one on the channels, unless it has been woken. */
void wake_on_channels(void);

/* ---- for sleep.c ---- */

/* A thread is about to sleep; or does no more. */
void wake_enter(struct sleeper *sleeper, const struct mpid_condition *condition, void *arg);
void wake_leave(struct sleeper *sleeper);
void wake_one(struct sleeper *sleeper);
/* The words of all channels that have one. Returns how many. */
int wake_words(struct os_futex_seen words[BIND_CHANNELS]);
/* Whether the next turn has something to do that is here already. */
bool wake_has_turn_work(void);

#endif
