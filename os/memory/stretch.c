/* SPDX-License-Identifier: BSD-3-Clause */

/* The stretch of objects with handles; see stretch.h. */
#include "os/memory/stretch.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "os/lock.h"

enum { STEP = 64 << 10 };                /* it grows in such steps */
static const size_t reserved = 1u << 30; /* bytes of address space */

/* Returned memory, to be used again. */
struct piece {
    struct piece *next;
    size_t size;
};

struct os_stretch os_stretch;

static struct os_lock lock = OS_LOCK_INIT; /* guards the rest, and changes of os_stretch */
static struct piece *pieces;
static size_t given; /* bytes of the stretch */
static bool tried;

/* The leak checker looks for pointers in memory that it knows. */
extern void __lsan_register_root_region(const void *begin, size_t size) __attribute__((weak));

/* Where address space is limited, the program needs it. */
static void reserve(void)
{
    struct rlimit limit;
    tried = true;
    if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
        return;
    void *base = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return;
    os_stretch.base = (uintptr_t)base;
    if (__lsan_register_root_region)
        __lsan_register_root_region(base, reserved);
}

static void *again(size_t align, size_t size)
{
    for (struct piece **at = &pieces; *at; at = &(*at)->next) {
        struct piece *piece = *at;
        if (piece->size != size || (uintptr_t)piece % align)
            continue;
        *at = piece->next;
        return piece;
    }
    return NULL;
}

static void *from_stretch(size_t align, size_t size)
{
    size_t at = (given + align - 1) / align * align;
    if (!tried)
        reserve();
    if (!os_stretch.base || size > reserved || at > reserved - size)
        return NULL;
    size_t end = (at + size + STEP - 1) / STEP * STEP;
    if (end > os_stretch.used) {
        void *fresh = (void *)(os_stretch.base + os_stretch.used);
        if (mprotect(fresh, end - os_stretch.used, PROT_READ | PROT_WRITE))
            return NULL;
        __atomic_store_n(&os_stretch.used, end, __ATOMIC_RELAXED);
    }
    given = at + size;
    return (void *)(os_stretch.base + at);
}

static void *from_elsewhere(size_t align, size_t size)
{
    void *memory;
    if (posix_memalign(&memory, align, size))
        return NULL;
    uintptr_t at = (uintptr_t)memory;
    if (!os_stretch.high || at < os_stretch.low)
        __atomic_store_n(&os_stretch.low, at, __ATOMIC_RELAXED);
    if (at + size > os_stretch.high)
        __atomic_store_n(&os_stretch.high, at + size, __ATOMIC_RELAXED);
    return memory;
}

void *os_stretch_get(size_t align, size_t size)
{
    os_lock_slow(&lock);
    void *memory = again(align, size);
    if (!memory)
        memory = from_stretch(align, size);
    if (!memory)
        memory = from_elsewhere(align, size);
    os_unlock_slow(&lock);
    return memory;
}

void os_stretch_put(void *memory, size_t size)
{
    struct piece *piece = memory;
    os_lock_slow(&lock);
    *piece = (struct piece){pieces, size};
    pieces = piece;
    os_unlock_slow(&lock);
}

bool os_stretch_may_have(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    return at >= __atomic_load_n(&os_stretch.low, __ATOMIC_RELAXED) &&
           at < __atomic_load_n(&os_stretch.high, __ATOMIC_RELAXED);
}
