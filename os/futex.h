/* SPDX-License-Identifier: BSD-3-Clause */

/* Sleeping on a 32-bit word in shared memory, and waking the sleepers. */
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

#include "os/valgrind.h"

/* os_futex_wait() with one of the kernel's operations. */
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

/* A word to wait on, and the value that it had when it was read. */
struct os_futex_seen {
    _Atomic uint32_t *word;
    uint32_t seen;
};

enum {
    OS_FUTEX_WORDS = 9
};

/* Sleep while each of count words (OS_FUTEX_WORDS at most) has its value, at most timeout_ns.
 * Returns as os_futex_wait() does. A kernel without this call (before Linux 5.16), or valgrind, which
 * does not know it, sleeps on the first word for a millisecond at most. */
static inline int os_futex_wait_any(const struct os_futex_seen *words, int count,
                                    uint64_t timeout_ns)
{
    enum {
        MS = 1000000
    };
#ifdef SYS_futex_waitv
    struct futex_waitv wait[OS_FUTEX_WORDS];
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    uint64_t end_ns = (uint64_t)until.tv_nsec + timeout_ns;
    until.tv_sec += (time_t)(end_ns / 1000000000u);
    until.tv_nsec = (long)(end_ns % 1000000000u);
    for (int i = 0; i < count; i++)
        wait[i] = (struct futex_waitv){
            .val = words[i].seen, .uaddr = (uintptr_t)words[i].word, .flags = FUTEX_32};
    if (os_is_under_valgrind())
        errno = ENOSYS;
    else if (syscall(SYS_futex_waitv, wait, count, 0, &until, CLOCK_MONOTONIC) >= 0 ||
             errno == EAGAIN)
        return 0;
    if (errno != ENOSYS)
        return -errno;
#endif
    return os_futex_wait(words->word, words->seen, timeout_ns < MS ? timeout_ns : MS);
}

static inline void os_futex_wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE, count, NULL, NULL, 0);
}

/* The same if all sleepers and wakers are threads of one process. */
static inline int os_futex_wait_own(_Atomic uint32_t *word, uint32_t seen, uint64_t timeout_ns)
{
    return os_futex_wait_by(FUTEX_WAIT_PRIVATE, word, seen, timeout_ns);
}

static inline void os_futex_wake_own(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

#endif
