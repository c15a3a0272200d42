/* SPDX-License-Identifier: BSD-3-Clause */

/* What a poll does that has found nothing; see polling.h. */
#include "mpid/wait/polling.h"

#include <sched.h>
#include <stddef.h>
#include <sys/resource.h>

#include "mpid/ground/device.h"
#include "mpid/wait/sleep.h"
#include "mpid/wait/wait.h"
#include "os/cpu/apart.h"
#include "os/clock.h"
#include "os/settings.h"

enum {
    CLOCK_POLLS = 16, /* polls between two looks at the clock */
    PAUSE_NS = 50000, /* from yield to yield while none lets another run; doubled up to ... */
    LONG_PAUSE_NS = 400000,
    VAIN_YIELDS = 8,  /* in a row: the processor is not shared any more */
    WORK_NS = 20000,  /* a program that takes longer from poll to poll does other work */
    WORK_PART = 4,    /* it keeps the processor for such a part of the time that others had */
    TIGHT_NS = 2000,  /* a program that takes less does nothing else, and ... */
    AWAY_NS = 200000, /* others that take less poll as well, it seems; if ... */
    TIGHT_STEPS = 16, /* ... that many times in a row */
    SLEEP_NS = 100000,
    DEAF_STEPS = 4, /* the same as TIGHT_STEPS if yields are deaf */
    TAKEN_NS = 300000, /* others had the processor for so long, ... */
    LATELY_NS = 20000000, /* ... within such a time, without a yield: yields are deaf for ... */
    DEAF_NS = 20000000,   /* ... so long; doubled if it shows again, up to ... */
    LONG_DEAF_NS = 640000000,
    SOON = 8 /* yields: news within them came because of them */
};

struct polling polling;

void polling_init(int ranks, int cpus)
{
    polling = (struct polling){.left = 1,
                               .never = !os_setting(OS_SETTING_YIELDS),
                               .pause_ns = ranks > cpus ? 0 : PAUSE_NS};
}

bool polling_yields(struct polling *p, uint64_t now_ns)
{
    uint64_t since_ns = now_ns - p->looked_ns;
    if (p->never) {
        p->left = INT32_MAX;
        return false;
    }
    p->left = p->pause_ns ? CLOCK_POLLS : 1;
    if (p->pause_ns) {
        if (!p->next_ns)
            p->next_ns = now_ns + p->pause_ns;
        return now_ns >= p->next_ns;
    }
    p->looked_ns = now_ns;
    if (since_ns > TIGHT_NS)
        p->tight = 0;
    return since_ns <= WORK_NS || now_ns >= p->next_ns;
}

/* None but this process ran: yield less. */
static void pause_longer(struct polling *p, uint64_t now_ns)
{
    p->tight = 0;
    if (p->pause_ns)
        p->pause_ns = p->pause_ns < LONG_PAUSE_NS ? 2 * p->pause_ns : LONG_PAUSE_NS;
    else if (++p->unhanded >= VAIN_YIELDS)
        p->pause_ns = PAUSE_NS;
    p->next_ns = now_ns + p->pause_ns;
}

/* A thread that has not slept had the processor all the time but for what others took. */
void polling_compare(struct polling *p, uint64_t now_ns, const struct polling_use *use)
{
    const struct polling_use *last = &p->use;
    uint64_t since_ns = now_ns - p->used_ns, ran_ns = use->ran_ns - last->ran_ns;
    bool is_taken = since_ns < LATELY_NS && use->slept == last->slept && use->preempted > last->preempted &&
                    since_ns > ran_ns + TAKEN_NS;
    p->use = *use;
    p->used_ns = now_ns;
    if (!is_taken)
        return;
    bool again = p->deaf_for_ns && now_ns < p->deaf_ns + p->deaf_for_ns;
    p->deaf_for_ns = !again ? DEAF_NS : p->deaf_for_ns < LONG_DEAF_NS ? 2 * p->deaf_for_ns : LONG_DEAF_NS;
    p->deaf_ns = now_ns + p->deaf_for_ns;
}

bool polling_yielded(struct polling *p, uint64_t now_ns, uint64_t took_ns)
{
    p->yields++;
    p->looked_ns = now_ns;
    if (now_ns < p->deaf_ns) {
        p->handed++; /* the sleep will */
        p->tight++;
        p->pause_ns = 0;
        p->next_ns = now_ns;
        p->left = 1;
        return p->tight > DEAF_STEPS;
    }
    if (took_ns <= WAIT_HANDED_NS) {
        pause_longer(p, now_ns);
    } else {
        p->handed++;
        p->unhanded = 0;
        p->tight = took_ns < AWAY_NS ? p->tight + 1 : 0;
        p->pause_ns = 0;
        p->next_ns = now_ns + took_ns / WORK_PART;
    }
    p->left = p->pause_ns ? CLOCK_POLLS : 1;
    return p->tight > TIGHT_STEPS;
}

void polling_found(void)
{
    if (polling.handed && polling.yields <= SOON)
        os_apart_shared();
    polling.yields = polling.handed = polling.tight = 0;
}

static bool is_never_done(void *arg)
{
    (void)arg;
    return false;
}

/* Until anything comes. Other threads of the process may have work that these polls do not know:
 * with such threads, polls do not sleep. */
static void sleep_shortly(void)
{
    static const struct mpid_condition anything = {.is_done = is_never_done};
    struct wait wait;
    wait_begin(&wait);
    sleep_briefly(&wait, &anything, NULL, SLEEP_NS);
    polling.looked_ns = os_now_ns();
}

static struct polling_use use_so_far(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage))
        return (struct polling_use){0};
    uint64_t ran_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                      (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return (struct polling_use){ran_us * 1000, usage.ru_nvcsw, usage.ru_nivcsw};
}

void polling_step(void)
{
    os_lock(&device.lock);
    uint64_t began_ns = os_now_ns();
    bool yields = !device.orphan && polling_yields(&polling, began_ns);
    os_unlock(&device.lock);
    if (!yields)
        return;
    sched_yield();
    atomic_fetch_add_explicit(&stats_waits.yields, 1, memory_order_relaxed);
    uint64_t now_ns = os_now_ns();
    bool vain = now_ns - began_ns <= WAIT_HANDED_NS;
    struct polling_use use = vain ? use_so_far() : (struct polling_use){0};
    os_lock(&device.lock);
    if (vain)
        polling_compare(&polling, now_ns, &use);
    bool sleeps = polling_yielded(&polling, now_ns, now_ns - began_ns);
    os_unlock(&device.lock);
    if (sleeps && !os_lock_enabled)
        sleep_shortly();
}
