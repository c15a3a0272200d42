/* SPDX-License-Identifier: BSD-3-Clause */

/* Slabs of objects; see pool.h. */
#include "os/memory/pool.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "os/memory/stretch.h"

enum {
    LINE = 64,
    HUGE_PAGE = 2 << 20 /* slabs grow up to this size; larger pools take whole slabs of it */
};

/* At the start of a slab's memory; the objects begin one cache line later. */
struct slab {
    struct slab *next;
    size_t size;
};

void os_pool_init(struct os_pool *pool, size_t size, size_t count)
{
    *pool = (struct os_pool){.size = (size + LINE - 1) / LINE * LINE};
    pool->slab_size = LINE + pool->size * count;
}

void os_pool_init_known(struct os_pool *pool, size_t size, size_t count)
{
    os_pool_init(pool, size, count);
    pool->known = true;
}

void os_pool_fini(struct os_pool *pool)
{
    for (struct slab *slab = pool->slabs, *next; slab; slab = next) {
        next = slab->next;
        OS_POOL_SHOW((char *)slab + LINE, slab->size - LINE);
        if (pool->known)
            os_stretch_put(slab, slab->size);
        else
            free(slab);
    }
    pool->slabs = NULL;
    pool->free = pool->fresh = pool->end = NULL;
}

static void *get_memory(const struct os_pool *pool, size_t align, size_t size)
{
    void *memory;
    if (pool->known)
        return os_stretch_get(align, size);
    return posix_memalign(&memory, align, size) ? NULL : memory;
}

static bool add_slab(struct os_pool *pool)
{
    size_t size = pool->slab_size;
    bool huge = size >= HUGE_PAGE;
    void *memory = get_memory(pool, huge ? HUGE_PAGE : LINE, size);
    if (!memory)
        return false;
    if (huge)
        (void)madvise(memory, size, MADV_HUGEPAGE); /* or else small ones */
    struct slab *slab = memory;
    slab->next = pool->slabs;
    slab->size = size;
    pool->slabs = slab;
    pool->fresh = (char *)slab + LINE;
    pool->end = (char *)slab + size;
    if (!huge) {
        size += size / 2; /* so that at most a third of the memory lies idle */
        pool->slab_size = size < HUGE_PAGE ? size / LINE * LINE : HUGE_PAGE;
    }
    return true;
}

void *os_pool_grow(struct os_pool *pool)
{
    if (pool->end - pool->fresh < (ptrdiff_t)pool->size && !add_slab(pool))
        return NULL;
    void *object = pool->fresh;
    pool->fresh += pool->size;
    return memset(object, 0, pool->size);
}
