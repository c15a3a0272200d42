/* SPDX-License-Identifier: BSD-3-Clause */

/* The sender's chunks; see chunk.h. */
#include "channels/shm/chunk.h"

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

/* A receiver may hold this many at least, or there is no pool. */
enum {
    SHARE_LEAST = 4
};

/* Chunks of each class in room bytes. */
static uint32_t plan_count(uint64_t room)
{
    uint64_t all = 0;
    for (int c = 0; c < SHM_CHUNK_CLASSES; c++)
        all += classes[c].size;
    uint64_t count = room / all;
    return count < SHM_CHUNK_COUNT_MAX ? (uint32_t)count : SHM_CHUNK_COUNT_MAX;
}

uint32_t shm_chunk_plan(uint64_t room)
{
    uint32_t count = plan_count(room), size = 0;
    if (count < 2 * SHARE_LEAST)
        return 0;
    for (int c = 0; c < SHM_CHUNK_CLASSES; c++)
        size += classes[c].size * count;
    return size;
}

void shm_chunk_init(struct shm_chunk_pool *pool, unsigned char *base, uint64_t room, int peers)
{
    uint32_t count = plan_count(room);
    pool->base = base;
    pool->size = 0;
    for (int c = 0; c < SHM_CHUNK_CLASSES; c++) {
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
        class->touched = 0;
        class->free_count = 0;
        pool->size += class->size * count;
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
    while (len > classes[c].size)
        c++;
    struct shm_chunk_class *class = &pool->classes[c];
    if (flights->held[c] >= class->sure && !may_have_more(class, flights->held[c]))
        return NULL;
    if (class->free_count)
        flight->chunk = class->free[--class->free_count];
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
        class->free[class->free_count++] = flight->chunk;
        class->without += !--flights->held[flight->class];
    }
    return (int)(flights->tail - tail);
}
