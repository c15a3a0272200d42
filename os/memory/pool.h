/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Objects of one size, carved from slabs and reused last in, first out. Slabs grow with the pool,
 * so that few objects cost little memory and many lie on few pages. A free object keeps its
 * contents except for its first word. Nothing is locked: the owner's lock guards the pool. The
 * address sanitizer reports any access to the rest of a free object.
 */
#ifndef OS_POOL_H
#define OS_POOL_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define OS_POOL_HIDE(object, size) \
    ASAN_POISON_MEMORY_REGION((char *)(object) + sizeof(void *), (size) - sizeof(void *))
#define OS_POOL_SHOW(object, size) ASAN_UNPOISON_MEMORY_REGION(object, size)
#else
#define OS_POOL_HIDE(object, size) ((void)0)
#define OS_POOL_SHOW(object, size) ((void)0)
#endif

struct slab;

struct os_pool {
    void *free;         /* first word of each free object points to the next */
    struct slab *slabs; /* the newest first */
    char *fresh, *end;  /* of the newest slab: memory that has not been an object yet */
    size_t size;        /* bytes per object, a multiple of the cache line */
    size_t slab_size;   /* bytes of the next slab */
    bool known;         /* its slabs are of the stretch */
};

/* Make a pool of objects of size bytes (rounded up to 64), aligned to 64. count: how many the first
 * slab holds. */
void os_pool_init(struct os_pool *pool, size_t size, size_t count);
/* The same for objects with handles, which os_stretch_has(). */
void os_pool_init_known(struct os_pool *pool, size_t size, size_t count);
/* Give every slab back; no object may be in use. Accepts a zeroed pool. */
void os_pool_fini(struct os_pool *pool);

/* Return an object that has not been used yet, zeroed, or NULL when memory is out. */
void *os_pool_grow(struct os_pool *pool);

/* Return an object with its contents as they were when it was freed (zero at first), or NULL. */
static inline void *os_pool_get(struct os_pool *pool)
{
    void *object = pool->free;
    if (__builtin_expect(!object, 0))
        return os_pool_grow(pool);
    pool->free = *(void **)object;
    OS_POOL_SHOW(object, pool->size);
    return object;
}

static inline void os_pool_put(struct os_pool *pool, void *object)
{
    *(void **)object = pool->free;
    pool->free = object;
    OS_POOL_HIDE(object, pool->size);
}

#endif
