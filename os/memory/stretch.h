/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One stretch of address space for all objects that programs have handles to. So any address can be
 * checked, without touching it, for whether such an object may lie there: memory from the stretch
 * stays mapped as long as the process lives. Where no stretch is available, or it is used up,
 * memory comes from elsewhere, and the addresses between the lowest and the highest of that memory
 * count as known. Any thread, any time.
 */
#ifndef OS_STRETCH_H
#define OS_STRETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern struct os_stretch {
    uintptr_t base;
    size_t used;         /* bytes that may be touched */
    uintptr_t low, high; /* of memory from elsewhere */
} os_stretch;

/* Memory, its contents undefined; NULL: there is none. */
void *os_stretch_get(size_t align, size_t size);
/* Give it back, with the size that it was got with. */
void os_stretch_put(void *memory, size_t size);

bool os_stretch_may_have(const void *address);

static inline size_t os_stretch_used(void)
{
    return __atomic_load_n(&os_stretch.used, __ATOMIC_RELAXED);
}

/* Whether an object that starts there may be touched. */
static inline bool os_stretch_has(const void *address)
{
    return __builtin_expect((uintptr_t)address - os_stretch.base < os_stretch_used(), 1) ||
           os_stretch_may_have(address);
}

#endif
