/* SPDX-License-Identifier: BSD-3-Clause */

/* The slow halves of the lock; see lock.h. */
#include "os/lock.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/clock.h"

bool os_lock_enabled;

/* HEIR and HANDED are set only beside HELD, and one of them at most. The bits above them say which
 * process it is that holds the lock: how often it has been forked off. */
enum {
    HELD = 1,
    SLEEPERS = 2, /* some sleep, or are about to */
    HEIR = 4,     /* one waits to be handed the lock */
    HANDED = 8,   /* it is the heir's, who may not know yet */
    FORKED = 16   /* one generation */
};

static uint32_t generation; /* a multiple of FORKED, counted up in each forked child */

/* A thread of the parent's that holds a lock is not in the child, and gives it back nowhere. */
static void leave_to_parent(void)
{
    generation += FORKED;
}

__attribute__((constructor)) static void watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, leave_to_parent); /* without memory no lock is held yet */
}

static bool is_free(uint32_t state)
{
    return !state || (state ^ generation) >= FORKED;
}

/* Who sleeps for the lock to be free, and who for it to be handed over. */
enum { ANYBODY = 1, THE_HEIR = 2 };

enum {
    SPINS = 40,
    STARVED_NS = 1000000,
    HANDED_PERIOD_US = 200 /* so often at most: where all starve, running threads get on */
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

/* Whether a thread that waits since began_ns may become the heir. */
static bool is_starved(struct os_lock *lock, uint64_t began_ns)
{
    uint32_t handed = atomic_load_explicit(&lock->handed_us, memory_order_relaxed);
    return os_now_ns() - began_ns >= STARVED_NS && clock_us() - handed >= HANDED_PERIOD_US;
}

/* HEIR stands for this thread: the lock will not be free before it has had it. */
static void inherit(struct os_lock *lock)
{
    uint32_t state = atomic_load_explicit(&lock->state, memory_order_relaxed);
    while (!(state & HANDED)) {
        sleep_on(lock, state, THE_HEIR);
        state = atomic_load_explicit(&lock->state, memory_order_relaxed);
    }
    atomic_fetch_and_explicit(&lock->state, ~(uint32_t)HANDED, memory_order_acquire);
    atomic_store_explicit(&lock->handed_us, clock_us(), memory_order_relaxed);
}

/* Whoever has slept cannot tell whether others still do. */
static void wait_for(struct os_lock *lock)
{
    uint64_t began_ns = os_now_ns();
    while (!spin(lock, HELD | SLEEPERS)) {
        uint32_t state = atomic_load_explicit(&lock->state, memory_order_relaxed);
        if (is_free(state))
            continue;
        bool claim = !(state & (HEIR | HANDED)) && is_starved(lock, began_ns);
        uint32_t marked = state | SLEEPERS | (claim ? HEIR : 0u);
        if (marked != state &&
            !atomic_compare_exchange_strong_explicit(&lock->state, &state, marked,
                                                     memory_order_relaxed, memory_order_relaxed))
            continue;
        if (claim) {
            inherit(lock);
            return;
        }
        sleep_on(lock, marked, ANYBODY);
    }
}

void os_lock_slow(struct os_lock *lock)
{
    if (!take(lock, HELD) && !spin(lock, HELD))
        wait_for(lock);
}

bool os_trylock_slow(struct os_lock *lock)
{
    return is_free(atomic_load_explicit(&lock->state, memory_order_relaxed)) && take(lock, HELD);
}

void os_unlock_slow(struct os_lock *lock)
{
    uint32_t state = HELD | generation, left;
    do {
        left = state & HEIR ? (state & ~(uint32_t)HEIR) | HANDED : 0;
    } while (!atomic_compare_exchange_weak_explicit(&lock->state, &state, left,
                                                    memory_order_release, memory_order_relaxed));
    if (left)
        wake(lock, THE_HEIR);
    else if (state & SLEEPERS)
        wake(lock, ANYBODY);
}
