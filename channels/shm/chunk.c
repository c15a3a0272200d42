/* SPDX-License-Identifier: BSD-3-Clause */

/* The sender's chunks; see chunk.h. */
#include "channels/shm/chunk.h"

#include <assert.h>
#include <string.h>

/* The sizes: measured. warm chunks of one size stay in the cache while one
 * peer keeps up; most is what one slow peer may hold. */
static const struct {
    uint32_t size;
    uint16_t warm, most;
} classes[SHM_CHUNK_CLASSES] = {
    {1024, 16, SHM_RING_SLOTS},
    {8192, 8, 16},
    {SHM_CHUNK_MAX, 8, 16},
};

/* A receiver may hold this many at least if there are enough, and there is no pool for fewer than two such. */
enum {
    SHARE_LEAST = 4
};

/* The classes that a pool has, the first ones, and the chunks of each. */
struct chunk_counts {
    int classes;
    uint32_t count, size; /* size: bytes of all */
};

/* The most classes of which each receiver can have a chunk; none if not even the smallest suffices. */
static struct chunk_counts plan_for(uint64_t room, uint32_t peers)
{
    uint32_t least = peers > 2 * SHARE_LEAST ? peers : 2 * SHARE_LEAST;
    uint32_t most = least > SHM_CHUNK_COUNT ? least : SHM_CHUNK_COUNT;
    for (int n = SHM_CHUNK_CLASSES; n > 0 && peers <= SHM_CHUNK_PEERS_MAX; n--) {
        uint32_t all = 0;
        for (int c = 0; c < n; c++)
            all += classes[c].size;
        uint64_t count = room / all < most ? room / all : most;
        if (count >= least)
            return (struct chunk_counts){n, (uint32_t)count, (uint32_t)count * all};
    }
    return (struct chunk_counts){0, 0, 0};
}

uint32_t shm_chunk_plan(uint64_t room, int peers)
{
    return plan_for(room, (uint32_t)peers).size;
}

void shm_chunk_init(struct shm_chunk_pool *pool, unsigned char *base, uint64_t room, int peers)
{
    struct chunk_counts plan = plan_for(room, (uint32_t)peers);
    uint32_t count = plan.count;
    memset(pool, 0, offsetof(struct shm_chunk_pool, free));
    pool->base = base;
    for (int c = 0; c < plan.classes; c++) {
        struct shm_chunk_class *class = &pool->classes[c];
        uint32_t share = count / (uint32_t)(peers > 0 ? peers : 1);
        if (share > classes[c].most)
            share = classes[c].most;
        if (share < SHARE_LEAST)
            share = SHARE_LEAST;
        class->size = classes[c].size;
        class->offset = pool->size;
        class->count = (uint16_t)count;
        class->warm = classes[c].warm < count ? classes[c].warm : (uint16_t)count;
        class->share = (uint16_t)share;
        class->sure = share * (uint32_t)peers <= count ? (uint16_t)share : 1;
        class->without = (uint32_t)(peers > 0 ? peers : 1);
        pool->size += class->size * count;
        pool->longest = class->size;
    }
}

/* Whether a receiver that holds so many may have more than those it has for sure. */
static int may_have_more(const struct shm_chunk_class *class, uint16_t held)
{
    uint32_t left = class->count - (uint32_t)(class->touched - class->free_count);
    return held < class->share && left > class->without;
}

void *shm_chunk_get(struct shm_chunk_pool *pool, const struct shm_flights *flights, size_t len,
                    int more, struct shm_flight *flight)
{
    uint16_t c = 0;
    assert(len <= pool->longest);
    while (len > classes[c].size)
        c++;
    struct shm_chunk_class *class = &pool->classes[c];
    if (flights->held[c] >= class->sure && !may_have_more(class, flights->held[c]))
        return NULL;
    if (class->free_count)
        flight->chunk = pool->free[c][--class->free_count];
    else if (class->touched < (more ? class->count : class->warm))
        flight->chunk = class->touched++;
    else
        return NULL;
    flight->class = c;
    flight->offset = class->offset + class->size * flight->chunk;
    return pool->base + flight->offset;
}

int shm_chunk_collect(struct shm_chunk_pool *pool, struct shm_flights *flights, uint32_t received)
{
    uint32_t tail = flights->tail;
    for (; flights->tail != flights->head; flights->tail++) {
        const struct shm_flight *flight = &flights->flight[flights->tail % SHM_RING_SLOTS];
        if ((int32_t)(received - flight->position) <= 0)
            break;
        struct shm_chunk_class *class = &pool->classes[flight->class];
        pool->free[flight->class][class->free_count++] = flight->chunk;
        class->without += !--flights->held[flight->class];
    }
    return (int)(flights->tail - tail);
}
