/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An array that grows and never moves, so its elements can be read without a lock while it grows.
 * It is made of parts, each twice as long as the one before. Only one thread at a time may make it
 * grow: the owner's lock sees to that. New elements are zero.
 */
#ifndef OS_SHELF_H
#define OS_SHELF_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum {
    OS_SHELF_FIRST = 16, /* elements of the first part */
    OS_SHELF_PARTS = 28  /* so many parts hold more than INT32_MAX elements */
};

struct os_shelf {
    size_t size; /* bytes per element, set by the owner; the other fields are 0 at first */
    char *_Atomic parts[OS_SHELF_PARTS]; /* stored with release once zeroed; pairs with os_shelf_at() */
};

/* Make sure that an element exists. Returns 0 or -ENOMEM. */
int os_shelf_reach(struct os_shelf *shelf, uint32_t i);
/* Free all parts; no thread may read the array meanwhile. */
void os_shelf_fini(struct os_shelf *shelf);

static inline uint32_t os_shelf_part(uint32_t i)
{
    return 31u - (uint32_t)__builtin_clz(i / OS_SHELF_FIRST + 1);
}

/* An element, or NULL where the array has not grown so far. */
static inline void *os_shelf_at(const struct os_shelf *shelf, uint32_t i)
{
    uint32_t part = os_shelf_part(i);
    if (part >= OS_SHELF_PARTS)
        return 0;
    char *elements = atomic_load_explicit(&shelf->parts[part], memory_order_acquire);
    size_t before = (((size_t)1 << part) - 1) * OS_SHELF_FIRST;
    return elements ? elements + (i - before) * shelf->size : 0;
}

#endif
