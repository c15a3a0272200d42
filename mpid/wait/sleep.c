/* SPDX-License-Identifier: BSD-3-Clause */

/* Threads that sleep, and their wake-ups; see sleep.h. All under the device's lock. */
#include "mpid/wait/sleep.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "mpid/ground/device.h"
#include "mpid/wait/look.h"
#include "mpid/wait/progress.h"
#include "mpid/wait/wait.h"
#include "mpid/wait/wake.h"
#include "mpid/wait/watched.h"
#include "os/clock.h"
#include "os/cpu/cpus.h"
#include "os/futex.h"
#include "os/log.h"

enum {
    LOOK_UP_NS = 100000000,
    LOOK_UP_SOON_NS = 1000000,
    DOZE_NS = 100000
};
/* ---- the channels ---- */

/* Words are enough where no channel that has a descriptor instead has links, or is how processes of other
 * hosts call. */
static enum chan_sleep choose_sleep(void)
{
    bool has_others = device.foreign_count || device.world.size > device.world.local_ranks;
    struct os_futex_seen words[BIND_CHANNELS];
    if (!wake_words(words) || watched_fd() >= 0)
        return CHAN_SLEEP_FD;
    for (int i = 0; i < device.port_count; i++)
        if (device.ports[i].chan->fd >= 0 && !device.ports[i].chan->word &&
            (device.ports[i].chan->links || has_others))
            return CHAN_SLEEP_FD;
    return CHAN_SLEEP_WORD;
}

/* A sleep on the word is no concern of a channel that has a descriptor instead. */
static bool arm_all(enum chan_sleep how)
{
    bool ready = true;
    for (int i = 0; i < device.port_count; i++) {
        struct chan *chan = device.ports[i].chan;
        bool apart = how == CHAN_SLEEP_WORD && !chan->word && chan->fd >= 0;
        if (!apart && chan->ops->arm(chan, how))
            ready = false;
    }
    return ready;
}

/* The longest sleep, once all channels are armed: some news comes without a signal. */
static uint64_t look_up_ns(enum chan_sleep how)
{
    bool deaf = how == CHAN_SLEEP_FD && wait_is_deaf();
    for (int i = 0; i < device.port_count && how == CHAN_SLEEP_FD; i++)
        deaf |= device.ports[i].chan->deaf;
    if (deaf)
        return LOOK_UP_SOON_NS;
    bool hears = how == CHAN_SLEEP_WORD && device.news; /* news of peers' keys */
    uint64_t now_ns = os_now_ns(), next_ns = now_ns + LOOK_UP_NS;
    next_ns = progress_above->until_ns(now_ns, hears, next_ns);
    return next_ns < now_ns + LOOK_UP_SOON_NS ? LOOK_UP_SOON_NS : next_ns - now_ns;
}

static void disarm_all(void)
{
    for (int i = 0; i < device.port_count; i++)
        device.ports[i].chan->ops->disarm(device.ports[i].chan);
    progress_look();
}

static nfds_t gather_fds(struct pollfd fds[BIND_CHANNELS + 2])
{
    nfds_t count = 0;
    for (int i = 0; i < device.port_count; i++)
        if (device.ports[i].chan->fd >= 0)
            fds[count++] = (struct pollfd){.fd = device.ports[i].chan->fd, .events = POLLIN};
    if (wait_self_fd() >= 0)
        fds[count++] = (struct pollfd){.fd = wait_self_fd(), .events = POLLIN};
    if (watched_fd() >= 0)
        fds[count++] = (struct pollfd){.fd = watched_fd(), .events = POLLIN};
    return count;
}

void mpid_watch_fd(int fd)
{
    os_lock(&device.lock);
    watched_add(fd);
    wake_all(); /* those that sleep without it */
    os_unlock(&device.lock);
}

void mpid_unwatch_fd(int fd)
{
    os_lock(&device.lock);
    watched_remove(fd);
    os_unlock(&device.lock);
}

/* ---- sleeping ---- */

static uint32_t turns_now(void)
{
    return device.turns - (uint32_t)device.countdown;
}

static _Noreturn void end_orphan(void)
{
    os_fail(0,
            "a child process of the one that called MPI_Init waits in MPI, where it has no part");
    _exit(1);
}

/* How the one on the channels does it. */
struct sleep_plan {
    enum chan_sleep how;
    struct os_futex_seen words[BIND_CHANNELS + 1];
    int word_count;
    uint64_t timeout_ns;
    struct pollfd fds[BIND_CHANNELS + 2];
    nfds_t fd_count;
};

/* Returns whether nothing has come that is to be looked at first. */
static bool prepare_sleep(struct sleeper *me, struct sleep_plan *plan)
{
    plan->how = choose_sleep();
    plan->word_count = wake_words(plan->words);
    if (plan->how == CHAN_SLEEP_WORD && device.news && (device.binding || device.finalizing))
        plan->words[plan->word_count++] =
            (struct os_futex_seen){(_Atomic uint32_t *)device.news, device_news()};
    bool ready = arm_all(plan->how) && !wake_has_turn_work();
    plan->fd_count = gather_fds(plan->fds);
    wake_list.how = plan->how;
    plan->timeout_ns = look_up_ns(plan->how);
    if (plan->timeout_ns > me->limit_ns)
        plan->timeout_ns = me->limit_ns;
    wake_list.until_ns = os_now_ns() + plan->timeout_ns;
    return ready;
}

static void sleep_by_plan(struct sleep_plan *plan)
{
    struct timespec limit = {(time_t)(plan->timeout_ns / 1000000000u),
                             (long)(plan->timeout_ns % 1000000000u)};
    if (plan->how == CHAN_SLEEP_FD)
        (void)ppoll(plan->fds, plan->fd_count, &limit, NULL);
    else if (plan->word_count == 1)
        (void)os_futex_wait(plan->words->word, plan->words->seen, plan->timeout_ns);
    else
        (void)os_futex_wait_any(plan->words, plan->word_count, plan->timeout_ns);
}

static void end_sleep(struct sleeper *me, const struct sleep_plan *plan)
{
    if (plan->how == CHAN_SLEEP_FD)
        wait_self_drain();
    me->on_channels = false;
    wake_list.on_channels = NULL;
    disarm_all();
    wake_leave(me);
    if (plan->how == CHAN_SLEEP_FD && watched_take())
        wake_all(); /* the news is for one of those */
}

static void count_sleep(uint64_t began_ns)
{
    atomic_fetch_add_explicit(&stats_waits.sleeps, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&stats_waits.sleep_ns, os_now_ns() - began_ns, memory_order_relaxed);
}

/* Take the looks, and tell for what this process is to be rung, which is done unlocked. A thread that
 * wakes this one meanwhile unlinks it. */
static struct mpid_look *take_looks(void)
{
    struct mpid_look *looks = look_take();
    os_unlock(&device.lock);
    look_sleeps(looks, true);
    os_lock(&device.lock);
    return looks;
}

/* A thread that completes a request, or brings any other awaited news, does so locked and looks for
 * sleepers. So news after the unlocked is_done() wakes this thread. */
static void sleep_on_channels(struct sleeper *me, bool (*is_done)(void *arg), void *arg)
{
    struct sleep_plan plan;
    me->on_channels = true;
    wake_list.on_channels = me;
    struct mpid_look *looks = look_first ? take_looks() : NULL;
    bool ready = prepare_sleep(me, &plan) && me->linked;
    uint32_t turns = turns_now();
    if (wake_shared)
        wake_look_shared();
    os_unlock(&device.lock);
    ready = ready && !is_done(arg) && look_all_wait(looks);
    if (ready) {
        uint64_t began_ns = os_now_ns();
        sleep_by_plan(&plan);
        count_sleep(began_ns);
    }
    look_sleeps(looks, false);
    os_lock(&device.lock);
    look_give_back(looks);
    end_sleep(me, &plan);
    if (wake_shared)
        wake_look_shared();
    me->wait->others = wake_list.poller == me->wait && turns_now() != turns;
    me->wait->spare = me->wait->others || wake_list.first;
    if (ready)
        progress_hear();
    os_unlock(&device.lock);
}

static void sleep_apart(struct sleeper *me, uint64_t timeout_ns)
{
    uint64_t began_ns = os_now_ns();
    (void)os_futex_wait_own(&me->woken, 0, timeout_ns);
    count_sleep(began_ns);
}

/* For as long as others look at the channels. */
static void doze(struct sleeper *me, bool (*is_done)(void *arg), void *arg)
{
    uint32_t turns;
    bool done;
    wake_list.dozing = true;
    do {
        turns = turns_now();
        os_unlock(&device.lock);
        done = is_done(arg);
        if (!done)
            sleep_apart(me, DOZE_NS);
        os_lock(&device.lock);
    } while (!done && me->linked && turns_now() != turns);
    wake_list.dozing = false;
    me->wait->others = turns_now() != turns;
    me->wait->spare = true;
    wake_leave(me);
    os_unlock(&device.lock);
}

/* This thread has looked at the channels while another slept on them: arm the channels for the next
 * news. Returns whether nothing has come that must be looked at first. */
static bool rearm(void)
{
    if (!wake_list.on_channels)
        return true;
    bool ready = arm_all(wake_list.how) && !wake_has_turn_work();
    uint64_t next_ns = os_now_ns() + look_up_ns(wake_list.how);
    if (choose_sleep() != wake_list.how || next_ns + LOOK_UP_SOON_NS < wake_list.until_ns)
        wake_on_channels();
    return ready;
}

static void sleep_beside(struct sleeper *me, bool (*is_done)(void *arg), void *arg)
{
    bool ready = rearm();
    os_unlock(&device.lock);
    if (me->wait->shared)
        os_heavy_fence(); /* later stores see that this process wants a ring */
    if (ready && !is_done(arg))
        sleep_apart(me, me->limit_ns);
    if (atomic_load(&me->woken))
        return; /* the waker has unlinked it */
    os_lock(&device.lock);
    wake_leave(me);
    os_unlock(&device.lock);
}

_Atomic uint32_t sleep_awake; /* a hint, so relaxed */

void sleep_once(struct wait *wait, const struct mpid_condition *condition, void *arg)
{
    sleep_briefly(wait, condition, arg, LOOK_UP_NS);
}

void sleep_briefly(struct wait *wait, const struct mpid_condition *condition, void *arg,
                   uint64_t limit_ns)
{
    bool (*is_done)(void *arg) = condition->is_done;
    struct sleeper me = {.wait = wait, .is_done = is_done, .arg = arg, .limit_ns = limit_ns};
    if (device.orphan)
        end_orphan();
    atomic_fetch_sub_explicit(&sleep_awake, wait->counted, memory_order_relaxed);
    os_lock(&device.lock);
    wake_enter(&me, condition, arg);
    if (!wake_list.poller && wait->counted)
        wake_list.poller = wait;
    if (wake_list.poller == wait && wait->others) {
        doze(&me, is_done, arg);
    } else if (!wake_list.on_channels && (wake_list.poller == wait || wake_list.dozing || !wait->counted)) {
        sleep_on_channels(&me, is_done, arg);
    } else {
        if (wake_list.poller == wait)
            wake_list.poller = wake_list.on_channels->wait;
        sleep_beside(&me, is_done, arg);
    }
    atomic_fetch_add_explicit(&sleep_awake, wait->counted, memory_order_relaxed);
}

void sleep_leave(struct wait *wait)
{
    atomic_fetch_sub_explicit(&sleep_awake, wait->counted, memory_order_relaxed);
    if (!wait->slept)
        return;
    os_lock(&device.lock);
    if (wake_list.poller == wait) {
        struct sleeper *next = wake_list.on_channels ? wake_list.on_channels : wake_list.first;
        wake_list.poller = next ? next->wait : NULL;
        if (next && next != wake_list.on_channels)
            wake_one(next);
    }
    os_unlock(&device.lock);
}

/* In a process that was forked, whose only thread is none of them. */
void sleep_forget(void)
{
    memset(&wake_list, 0, sizeof(wake_list));
    watched_forget();
    wake_shared = 0;
    look_first = NULL;
    atomic_store_explicit(&device.sleepers, 0, memory_order_relaxed);
}
