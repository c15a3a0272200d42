/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A lock of two words for short sections. A thread that runs may take it before others that sleep,
 * for as long as none of them starves: with hundreds of threads, waking each in its turn costs more
 * than the locked work. A thread that has waited for STARVED_NS becomes the next owner: the holder
 * hands the lock over to it, so a thread that drives progress in a loop cannot keep away one that
 * wants to send. Waiters spin a little, then sleep. In a forked child all locks are free, even
 * those that a thread of the parent holds.
 *
 * os_lock_enabled is false while the process has promised to use one thread:
 * then the lock is a predicted branch.
 */
#ifndef OS_LOCK_H
#define OS_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct os_lock {
    _Atomic uint32_t state;     /* bits, see lock.c; 0: free. Taken with acquire, given up with release */
    _Atomic uint32_t handed_us; /* when a starved thread last got it; the clock's low bits. A hint, so relaxed */
};

#define OS_LOCK_INIT \
    {                \
        0, 0         \
    }

extern bool os_lock_enabled;

/* The same, whatever os_lock_enabled says: for data that threads may use before they ask MPI for
 * threads. */
void os_lock_slow(struct os_lock *lock);
bool os_trylock_slow(struct os_lock *lock);
void os_unlock_slow(struct os_lock *lock);

/* Tell a program's thread sanitizer, which does not see the library's atomics, that this thread's
 * next accesses come after all those under the lock so far. Without one: nothing. The caller does
 * not hold the lock. */
void os_lock_order_slow(struct os_lock *lock);

static inline void os_lock_order(struct os_lock *lock)
{
    if (__builtin_expect(os_lock_enabled, 0))
        os_lock_order_slow(lock);
}

static inline void os_lock(struct os_lock *lock)
{
    if (__builtin_expect(os_lock_enabled, 0))
        os_lock_slow(lock);
}

/* Take it if it is free. Returns whether it was. */
static inline bool os_trylock(struct os_lock *lock)
{
    return __builtin_expect(!os_lock_enabled, 1) || os_trylock_slow(lock);
}

static inline void os_unlock(struct os_lock *lock)
{
    if (__builtin_expect(os_lock_enabled, 0))
        os_unlock_slow(lock);
}

#endif
