/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Waiting, and asking whether something has come.
 *
 * A wait spins while a core is ours, then yields, then sleeps (mpid/wait/sleep.h): on the word of the
 * channel that has one if no other channel has links, otherwise on the descriptors of all. A
 * sleeper looks up at least every 100 ms, for news that no channel brings (the end of a process).
 * If ranks outnumber cores it goes to sleep almost at once.
 */
#include "mpid/ground/device.h"
#include "mpid/wait/deliver.h"
#include "mpid/wait/polling.h"
#include "mpid/wait/progress.h"
#include "mpid/wait/sleep.h"
#include "mpid/wait/wait.h"

/* Call, unlocked, the functions that wait for the news of progress. Returns whether they completed
 * a request. */
static inline bool tell_of_news(void)
{
    stats_deliver();
    return deliver_completions();
}

/* The holder of the lock looks at the channels, or soon lets others do it: to queue up for that
 * would cost each of many threads a sleep. */
static inline bool try_turn(void)
{
    if (!os_trylock(&device.lock))
        return false;
    bool moved = progress_turn();
    os_unlock(&device.lock);
    return moved;
}

bool mpid_progress(void)
{
    os_lock(&device.lock);
    bool moved = progress_turn();
    progress_looked();
    os_unlock(&device.lock);
    return tell_of_news() || moved;
}

bool mpid_poll(void)
{
    os_lock(&device.lock);
    bool moved = progress_turn();
    progress_looked();
    bool is_step = polling_looked(moved);
    os_unlock(&device.lock);
    bool told = tell_of_news();
    if (__builtin_expect(is_step && !told, 0))
        polling_step();
    return told || moved;
}

/* ---- waiting ---- */

/* Nothing happened: spend the time until the next turn. Returns whether by sleeping, which is
 * the caller's to do. */
static inline bool pass_time(struct wait *wait, void *arg, mpid_tell_fn tell)
{
    if (device_is_asked())
        progress_above->say_waiting(wait, tell, arg);
    if (os_lock_enabled)
        sleep_count(wait);
    switch (wait_step(wait)) {
    case WAIT_SPIN: os_pause(); break;
    case WAIT_YIELD: wait_yield(wait); break;
    case WAIT_SLEEP: wait_sleeps(wait); return true;
    }
    return false;
}

static void idle(struct wait *wait, const struct mpid_condition *condition, void *arg)
{
    if (pass_time(wait, arg, condition->tell))
        sleep_once(wait, condition, arg);
}

static void idle_shared(struct wait *wait, const struct mpid_shared_wait *how, void *arg)
{
    const struct mpid_condition condition = {.is_done = how->is_done};
    if (!pass_time(wait, arg, how->tell))
        return;
    how->sleeps(arg, true);
    sleep_once(wait, &condition, arg);
    how->sleeps(arg, false);
}

static inline void finish(struct wait *wait)
{
    os_lock_order(&device.lock);
    wait_end(wait);
    if (__builtin_expect(wait->counted, 0))
        sleep_leave(wait);
}

/* It has begun. */
static void wait_for(struct wait *wait, const struct mpid_condition *condition, void *arg)
{
    while (!condition->is_done(arg)) {
        bool moved = try_turn();
        if (tell_of_news() || moved)
            wait_again(wait);
        else
            idle(wait, condition, arg);
    }
    finish(wait);
}

void mpid_wait_condition(const struct mpid_condition *condition, void *arg)
{
    struct wait wait;
    wait_begin(&wait);
    wait_for(&wait, condition, arg);
}

void mpid_wait_aside(const struct mpid_condition *condition, void *arg)
{
    struct wait wait;
    wait_begin(&wait);
    wait.aside = true;
    wait_for(&wait, condition, arg);
}

void mpid_wait_shared(const struct mpid_shared_wait *how, void *arg)
{
    struct wait wait;
    wait_begin(&wait);
    wait.shared = true;
    while (!how->is_done(arg)) {
        bool moved = try_turn();
        if (tell_of_news() || moved)
            wait_again(&wait);
        else
            idle_shared(&wait, how, arg);
    }
    finish(&wait);
}

static bool request_is_done(void *arg)
{
    return mpid_is_complete(arg);
}

static void watch_request(void *arg, struct sleeper *sleeper)
{
    mpid_watch_request(sleeper, arg);
}

static void tell_request(void *arg, struct mpid_wait_report *report)
{
    progress_above->say_request(arg, report);
}

void mpid_wait(struct mpid_request *request)
{
    static const struct mpid_condition condition = {request_is_done, watch_request, tell_request};
    struct wait wait;
    wait_begin(&wait);
    while (!mpid_is_complete(request)) {
        bool moved = try_turn();
        if (__builtin_expect(tell_of_news() || moved, 0))
            wait_again(&wait);
        else
            idle(&wait, &condition, request);
    }
    finish(&wait);
}

void mpid_order_completion(void)
{
    os_lock_order(&device.lock);
}
