/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A fair lock of two words: whoever asks first gets it first, so a thread that
 * drives progress in a loop cannot starve one that wants to send. Waiters spin
 * a little, then sleep on the word that their turn will change.
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
    _Atomic uint32_t next;    /* ticket of the next to come */
    _Atomic uint32_t serving; /* ticket of the holder; pairs with the waiters' loads */
    _Atomic uint32_t asleep;  /* waiters that sleep or are about to */
};

#define OS_LOCK_INIT {0, 0, 0}

extern bool os_lock_enabled;

void os_lock_slow(struct os_lock *lock);
void os_unlock_slow(struct os_lock *lock);

static inline void os_lock(struct os_lock *lock)
{
    if (__builtin_expect(os_lock_enabled, 0))
        os_lock_slow(lock);
}

static inline void os_unlock(struct os_lock *lock)
{
    if (__builtin_expect(os_lock_enabled, 0))
        os_unlock_slow(lock);
}

#endif
