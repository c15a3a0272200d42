/* SPDX-License-Identifier: BSD-3-Clause */

/* The slow halves of the lock; see lock.h. */
#include "os/lock.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/clock.h"

bool os_lock_enabled;

/* The thread sanitizer of a program; NULL without one. The library itself is built without it, so
 * it sees no step of the lock, but it does see the library's memcpy() and free(). */
extern void __tsan_acquire(void *at) __attribute__((weak));
extern void __tsan_release(void *at) __attribute__((weak));

static void tell_taken(struct os_lock *lock)
{
    if (__tsan_acquire)
        __tsan_acquire(lock);
}

static void tell_freed(struct os_lock *lock)
{
    if (__tsan_release)
        __tsan_release(lock);
}

/* NEXT_WAITS and HANDED are set only beside HELD, and one of them at most. The bits above them
 * identify the process that holds the lock: they count how often it has been forked off. */
enum {
    HELD = 1,
    SLEEPERS = 2,   /* some sleep, or are about to */
    NEXT_WAITS = 4, /* the next owner waits to be given the lock */
    HANDED = 8,     /* the lock is the next owner's, which may not know yet */
    FORKED = 16     /* one generation */
};

static uint32_t generation; /* a multiple of FORKED, counted up in each forked child */

/* A thread of the parent that holds a lock does not exist in the child, and never releases the lock
 * there. */
static void forget_parent_locks(void)
{
    generation += FORKED;
}

__attribute__((constructor)) static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL,
                         forget_parent_locks); /* if memory is out: no lock is held yet */
}

static bool is_free(uint32_t state)
{
    return !state || (state ^ generation) >= FORKED;
}

/* Sleepers until the lock is free, and the sleeper until it is handed over. */
enum {
    ANY_SLEEPER = 1,
    NEXT_OWNER = 2
};

enum {
    SPINS = 40,
    STARVED_NS = 1000000,
    HANDED_PERIOD_US = 200 /* at most one hand-over in this time: even if all starve, running
                            * threads make progress */
};

static void sleep_on(struct os_lock *lock, uint32_t seen, uint32_t who)
{
    syscall(SYS_futex, &lock->state, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, seen, NULL, NULL, who);
}

static void wake(struct os_lock *lock, uint32_t who)
{
    syscall(SYS_futex, &lock->state, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, who);
}

/* Take it if it is free. */
static bool take(struct os_lock *lock, uint32_t how)
{
    uint32_t seen = 0;
    do {
        if (atomic_compare_exchange_strong_explicit(&lock->state, &seen, how | generation,
                                                    memory_order_acquire, memory_order_relaxed))
            return true;
    } while (is_free(seen));
    return false;
}

static bool spin(struct os_lock *lock, uint32_t how)
{
    for (int i = 0; i < SPINS; i++) {
        if (is_free(atomic_load_explicit(&lock->state, memory_order_relaxed)) && take(lock, how))
            return true;
        os_pause();
    }
    return false;
}

static uint32_t clock_us(void)
{
    return (uint32_t)(os_now_ns() / 1000u);
}

/* Whether a thread that has waited since began_ns may become the next owner. */
static bool is_starved(struct os_lock *lock, uint64_t began_ns)
{
    uint32_t handed = atomic_load_explicit(&lock->handed_us, memory_order_relaxed);
    return os_now_ns() - began_ns >= STARVED_NS && clock_us() - handed >= HANDED_PERIOD_US;
}

/* NEXT_WAITS is set for this thread: the lock is not freed before this thread has had it. */
static void wait_as_next_owner(struct os_lock *lock)
{
    uint32_t state = atomic_load_explicit(&lock->state, memory_order_relaxed);
    while (!(state & HANDED)) {
        sleep_on(lock, state, NEXT_OWNER);
        state = atomic_load_explicit(&lock->state, memory_order_relaxed);
    }
    atomic_fetch_and_explicit(&lock->state, ~(uint32_t)HANDED, memory_order_acquire);
    atomic_store_explicit(&lock->handed_us, clock_us(), memory_order_relaxed);
}

/* A thread that has slept cannot tell whether others still sleep. */
static void wait_for(struct os_lock *lock)
{
    uint64_t began_ns = os_now_ns();
    while (!spin(lock, HELD | SLEEPERS)) {
        uint32_t state = atomic_load_explicit(&lock->state, memory_order_relaxed);
        if (is_free(state))
            continue;
        bool claim = !(state & (NEXT_WAITS | HANDED)) && is_starved(lock, began_ns);
        uint32_t marked = state | SLEEPERS | (claim ? NEXT_WAITS : 0u);
        if (marked != state &&
            !atomic_compare_exchange_strong_explicit(&lock->state, &state, marked,
                                                     memory_order_relaxed, memory_order_relaxed))
            continue;
        if (claim) {
            wait_as_next_owner(lock);
            return;
        }
        sleep_on(lock, marked, ANY_SLEEPER);
    }
}

void os_lock_slow(struct os_lock *lock)
{
    if (!take(lock, HELD) && !spin(lock, HELD))
        wait_for(lock);
    tell_taken(lock);
}

bool os_trylock_slow(struct os_lock *lock)
{
    if (!is_free(atomic_load_explicit(&lock->state, memory_order_relaxed)) || !take(lock, HELD))
        return false;
    tell_taken(lock);
    return true;
}

void os_unlock_slow(struct os_lock *lock)
{
    uint32_t state = HELD | generation, left;
    tell_freed(lock);
    do {
        left = state & NEXT_WAITS ? (state & ~(uint32_t)NEXT_WAITS) | HANDED : 0;
    } while (!atomic_compare_exchange_weak_explicit(&lock->state, &state, left,
                                                    memory_order_release, memory_order_relaxed));
    if (left)
        wake(lock, NEXT_OWNER);
    else if (state & SLEEPERS)
        wake(lock, ANY_SLEEPER);
}

void os_lock_order_slow(struct os_lock *lock)
{
    if (!__tsan_acquire)
        return;
    os_lock_slow(lock);
    os_unlock_slow(lock);
}
