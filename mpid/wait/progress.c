/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The one progress loop, and waiting.
 *
 * A wait spins while a core is ours, then yields, then sleeps (mpid/wait/sleep.h): on the word of the
 * channel that has one if no other channel has links, otherwise on the descriptors of all. A
 * sleeper looks up at least every 100 ms, for news that no channel brings (the end of a process).
 * If ranks outnumber cores it goes to sleep almost at once.
 */
#include "mpid/conn/connect.h"
#include "mpid/ground/device.h"
#include "mpid/peers/parted.h"
#include "mpid/tell/hang.h"
#include "mpid/wait/look.h"
#include "mpid/wait/polling.h"
#include "mpid/wait/sleep.h"
#include "mpid/wait/wait.h"
#include "os/clock.h"

/* ---- one turn ---- */

/*
 * Hot ports are looked at in every turn: those whose look is a load from memory, and
 * those that have lately brought something. The rest, whose look may be a system
 * call that other channels' messages should not wait for, are looked at now and then.
 */
enum { CARE_PERIOD = 16, IDLE_PERIOD = 1024, MIXED_PERIOD = 32, BNR_PERIOD = 64 };

/* How many turns a port that has brought nothing may be left alone; 0: it is hot. */
static uint32_t period_of(const struct port *port)
{
    const struct chan *chan = port->chan;
    if (port->in_memory)
        return 0;
    if (chan->fd < 0)
        return chan->links ? 0 : IDLE_PERIOD;
    for (int i = 0; i < device.port_count; i++)
        if (&device.ports[i] != port && device.ports[i].chan->links)
            return chan->links ? MIXED_PERIOD : IDLE_PERIOD;
    return 0;
}

/* Looks are polled like a port, while there are any. */
static struct port looks = {.progress = look_poll};

static void choose_hot(void)
{
    device.hot_count = 0;
    for (int i = 0; i < device.port_count; i++)
        if (!device.ports[i].period)
            device.hot[device.hot_count++] = &device.ports[i];
    if (look_first)
        device.hot[device.hot_count++] = &looks;
}

void progress_hear_looks(void)
{
    choose_hot();
    if (progress_sleepers())
        sleep_take_looks();
}

void progress_look(void)
{
    for (int i = 0; i < device.port_count; i++)
        device.ports[i].period = device.ports[i].wait = 0;
    choose_hot();
}

static inline int poll_port(struct port *port)
{
    int n = port->progress(port->chan);
    port->brought += (uint32_t)n;
    return n;
}

void progress_hear(void)
{
    (void)BNR_Progress(NULL);
    if (device.unjudged)
        lost_look();
    if (__builtin_expect(parted.waits, 0))
        parted.poll();
}

static __attribute__((noinline)) bool drain_busy(void)
{
    bool moved = false, blocks = false;
    struct vc *vc = device.busy;
    device.busy = NULL;
    device.drains = false;
    while (vc) {
        struct vc *next = vc->busy_next;
        vc->busy = false;
        moved |= send_drain(vc);
        if (vc_is_up(vc) && (vc->control_head || vc->send_head || vc->bulk)) {
            vc_stay_busy(vc); /* its channel tells when there is room, also while this process sleeps */
            blocks |= !vc->blocked;
            vc->blocked = true;
        } else {
            vc->blocked = false;
            (void)vc_free_unused(vc);
        }
        vc = next;
    }
    if (progress_sleepers())
        progress_wake_work(blocks);
    return moved;
}

/* The work that not every turn needs: the ports that are not hot, the process manager, VCs that
 * wait for a card. Returns how much happened. */
static __attribute__((noinline)) int care(void)
{
    int moved = 0;
    bool looked = false; /* after this turn has drained */
    device.turns += CARE_PERIOD;
    device.countdown = CARE_PERIOD;
    for (int i = 0; i < device.port_count; i++) {
        struct port *port = &device.ports[i];
        if (port->period) {
            port->wait -= port->wait < CARE_PERIOD ? port->wait : CARE_PERIOD;
            if (port->wait)
                continue;
            moved += poll_port(port);
            looked = true;
        }
        port->period = port->wait = port->brought ? 0 : period_of(port);
        port->brought = 0;
    }
    choose_hot();
    if (looked && device.busy)
        moved += drain_busy();
    if (device.turns % BNR_PERIOD == 0) {
        progress_hear();
        if (hang_is_asked())
            hang_poll();
    }
    if (device.binding)
        moved += connect_poll();
    if (__builtin_expect(sleep_shared, 0))
        sleep_look_shared();
    return moved;
}

bool progress_turn(void)
{
    int moved = 0;
    for (int i = 0; i < device.hot_count; i++)
        moved += poll_port(device.hot[i]);
    if (__builtin_expect(device.busy != NULL, 0))
        moved += drain_busy();
    if (__builtin_expect(--device.countdown <= 0, 0))
        moved += care();
    return moved > 0;
}

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

__attribute__((noinline, cold)) void progress_listen(void)
{
    progress_hear();
    if (hang_is_asked())
        hang_tell_poll();
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
    if (hang_is_asked())
        hang_tell(wait, tell, arg);
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

void mpid_wait_condition(const struct mpid_condition *condition, void *arg)
{
    struct wait wait;
    wait_begin(&wait);
    while (!condition->is_done(arg)) {
        bool moved = try_turn();
        if (tell_of_news() || moved)
            wait_again(&wait);
        else
            idle(&wait, condition, arg);
    }
    finish(&wait);
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
    mpid_tell_request(report, arg);
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
