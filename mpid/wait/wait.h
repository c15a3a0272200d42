/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * How a wait passes its time: spin while a core is ours, yield for a while, then
 * sleep. The budgets follow from how many ranks share how many processors, and from experience: if
 * news keeps coming just after a yield that let another process run, that process needed this
 * processor, and spinning only kept it waiting. If most yields of a wait let somebody else run, the
 * processor is shared with processes that this one does not know of, and sleeping early is faster.
 *
 * A thread aside is none of the program's. Each yield of it would have the program's thread, which
 * computes, run for a slice, and what came meanwhile would wait so long; from a sleep it is woken at
 * once.
 */
#ifndef MPID_WAIT_H
#define MPID_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "os/clock.h"

enum wait_step { WAIT_SPIN, WAIT_YIELD, WAIT_SLEEP };

enum { WAIT_HANDED_NS = 1200 }; /* a yield that takes longer has let another run */

struct wait {
    uint32_t turns;
    uint32_t handed; /* yields of this wait that let another run */
    bool slept;
    bool dated; /* since_ns is set */
    bool counted; /* sleep.h */
    bool others; /* when it last slept as the poller, others were awake and looked: sleep.h */
    bool shared; /* the awaited word is in memory shared with other processes */
    bool spare;  /* others sleep, or are awake: news may be for them */
    bool aside;  /* its thread leaves the processor to the program's: it sleeps at once */
    uint32_t yields; /* how many before it sleeps; threads that wait at once share them */
    uint32_t awake; /* threads that wait besides, and this one */
    uint64_t idle_ns;  /* when it began, if somebody counts that, or 0 */
    uint64_t began_ns; /* 0: the clock has not been read yet */
    uint64_t since_ns; /* when the clock was first read: about when it began */
};

/* Set the budgets: ranks that share cpus processors. */
void wait_init(int ranks, int cpus);
/* Several threads may wait, from here on. */
void wait_share(void);
void wait_fini(void);

static inline void wait_begin(struct wait *wait)
{
    wait->turns = wait->handed = 0;
    wait->slept = wait->dated = wait->counted = wait->others = wait->spare =
        wait->shared = wait->aside = false;
    wait->awake = 0;
    wait->began_ns = 0;
}

/* What to do after one more turn in which nothing happened. */
enum wait_step wait_step(struct wait *wait);

/* Let others run, and note whether one did. */
void wait_yield(struct wait *wait);

/* Something has come, after turns in which nothing had. */
void wait_learn(const struct wait *wait);
static inline void wait_end(const struct wait *wait)
{
    if (wait->turns)
        wait_learn(wait);
}
/* Something came, but not everything we wait for. Start with full budgets, or with small ones if
 * the news may have been for another thread. */
void wait_renew(struct wait *wait);
static inline void wait_again(struct wait *wait)
{
    if (wait->turns)
        wait_renew(wait);
}

/* Note since when it waits, the first time that the clock is read. */
static inline void wait_date(struct wait *wait, uint64_t now_ns)
{
    if (!wait->dated)
        wait->since_ns = now_ns;
    wait->dated = true;
}

/* It is about to sleep. */
static inline void wait_sleeps(struct wait *wait)
{
    if (!wait->dated)
        wait_date(wait, os_now_ns());
    wait->slept = true;
}

/* A descriptor by which threads of this process wake each other when they sleep on descriptors; -1
 * while the process promised one thread. */
int wait_self_fd(void);
/* Whether it could not be had: nobody is woken so. */
bool wait_is_deaf(void);
void wait_self_ring(void);
void wait_self_drain(void);

#endif
