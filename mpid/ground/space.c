/* SPDX-License-Identifier: BSD-3-Clause */

/* Space that modules reserve in objects of other layers; see include/mpid.h. */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "include/mpid.h"
#include "os/lock.h"

enum { ALIGN_MAX = 64 };

static struct space {
    size_t size; /* bytes of an object, from its start */
    _Atomic bool sealed; /* then size stays */
} spaces[MPID_SPACES];
static struct os_lock lock = OS_LOCK_INIT; /* guards them */

void mpid_space_open(enum mpid_space kind, size_t size)
{
    os_lock_slow(&lock);
    spaces[kind].size = size;
    atomic_store(&spaces[kind].sealed, false);
    os_unlock_slow(&lock);
}

int mpid_space_reserve(enum mpid_space kind, size_t size, size_t align)
{
    struct space *space = &spaces[kind];
    int at = -ENOSPC;
    if (!align || align & (align - 1) || align > ALIGN_MAX)
        return -EINVAL;
    os_lock_slow(&lock);
    if (!space->sealed && space->size) {
        at = (int)((space->size + align - 1) / align * align);
        space->size = (size_t)at + size;
    }
    os_unlock_slow(&lock);
    return at;
}

size_t mpid_space_seal(enum mpid_space kind)
{
    if (!atomic_load_explicit(&spaces[kind].sealed, memory_order_acquire)) {
        os_lock_slow(&lock);
        atomic_store_explicit(&spaces[kind].sealed, true, memory_order_release);
        os_unlock_slow(&lock);
    }
    return spaces[kind].size;
}
