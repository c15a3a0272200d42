/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The sender's chunks: a payload too long for a slot is copied into a chunk of the sender's own
 * region, and the receiver hands it on from there. A chunk is free again when its receiver's credit
 * has passed the packet that named it, so the receiver stores nothing but its credit, and a
 * receiver that never answers holds at most share chunks of each size. If there are too few chunks
 * for all shares, a receiver has one for sure, and more only while there is one for each that has
 * none: so those that do not answer leave the others what they need to go on. With many receivers
 * in little memory a pool lacks the longer sizes, so that there is a chunk of each size for each.
 *
 * Chunks are reused last in, first out, and a new one is touched only when credit has been looked
 * for: the used part stays small and in the cache.
 *
 * A chunk that comes back lies in its receiver's cache, and each of its lines
 * costs the sender a round trip between the processors before it may be written.
 * So a process with nothing to do takes the lines of the next chunk back ahead
 * of time: as many as the last one had, for the next message is often as long.
 */
#ifndef SHM_CHUNK_H
#define SHM_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "channels/shm/ring.h"

enum {
    SHM_CHUNK_CLASSES = 3,
    SHM_CHUNK_MAX = 16384,    /* bytes of the largest class: the largest packet */
    SHM_CHUNK_COUNT = 512,    /* chunks of one class, unless there are more receivers */
    SHM_CHUNK_PEERS_MAX = 16384 /* receivers */
};

/* One size of chunks. */
struct shm_chunk_class {
    uint32_t size;   /* bytes, a multiple of 64 */
    uint32_t offset; /* of chunk 0 in the pool */
    uint16_t count;  /* chunks that there are */
    uint16_t warm;   /* chunks to touch before looking for credit */
    uint16_t share;  /* chunks that one receiver may hold */
    uint16_t sure;   /* those of them that it has for sure */
    uint32_t without; /* receivers that hold none */
    uint16_t touched;
    uint16_t free_count;
};

/* A process's chunks; private. */
struct shm_chunk_pool {
    unsigned char *base;
    uint32_t size;    /* bytes that the classes cover */
    uint32_t longest; /* bytes of the largest chunk that there is */
    struct shm_chunk_class classes[SHM_CHUNK_CLASSES];
    uint16_t free[SHM_CHUNK_CLASSES][SHM_CHUNK_PEERS_MAX];
};

/* A chunk on its way. */
struct shm_flight {
    uint32_t position; /* of the packet that names it */
    uint32_t offset;   /* in the pool */
    uint16_t chunk;
    uint16_t class;
};

/* The chunks on their way to one receiver, oldest first; private. */
struct shm_flights {
    uint32_t head, tail; /* counts; the fields in use are those between */
    uint16_t held[SHM_CHUNK_CLASSES];
    struct shm_flight flight[SHM_RING_SLOTS];
};

/* Bytes of shared memory that a pool for peers receivers may take of room bytes; 0: too few.
 * Pure: each process computes it alike for its peers. */
uint32_t shm_chunk_plan(uint64_t room, int peers);

/* Make the pool that shm_chunk_plan() allows at base, for peers receivers; room: what it was given, or has answered. */
void shm_chunk_init(struct shm_chunk_pool *pool, unsigned char *base, uint64_t room, int peers);

/* A chunk for len bytes, up to those of the longest, described in flight; NULL: none now.
 * more: touch a new one where needed, since credit has been looked for. */
void *shm_chunk_get(struct shm_chunk_pool *pool, const struct shm_flights *flights, size_t len,
                    int more, struct shm_flight *flight);

/* Whether there is a chunk of this class before credit is looked for. */
static inline int shm_chunk_ready(const struct shm_chunk_pool *pool, uint16_t c)
{
    const struct shm_chunk_class *class = &pool->classes[c];
    return class->free_count || class->touched < class->warm;
}

/* Where the chunk lies that shm_chunk_get() would give next, of this class; NULL: not known. */
static inline void *shm_chunk_next(const struct shm_chunk_pool *pool, uint16_t c)
{
    const struct shm_chunk_class *class = &pool->classes[c];
    uint32_t chunk = class->free_count ? pool->free[c][class->free_count - 1] : class->touched;
    return chunk < class->count ? pool->base + class->offset + class->size * chunk : NULL;
}

/* Note that the chunk leaves with the packet at position. */
static inline void shm_chunk_sent(struct shm_chunk_pool *pool, struct shm_flights *flights,
                                  const struct shm_flight *flight, uint32_t position)
{
    struct shm_flight *last = &flights->flight[flights->head++ % SHM_RING_SLOTS];
    *last = *flight;
    last->position = position;
    pool->classes[flight->class].without -= !flights->held[flight->class]++;
}

/* Take back the chunks of all packets before received. Returns how many. */
int shm_chunk_collect(struct shm_chunk_pool *pool, struct shm_flights *flights, uint32_t received);

#endif
