/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Hints to the processor about the cache lines under len bytes at p, so that two processors wait
 * less for each other. They change only the time: they read nothing, write nothing and cannot fail,
 * and a processor that does not know one skips it. They are written as instructions, since a
 * compiler drops calls without an effect.
 */
#ifndef OS_CACHE_H
#define OS_CACHE_H

#include <stddef.h>

enum {
    OS_CACHE_LINE = 64
};

/* Start to fetch the lines for writing: later stores need not wait until other processors have
 * given them up. */
static inline void os_cache_own(void *p, size_t len)
{
    for (size_t at = 0; at < len; at += OS_CACHE_LINE) {
#if defined(__x86_64__)
        __asm__ volatile("prefetchw %0" ::"m"(((char *)p)[at]));
#elif defined(__aarch64__)
        __asm__ volatile("prfm pstl1keep, %0" ::"Q"(((char *)p)[at]));
#else
        __builtin_prefetch((char *)p + at, 1);
#endif
    }
}

/* Start to fetch the lines for reading. */
static inline void os_cache_fetch(const void *p, size_t len)
{
    for (size_t at = 0; at < len; at += OS_CACHE_LINE)
        __builtin_prefetch((const char *)p + at);
}

/* Move lines that were just written to the shared cache. Other processors read them there in half
 * the time that reading from this processor's own cache takes. */
static inline void os_cache_give(const void *p, size_t len)
{
#if defined(__x86_64__)
    for (size_t at = 0; at < len; at += OS_CACHE_LINE)
        __asm__ volatile("cldemote %0" ::"m"(((const char *)p)[at]));
#else
    (void)p, (void)len;
#endif
}

#endif
