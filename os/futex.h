/* SPDX-License-Identifier: BSD-3-Clause */

/* Sleep on a 32-bit word in shared memory, and wake who sleeps there. */
#ifndef OS_FUTEX_H
#define OS_FUTEX_H

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* os_futex_wait() by one of the kernel's operations. */
static inline int os_futex_wait_by(int operation, _Atomic uint32_t *word, uint32_t seen,
                                   uint64_t timeout_ns)
{
    struct timespec t = {(time_t)(timeout_ns / 1000000000u), (long)(timeout_ns % 1000000000u)};
    long rc = syscall(SYS_futex, word, operation, seen, timeout_ns ? &t : NULL, NULL, 0);
    return rc && errno != EAGAIN ? -errno : 0;
}

/* Sleep while *word == seen, at most timeout_ns (0: for ever). Returns 0 when
 * woken or when *word differs, -ETIMEDOUT, or -EINTR. */
static inline int os_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
    return os_futex_wait_by(FUTEX_WAIT, word, seen, timeout_ns);
}

static inline void os_futex_wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

/* The same where all who sleep and wake are threads of one process. */
static inline int os_futex_wait_own(_Atomic uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
    return os_futex_wait_by(FUTEX_WAIT_PRIVATE, word, seen, timeout_ns);
}

static inline void os_futex_wake_own(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

#endif
