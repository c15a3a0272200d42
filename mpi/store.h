/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory for the objects of one kind. It stays what it is when an object is freed, so that a handle
 * which leads to one no more may be looked at: handle_leads_to() says that it does not. At any time,
 * any thread.
 */
#ifndef MPI_STORE_H
#define MPI_STORE_H

#include <string.h>

#include "mpi/handle.h"
#include "os/lock.h"
#include "os/pool.h"

struct store {
    struct os_lock lock; /* guards the pool */
    struct os_pool pool;
};

/* A zeroed object of size bytes, the same each time, which starts with a struct object and has one
 * reference; or NULL. */
static inline void *store_make(struct store *store, size_t size, enum object_kind kind)
{
    os_lock_slow(&store->lock);
    if (!store->pool.size)
        os_pool_init_known(&store->pool, size, 8);
    void *made = os_pool_get(&store->pool);
    os_unlock_slow(&store->lock);
    if (!made)
        return NULL;
    memset(made, 0, size);
    object_init((struct object *)made, kind);
    return made;
}

/* Free an object; its handles lead nowhere. */
static inline void store_free(struct store *store, void *object)
{
    os_lock_slow(&store->lock);
    os_pool_put(&store->pool, object); /* its first word is an address now, and no kind */
    os_unlock_slow(&store->lock);
}

#endif
