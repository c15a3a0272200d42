/* SPDX-License-Identifier: BSD-3-Clause */

/* Slabs of objects; see pool.h. */
#include "os/pool.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };

void os_pool_init(struct os_pool *pool, size_t size, size_t per_slab)
{
    *pool = (struct os_pool){.size = (size + LINE - 1) / LINE * LINE, .per_slab = per_slab};
}

void os_pool_fini(struct os_pool *pool)
{
    while (pool->slabs) {
        void *slab = pool->slabs;
        pool->slabs = *(void **)slab;
        free(slab);
    }
    pool->free = NULL;
}

void *os_pool_grow(struct os_pool *pool)
{
    size_t bytes = LINE + pool->size * pool->per_slab;
    char *slab = aligned_alloc(LINE, bytes);
    if (!slab)
        return NULL;
    memset(slab, 0, bytes);
    *(void **)slab = pool->slabs;
    pool->slabs = slab;
    for (size_t i = pool->per_slab; i-- > 1;)
        os_pool_put(pool, slab + LINE + i * pool->size);
    return slab + LINE;
}

void os_pool_each(const struct os_pool *pool, bool (*visit)(void *arg, void *object), void *arg)
{
    for (char *slab = pool->slabs; slab; slab = *(char **)(void *)slab)
        for (size_t i = 0; i < pool->per_slab; i++)
            if (visit(arg, slab + LINE + i * pool->size))
                return;
}
