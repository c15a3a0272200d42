/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A ring of packets in memory that its writer and its reader share.
 *
 * A record begins with a word: 0 says that nothing has come yet, PAIR_SKIP that the next record is at the ring's
 * beginning, and others are the payload's length plus one. Head and payload follow. Records begin at multiples of 64
 * bytes, and are in one piece. The writer makes the word behind a record 0 before it publishes the record, so the
 * reader looks at one cache line. The reader tells from time to time how far it has read.
 *
 * All that the peer writes is hostile: a length is read once and checked, positions are the reader's own.
 */
#ifndef PAIR_RING_H
#define PAIR_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/channel.h"

enum {
    PAIR_RING = 256 << 10, /* bytes */
    PAIR_DATA_MAX = 64 << 10,
    PAIR_STEP = 64,
    PAIR_TELL = PAIR_RING / 8 /* so much is read before the writer is told */
};
#define PAIR_SKIP UINT64_MAX

/* What the two tell each other outside of records, and the records. */
struct pair_ring {
    _Alignas(128) _Atomic uint64_t read;    /* bytes, by the reader */
    _Alignas(128) _Atomic uint32_t asleep;  /* set by the reader before it sleeps, cleared by the writer that wakes it */
    _Atomic uint32_t starved;               /* set by the writer before it sleeps for room, cleared likewise */
    _Alignas(128) unsigned char bytes[PAIR_RING];
};

enum { PAIR_SEGMENT = 2 * sizeof(struct pair_ring) }; /* the caller's ring first */

struct pair_ring_out {
    struct pair_ring *ring;
    uint64_t written, read; /* bytes; read: as last looked at */
};

struct pair_ring_in {
    struct pair_ring *ring;
    uint64_t read, told; /* bytes */
};

/* Write a packet. Returns whether there was room. */
bool pair_ring_put(struct pair_ring_out *out, const struct chan_head *head, const struct chan_data *data);
/* Whether there may be room for any packet. */
bool pair_ring_has_room(struct pair_ring_out *out);

/* Whether something has come. */
static inline bool pair_ring_has(const struct pair_ring_in *in)
{
    const _Atomic uint64_t *word = (const void *)(in->ring->bytes + in->read % PAIR_RING);
    return atomic_load_explicit(word, memory_order_acquire) != 0;
}

/* The next packet, which lies in the ring until pair_ring_pop(). Returns its size there; 0: none; or -EPROTO. */
int64_t pair_ring_peek(struct pair_ring_in *in, struct chan_head *head, const void **data, size_t *len);
void pair_ring_pop(struct pair_ring_in *in, int64_t size);
/* Tell the writer how far this is, if much is untold or the writer wants room; or at once. Returns whether to
 * wake it. */
bool pair_ring_tell(struct pair_ring_in *in, bool at_once);

#endif
