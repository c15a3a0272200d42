/* SPDX-License-Identifier: BSD-3-Clause */

/* The slow halves of the fair lock; see lock.h. */
#include "os/lock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/clock.h"

bool os_lock_enabled;

/* One waiter sleeps on one bit, so that a hand-over wakes only its heir (and
 * those 32 tickets later). */
static uint32_t bit_of(uint32_t ticket)
{
    return 1u << (ticket & 31u);
}

static void sleep_until_served(struct os_lock *lock, uint32_t ticket)
{
    atomic_fetch_add(&lock->asleep, 1);
    for (;;) {
        uint32_t serving = atomic_load(&lock->serving);
        if (serving == ticket)
            break;
        syscall(SYS_futex, &lock->serving, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, serving, NULL,
                NULL, bit_of(ticket));
    }
    atomic_fetch_sub(&lock->asleep, 1);
}

void os_lock_slow(struct os_lock *lock)
{
    uint32_t ticket = atomic_fetch_add(&lock->next, 1);
    for (int spins = 0; spins < 40; spins++) {
        uint32_t serving = atomic_load_explicit(&lock->serving, memory_order_acquire);
        if (serving == ticket)
            return;
        if (ticket - serving > 1)
            break;
        os_pause();
    }
    sleep_until_served(lock, ticket);
}

/* Sequentially consistent: either the heir sees serving before it sleeps, or
 * we see that it is asleep. */
void os_unlock_slow(struct os_lock *lock)
{
    uint32_t heir = atomic_load_explicit(&lock->serving, memory_order_relaxed) + 1;
    atomic_store(&lock->serving, heir);
    if (atomic_load(&lock->asleep))
        syscall(SYS_futex, &lock->serving, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, INT_MAX, NULL,
                NULL, bit_of(heir));
}
