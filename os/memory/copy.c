/* SPDX-License-Identifier: BSD-3-Clause */

/* A copy for another processor; see copy.h. */
#include "os/memory/copy.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "os/memory/cache.h"

enum {
    STEP = 1024,        /* bytes at once */
    AHEAD = 4096,       /* bytes whose lines are on their way before they are written */
    STRING_LEAST = 1024 /* bytes from which on one instruction for all is worth its start */
};

#if defined(__x86_64__)
/* Whether the processor copies strings by whole lines (ERMS). */
static bool has_strings(void)
{
    enum {
        UNKNOWN,
        NO,
        YES,
        LEAF = 7,
        BIT = 1 << 9
    };
    static _Atomic int known;
    int now = atomic_load_explicit(&known, memory_order_relaxed);
    if (__builtin_expect(now == UNKNOWN, 0)) {
        unsigned a, b = 0, c, d;
        now = __get_cpuid_count(LEAF, 0, &a, &b, &c, &d) && b & BIT ? YES : NO;
        atomic_store_explicit(&known, now, memory_order_relaxed);
    }
    return now == YES;
}

/* Returns whether it is done. */
static bool copy_string(void *to, const void *from, size_t len)
{
    if (len < STRING_LEAST || !has_strings())
        return false;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(len) : : "memory");
    return true;
}
#else
static bool copy_string(void *to, const void *from, size_t len)
{
    (void)to, (void)from, (void)len;
    return false;
}
#endif

static void own(char *to, size_t at, size_t end)
{
    if (at < end)
        os_cache_own(to + at, at + STEP < end ? STEP : end - at);
}

/* Each line would cost a round trip between the processors, one after the other, so they are
 * fetched ahead. */
static void copy_ahead(char *to, const char *from, size_t len)
{
    for (size_t at = 0; at < AHEAD; at += STEP)
        own(to, at, len);
    for (size_t at = 0; at < len; at += STEP) {
        own(to, at + AHEAD, len);
        memcpy(to + at, from + at, at + STEP < len ? STEP : len - at);
    }
}

void os_copy_over(void *to, const void *from, size_t len)
{
    if (!copy_string(to, from, len))
        copy_ahead(to, from, len);
}
