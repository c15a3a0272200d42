/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sleeping until what a thread waits for may have come.
 *
 * Of the threads that sleep, one does so on the channels; each other on a word of its own, and is
 * woken for its request, or for anything if it names none. The one on the channels looks for all.
 * One waiting thread is the poller. It makes sure that somebody watches the channels: it sleeps on
 * them, polls, or dozes and looks every DOZE_NS while other threads poll. When the poller's wait is
 * over, another takes its place.
 */
#ifndef MPID_SLEEP_H
#define MPID_SLEEP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "include/mpid.h"
#include "mpid/wait/wait.h"

/* Sleep until something may have happened; unlocked. */
void sleep_once(struct wait *wait, const struct mpid_condition *condition, void *arg);
/* The same for limit_ns at most. */
void sleep_briefly(struct wait *wait, const struct mpid_condition *condition, void *arg,
                   uint64_t limit_ns);

/* How many threads wait and are awake. */
extern _Atomic uint32_t sleep_awake;

/* The wait of the calling thread has nothing to do just now; unlocked. */
static inline void sleep_count(struct wait *wait)
{
    if (!wait->counted)
        atomic_fetch_add_explicit(&sleep_awake, 1, memory_order_relaxed);
    wait->counted = true;
    wait->awake = atomic_load_explicit(&sleep_awake, memory_order_relaxed);
}

/* It is over, and was counted; unlocked. */
void sleep_leave(struct wait *wait);

/* This process is a child that was forked: none of its parent's threads sleeps here. */
void sleep_forget(void);

#endif
