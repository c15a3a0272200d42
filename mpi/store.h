/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Memory for the objects of one kind. Memory of a freed object keeps its kind, so that a handle to
 * it can be examined: handle_leads_to() reports that the object is gone. Any thread may call these
 * at any time.
 */
#ifndef MPI_STORE_H
#define MPI_STORE_H

#include <string.h>

#include "mpi/handle.h"
#include "os/lock.h"
#include "os/memory/pool.h"

struct store {
    struct os_lock lock; /* guards the pool */
    struct os_pool pool;
};

/* Return a zeroed object of size bytes (the same size each time) that starts with a struct object
 * and has one reference; or NULL. */
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

/* Free an object; its handles lead nowhere from now on. */
static inline void store_free(struct store *store, void *object)
{
    os_lock_slow(&store->lock);
    os_pool_put(&store->pool, object); /* its first word is an address now, not a kind */
    os_unlock_slow(&store->lock);
}

#endif
