/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Numbers for handles. Each address that was asked for keeps its number as long as the
 * process lives: objects come and go at few addresses, so the table stays small, and a
 * number whose object was freed leads to the same bad handle as the pointer does.
 */
#include "mpi/handle.h"

#include <limits.h>
#include <stdlib.h>

enum { SLOTS_MIN = 64 };

static struct os_lock lock = OS_LOCK_INIT; /* guards the rest */
static void **handles; /* by number - HANDLE_CONSTANT_MAX */
static int *slots;     /* a hash table of indices into handles, -1: empty; twice their room */
static uint32_t slot_count;
static int count;

/* The slot of a handle, or the empty one where it belongs. */
static int *slot_of(const void *handle)
{
    uint32_t i = (uint32_t)(((uint64_t)(uintptr_t)handle * 0x9e3779b97f4a7c15u) >> 32);
    for (i &= slot_count - 1; slots[i] >= 0 && handles[slots[i]] != handle;)
        i = (i + 1) & (slot_count - 1);
    return &slots[i];
}

/* Make room for one more. Returns whether there is. */
static bool grow(void)
{
    uint32_t more = slot_count ? 2 * slot_count : SLOTS_MIN;
    if (more > INT_MAX / 2)
        return false;
    int *new_slots = malloc(more * sizeof(*new_slots));
    void **new_handles = realloc(handles, more / 2 * sizeof(*new_handles));
    if (new_handles)
        handles = new_handles;
    if (!new_slots || !new_handles) {
        free(new_slots);
        return false;
    }
    free(slots);
    slots = new_slots;
    slot_count = more;
    for (uint32_t i = 0; i < more; i++)
        slots[i] = -1;
    for (int i = 0; i < count; i++)
        *slot_of(handles[i]) = i;
    return true;
}

int handle_number(const void *handle)
{
    int number = 0;
    if (handle_is_constant(handle))
        return (int)(uintptr_t)handle;
    os_lock_slow(&lock);
    if (2u * (uint32_t)count < slot_count || grow()) {
        int *slot = slot_of(handle);
        if (*slot < 0) {
            handles[count] = (void *)(uintptr_t)handle;
            *slot = count++;
        }
        number = HANDLE_CONSTANT_MAX + *slot;
    }
    os_unlock_slow(&lock);
    return number;
}

void *handle_of_number(int number)
{
    void *handle = NULL;
    if (number >= 0 && number < HANDLE_CONSTANT_MAX)
        return (void *)(uintptr_t)number;
    os_lock_slow(&lock);
    if (number >= HANDLE_CONSTANT_MAX && number - HANDLE_CONSTANT_MAX < count)
        handle = handles[number - HANDLE_CONSTANT_MAX];
    os_unlock_slow(&lock);
    return handle;
}
