/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A watch over calls into provider shm. The provider has a spin lock in each process's shared memory,
 * which all processes take. One that is killed while it holds such a lock leaves it locked, and the
 * others then wait in the provider for ever. So a thread looks now and then: where a call has
 * used the processor for long, and a process that was reached through the provider has ended, this
 * process says so and ends.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "channels/ofi/ofi.h"
#include "os/log.h"

enum { LOOKS = 8 }; /* in the time that a call may take */

struct ofi_guard {
    const struct ofi *ofi;
    uint64_t limit_ns;
    pthread_t thread;
    pthread_mutex_t lock; /* over the rest */
    pthread_cond_t changed;
    bool over;
    struct ofi_owner *owners; /* the processes that were reached */
    int count, room;
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t = {0, 0};
    (void)clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Sleep until it is over, or the time for another look has come. */
static void nap(struct ofi_guard *guard)
{
    uint64_t at_ns = clock_ns(CLOCK_MONOTONIC) + guard->limit_ns / LOOKS;
    struct timespec at = {(time_t)(at_ns / 1000000000u), (long)(at_ns % 1000000000u)};
    if (!guard->over)
        (void)pthread_cond_timedwait(&guard->changed, &guard->lock, &at);
}

/* A process that has ended and was reached, or NULL. */
static const struct ofi_owner *find_ended(const struct ofi_guard *guard)
{
    for (int i = 0; i < guard->count; i++)
        if (ofi_owner_has_ended(&guard->owners[i]))
            return &guard->owners[i];
    return NULL;
}

static void give_up(const struct ofi_guard *guard, const struct ofi_owner *owner)
{
    os_log(OS_LOG_ERROR,
           "channel ofi: this process ends, as it waits for a lock of libfabric's provider shm, and has "
           "done so for %llu ms. Process %u, which shares memory with it, has ended and may have "
           "held the lock. Vireo's own channel shm (VIREO_CHANNELS=shm,tcp,loopback) has no such lock.",
           (unsigned long long)(guard->limit_ns / 1000000u), owner->pid);
    _exit(1);
}

/* Ends calls that last too long. The time is the processor's too: a process may have been
 * stopped. */
static void *watch(void *arg)
{
    struct ofi_guard *guard = arg;
    uint64_t used_ns = 0;
    uint32_t before = 0;
    int looks = 0;
    pthread_mutex_lock(&guard->lock);
    while (!guard->over) {
        uint32_t calls = atomic_load_explicit(&guard->ofi->calls, memory_order_relaxed);
        uint64_t now_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        if (calls % 2 == 0 || calls != before) {
            before = calls;
            looks = 0;
            used_ns = now_ns;
        } else if (++looks >= LOOKS && now_ns - used_ns >= guard->limit_ns / LOOKS) {
            const struct ofi_owner *owner = find_ended(guard);
            if (owner)
                give_up(guard, owner);
        }
        nap(guard);
    }
    pthread_mutex_unlock(&guard->lock);
    return NULL;
}

int ofi_guard_open(struct ofi *ofi, uint64_t limit_ns)
{
    struct ofi_guard *guard = calloc(1, sizeof(*guard));
    pthread_condattr_t clock;
    sigset_t all, before;
    if (!guard)
        return -ENOMEM;
    guard->ofi = ofi;
    guard->limit_ns = limit_ns;
    pthread_mutex_init(&guard->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&guard->changed, &clock);
    pthread_condattr_destroy(&clock);
    sigfillset(&all); /* signals are the program's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&guard->thread, NULL, watch, guard);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc) {
        free(guard);
        return -rc;
    }
    ofi->guard = guard;
    return 0;
}

void ofi_guard_close(struct ofi *ofi)
{
    struct ofi_guard *guard = ofi->guard;
    if (!guard)
        return;
    pthread_mutex_lock(&guard->lock);
    guard->over = true;
    pthread_cond_signal(&guard->changed);
    pthread_mutex_unlock(&guard->lock);
    pthread_join(guard->thread, NULL);
    free(guard->owners);
    free(guard);
    ofi->guard = NULL;
}

/* One that finds no room is not watched. */
static void add(struct ofi_guard *guard, const struct ofi_owner *owner)
{
    for (int i = 0; i < guard->count; i++)
        if (guard->owners[i].pid == owner->pid && guard->owners[i].start == owner->start)
            return;
    if (guard->count == guard->room) {
        int room = guard->room ? 2 * guard->room : 16;
        struct ofi_owner *owners = realloc(guard->owners, (size_t)room * sizeof(*owners));
        if (!owners)
            return;
        guard->owners = owners;
        guard->room = room;
    }
    guard->owners[guard->count++] = *owner;
}

void ofi_guard_meet(struct ofi *ofi, const char *address)
{
    struct ofi_owner owner;
    if (!ofi->guard || !ofi_owner_read(address, &owner))
        return;
    pthread_mutex_lock(&ofi->guard->lock);
    add(ofi->guard, &owner);
    pthread_mutex_unlock(&ofi->guard->lock);
}
