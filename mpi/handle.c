/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Numbers for handles. Each address that has a number keeps it as long as the process lives:
 * objects come and go at few addresses, so the table stays small, and a number whose object was
 * freed leads to the same bad handle as the pointer does.
 *
 * Nothing is ever removed, so it is read without a lock.
 */
#include "mpi/handle.h"

#include <limits.h>
#include <stdlib.h>

#include "os/memory/shelf.h"

enum {
    PLACES_MIN = 64
};

/* A hash table of numbers. When it is half full, one of twice the size takes its place. The old
 * table stays: readers may be searching it, or may not have seen the new one. */
struct number_table {
    struct number_table *older;
    uint32_t places;       /* a power of two */
    _Atomic int numbers[]; /* [places]: 1 + index into handles; 0: empty */
};

static struct os_lock lock = OS_LOCK_INIT; /* for those who add */
/* By number - HANDLE_CONSTANT_MAX. */
static struct os_shelf handles = {.size = sizeof(void *_Atomic)};
static struct number_table *_Atomic newest;
static int count;

/* The handle of an index, or NULL. */
static void *handle_at(uint32_t i)
{
    void *_Atomic *handle = os_shelf_at(&handles, i);
    return handle ? atomic_load_explicit(handle, memory_order_acquire) : NULL;
}

/* Return 1 + the index of a handle. 0: it has none, and *place is its place. */
static int look_up(struct number_table *table, const void *handle, _Atomic int **place)
{
    uint32_t i = (uint32_t)(((uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u) >> 32);
    for (;; i++) {
        *place = &table->numbers[i & (table->places - 1)];
        int number = atomic_load_explicit(*place, memory_order_acquire);
        if (!number || handle_at((uint32_t)number - 1) == handle)
            return number;
    }
}

/* Look in the newest table. 0 also for a handle that gets its number at this moment. */
static int find(const void *handle)
{
    _Atomic int *place;
    struct number_table *table = atomic_load_explicit(&newest, memory_order_acquire);
    return table ? look_up(table, handle, &place) : 0;
}

/* Locked. Enter a handle that is not in the table. */
static void enter(struct number_table *table, const void *handle, int number)
{
    _Atomic int *place;
    (void)look_up(table, handle, &place);
    atomic_store_explicit(place, number, memory_order_release);
}

/* Locked. Make room for one more. Returns whether there is. */
static bool grow(void)
{
    struct number_table *old = newest;
    uint32_t places = old ? old->places : 0;
    if (2 * (uint32_t)count < places)
        return true;
    places = places ? 2 * places : PLACES_MIN;
    if (places > INT_MAX / 2)
        return false;
    struct number_table *table = calloc(1, sizeof(*table) + places * sizeof(table->numbers[0]));
    if (!table)
        return false;
    table->older = old;
    table->places = places;
    for (int i = 0; i < count; i++)
        enter(table, handle_at((uint32_t)i), i + 1);
    atomic_store_explicit(&newest, table, memory_order_release);
    return true;
}

/* Return 1 + the index of a handle, which gets one if it has none. 0: no memory. */
static int add(const void *handle)
{
    os_lock_slow(&lock);
    int number = find(handle);
    if (!number && grow() && !os_shelf_reach(&handles, (uint32_t)count)) {
        atomic_store_explicit((void *_Atomic *)os_shelf_at(&handles, (uint32_t)count),
                              (void *)(uintptr_t)handle, memory_order_release);
        number = ++count;
        enter(newest, handle, number);
    }
    os_unlock_slow(&lock);
    return number;
}

int handle_number(const void *handle)
{
    if (handle_is_constant(handle))
        return (int)(uintptr_t)handle;
    int number = find(handle);
    if (!number)
        number = add(handle);
    return number ? HANDLE_CONSTANT_MAX + number - 1 : 0;
}

void *handle_of_number(int number)
{
    if (number >= 0 && number < HANDLE_CONSTANT_MAX)
        return (void *)(uintptr_t)number;
    return number > 0 ? handle_at((uint32_t)number - HANDLE_CONSTANT_MAX) : NULL;
}
