/* SPDX-License-Identifier: BSD-3-Clause */

/* Handles of the tool interface; see tool_handle.h. */
#include "mpi/tool/tool_handle.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "os/lock.h"

/*
 * A handle consists of three numbers, from the high bits down: its serial number, its slot, and 8,
 * which tells it from the ABI's constants.
 */
enum {
    HALF = 4 * sizeof(uintptr_t),
    SLOT_SHIFT = 4,
    MARK = 8
};

struct handle_slot {
    void *object;   /* NULL: free */
    uintptr_t name; /* the handle */
    enum tool_handle_kind kind;
    uint32_t next_free; /* 1 + its number; 0: none */
};

static struct os_lock lock = OS_LOCK_INIT; /* guards the rest */
static struct handle_slot *slots;
static uint32_t room, used, first_free; /* first_free: as next_free */
static uint32_t serial;

/* Locked. Return 1 + the number of a free slot, or 0: no memory. */
static uint32_t find_free(void)
{
    if (first_free) {
        uint32_t found = first_free;
        first_free = slots[found - 1].next_free;
        return found;
    }
    if (used == room) {
        size_t more = room ? 2 * (size_t)room : 64;
        bool fits = more < (size_t)1 << (HALF - SLOT_SHIFT);
        struct handle_slot *grown = fits ? realloc(slots, more * sizeof(*slots)) : NULL;
        if (!grown)
            return 0;
        slots = grown;
        room = (uint32_t)more;
    }
    return ++used;
}

void *tool_handle_make(enum tool_handle_kind kind, void *object)
{
    uintptr_t name = 0;
    os_lock_slow(&lock);
    uint32_t found = find_free();
    if (found) {
        name = (uintptr_t)++serial << HALF | (uintptr_t)found << SLOT_SHIFT | MARK;
        slots[found - 1] = (struct handle_slot){.object = object, .name = name, .kind = kind};
    }
    os_unlock_slow(&lock);
    return (void *)name;
}

/* Locked. */
static struct handle_slot *slot_of(const void *handle)
{
    uintptr_t name = (uintptr_t)handle;
    uintptr_t number = (name & (((uintptr_t)1 << HALF) - 1)) >> SLOT_SHIFT;
    if (number == 0 || number > used)
        return NULL;
    struct handle_slot *slot = &slots[number - 1];
    return slot->object && slot->name == name ? slot : NULL;
}

void *tool_handle_find(const void *handle, enum tool_handle_kind kind)
{
    os_lock_slow(&lock);
    const struct handle_slot *slot = slot_of(handle);
    void *object = slot && slot->kind == kind ? slot->object : NULL;
    os_unlock_slow(&lock);
    return object;
}

void tool_handle_drop(const void *handle)
{
    os_lock_slow(&lock);
    struct handle_slot *slot = slot_of(handle);
    if (slot) {
        slot->object = NULL;
        slot->next_free = first_free;
        first_free = (uint32_t)(slot - slots) + 1;
    }
    os_unlock_slow(&lock);
}
