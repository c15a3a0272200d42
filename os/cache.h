/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What a processor can be told about the cache lines under len bytes at p, so that two
 * of them wait less for each other. Only the time changes: nothing is read or written,
 * nothing can fail, and a processor that knows an instruction not skips it. They are
 * instructions here, since a compiler drops calls that do nothing else.
 */
#ifndef OS_CACHE_H
#define OS_CACHE_H

#include <stddef.h>

enum {
    OS_CACHE_LINE = 64
};

/* Start to fetch them for writing: stores that follow later need not wait until other
 * processors have given them up. */
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

/* Start to fetch them for reading. */
static inline void os_cache_fetch(const void *p, size_t len)
{
    for (size_t at = 0; at < len; at += OS_CACHE_LINE)
        __builtin_prefetch((const char *)p + at);
}

/* Just written, and for others to read: move them to the cache that all share, where
 * reading takes half the time that it takes out of this processor's own. */
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
