/* SPDX-License-Identifier: BSD-3-Clause */

/* Waking threads that sleep; see wake.h. */
#include "mpid/wait/wake.h"

#include "mpid/ground/device.h"
#include "mpid/wait/wait.h"
#include "os/futex.h"

struct sleepers wake_list;

/* ---- watched requests ---- */

static struct watch **bucket_of(const struct mpid_request *request)
{
    return &wake_list.buckets[((uintptr_t)request >> 6) * 0x9e3779b97f4a7c15u >> 58];
}
_Static_assert(BUCKETS == 1 << (64 - 58), "the bits that are left");

void mpid_watch_any(struct sleeper *sleeper)
{
    sleeper->any = true;
}

void mpid_watch_request(struct sleeper *sleeper, const struct mpid_request *request)
{
    if (!request || (sleeper->any && sleeper->watch_count == WATCHES)) {
        sleeper->anything = true;
        return;
    }
    if (mpid_is_complete(request) || (sleeper->watch_count && !sleeper->any))
        return; /* of several that must all come, any is the one to wait for */
    struct watch *watch = &sleeper->watches[sleeper->watch_count++], **bucket = bucket_of(request);
    *watch = (struct watch){*bucket, bucket, request, sleeper};
    if (*bucket)
        (*bucket)->link = &watch->next;
    *bucket = watch;
}

/* ---- sleepers ---- */

int wake_shared;

void wake_enter(struct sleeper *sleeper, const struct mpid_condition *condition, void *arg)
{
    if (os_lock_enabled && condition->watch)
        condition->watch(arg, sleeper);
    sleeper->anything |= !sleeper->watch_count;
    wake_list.anything += sleeper->anything;
    wake_shared += sleeper->wait->shared;
    sleeper->prev = wake_list.last;
    *(wake_list.last ? &wake_list.last->next : &wake_list.first) = sleeper;
    wake_list.last = sleeper;
    sleeper->linked = true;
    atomic_fetch_add_explicit(&device.sleepers, 1, memory_order_relaxed);
}

void wake_leave(struct sleeper *sleeper)
{
    if (!sleeper->linked)
        return;
    for (int i = 0; i < sleeper->watch_count; i++) {
        struct watch *watch = &sleeper->watches[i];
        *watch->link = watch->next;
        if (watch->next)
            watch->next->link = watch->link;
    }
    *(sleeper->prev ? &sleeper->prev->next : &wake_list.first) = sleeper->next;
    *(sleeper->next ? &sleeper->next->prev : &wake_list.last) = sleeper->prev;
    wake_list.anything -= sleeper->anything;
    wake_shared -= sleeper->wait->shared;
    sleeper->linked = false;
    atomic_fetch_sub_explicit(&device.sleepers, 1, memory_order_relaxed);
}

/* The words of all channels that have one. Returns how many. */
int wake_words(struct os_futex_seen words[BIND_CHANNELS])
{
    int count = 0;
    for (int i = 0; i < device.port_count; i++) {
        _Atomic uint32_t *word = device.ports[i].chan->word;
        if (word)
            words[count++] = (struct os_futex_seen){word, atomic_load(word)};
    }
    return count;
}
_Static_assert((int)BIND_CHANNELS < (int)OS_FUTEX_WORDS, "one sleep waits on all, and for news");

/* ---- waking ---- */

/* Wake the one on the channels. */
static void ring(void)
{
    struct os_futex_seen words[BIND_CHANNELS];
    if (wake_list.how == CHAN_SLEEP_FD) {
        wait_self_ring();
    } else if (wake_words(words)) {
        atomic_fetch_add(words->word, 1);
        os_futex_wake(words->word, 1);
    }
}

void wake_one(struct sleeper *sleeper)
{
    device.stats.wakes++;
    wake_leave(sleeper);
    if (sleeper->on_channels) {
        ring();
        return;
    }
    _Atomic uint32_t *word = &sleeper->woken; /* from here on it may be gone */
    atomic_store(word, 1);
    os_futex_wake_own(word, 1);
}

void wake_all(void)
{
    while (wake_list.first)
        wake_one(wake_list.first);
}

static void wake_for_anything(void)
{
    struct sleeper *next;
    for (struct sleeper *sleeper = wake_list.first; sleeper && wake_list.anything; sleeper = next) {
        next = sleeper->next;
        if (sleeper->anything)
            wake_one(sleeper);
    }
}

/* A process that has stored something rings the channels of this one. The thread on the channels
 * hears it, or they are looked at anyway. */
void wake_look_shared(void)
{
    struct sleeper *next;
    for (struct sleeper *sleeper = wake_list.first; sleeper; sleeper = next) {
        next = sleeper->next;
        if (sleeper->wait->shared && !sleeper->on_channels && sleeper->is_done(sleeper->arg))
            wake_one(sleeper);
    }
}

/* Wake the one on the channels, unless it has been. */
void wake_on_channels(void)
{
    if (wake_list.on_channels && wake_list.on_channels->linked)
        wake_one(wake_list.on_channels);
}

/* Whether the next turn has something to do that is here already. */
bool wake_has_turn_work(void)
{
    return device.drains || (device.binding && device_news() != device.news_seen) ||
           atomic_load_explicit(&device_delivers, memory_order_relaxed);
}

/* Whether there is work that no channel will announce. */
static bool has_work(void)
{
    bool has = wake_has_turn_work();
    for (int i = 0; i < device.port_count && !has; i++) {
        struct chan *chan = device.ports[i].chan;
        has = chan->fd < 0 && !chan->word && chan->ops->arm(chan, CHAN_SLEEP_WORD);
    }
    return has;
}

void wake_work(bool is_blocked)
{
    if (is_blocked || wake_has_turn_work())
        wake_on_channels();
}

void wake_some(void)
{
    wake_for_anything();
    if (has_work())
        wake_on_channels();
}

void wake_for(const struct mpid_request *request)
{
    struct watch *watch = *bucket_of(request);
    while (watch) {
        if (watch->request == request) {
            wake_one(watch->sleeper); /* which may have several in this list */
            watch = *bucket_of(request);
        } else {
            watch = watch->next;
        }
    }
    wake_for_anything();
}

void mpid_wake(void)
{
    os_lock(&device.lock);
    wake_news();
    os_unlock(&device.lock);
}

