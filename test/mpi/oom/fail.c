/* SPDX-License-Identifier: BSD-3-Clause */

/* A library to preload: once oom_arm() has said so, the allocation of that number fails. */
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

void oom_arm(long number);
long oom_disarm(void);

static atomic_long left = -1, made;

/* Fail the allocation after so many others; negative: none. Counting begins anew. */
void oom_arm(long number)
{
    atomic_store(&made, 0);
    atomic_store(&left, number);
}

/* No more. Returns how many there have been. */
long oom_disarm(void)
{
    atomic_store(&left, -1);
    return atomic_load(&made);
}

static int fails(void)
{
    if (atomic_load(&left) < 0)
        return 0;
    atomic_fetch_add(&made, 1);
    if (atomic_fetch_sub(&left, 1) > 0)
        return 0;
    errno = ENOMEM;
    return 1;
}

/* glibc's own names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t align, size_t size);

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return fails() ? NULL : __libc_memalign(align, size);
}

int posix_memalign(void **at, size_t align, size_t size)
{
    if (fails() || !(*at = __libc_memalign(align, size)))
        return ENOMEM;
    return 0;
}
